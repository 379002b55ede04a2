# Sets CCN_VERSION, for project(), to the version of ccn. Its only place is ccn.h,
# since applications compile against that file alone.
set(ccn_version_file ${CMAKE_CURRENT_LIST_DIR}/../../runtime/api/ccn.h)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ccn_version_file})
set(CCN_VERSION)
foreach(part IN ITEMS MAJOR MINOR PATCH)
  set(pattern "^#define CCN_VERSION_${part} ([0-9]+)$")
  file(STRINGS ${ccn_version_file} line REGEX "${pattern}")
  if(NOT line MATCHES "${pattern}")
    message(FATAL_ERROR "expected one CCN_VERSION_${part} in ${ccn_version_file}, found '${line}'")
  endif()
  list(APPEND CCN_VERSION ${CMAKE_MATCH_1})
endforeach()
list(JOIN CCN_VERSION "." CCN_VERSION)
