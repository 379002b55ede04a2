# ccn_add_program(TARGET FILE.ccn [PROGRAM name] [PREFIX name]
#                 [SCHEDULE name|file] [TARGET cpu|sm_80|sm_90a]
#                 [DEFINES N=1003 ...] [MESH dp=4 ...] [TOPOLOGY name|file]
#                 [MACHINE name|file] [CPU level])
#
# A library of one program of a file, compiled when that changes: what links
# TARGET includes "TARGET.h", which has the program's functions, and links the
# runtime. The keywords are the options of cccompile; without PROGRAM the file
# has one, and without SCHEDULE it has its schedule `default`, else for GPUs one
# that is searched for. Code is for the CPU of the machine that builds it unless
# CPU says another, such as x86-64-v3.
#
# What the header declares begins with PREFIX, else with the program's name. Two
# that begin alike, as those of one program with other params, cannot be linked
# into one target: CMake then says that the property CCN_PREFIX_name does not
# agree.
function(ccn_add_program target file)
  cmake_parse_arguments(PARSE_ARGV 2 ARG ""
    "PROGRAM;PREFIX;SCHEDULE;TARGET;TOPOLOGY;MACHINE;CPU" "DEFINES;MESH")
  if(ARG_UNPARSED_ARGUMENTS OR ARG_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "ccn_add_program(${target} ...): unexpected "
      "'${ARG_UNPARSED_ARGUMENTS}', without a value "
      "'${ARG_KEYWORDS_MISSING_VALUES}'")
  endif()
  get_filename_component(source ${file} ABSOLUTE)
  set(depends ${source} $<TARGET_FILE:ccn::cccompile>)
  set(options)
  foreach(option IN ITEMS PROGRAM PREFIX SCHEDULE TARGET TOPOLOGY MACHINE CPU)
    if(NOT DEFINED ARG_${option})
      continue()
    endif()
    set(value ${ARG_${option}})
    # A name, or a file.
    get_filename_component(path ${value} ABSOLUTE)
    if(option MATCHES "SCHEDULE|TOPOLOGY|MACHINE" AND EXISTS ${path}
       AND NOT IS_DIRECTORY ${path})
      set(value ${path})
      list(APPEND depends ${path})
    endif()
    string(TOLOWER ${option} name)
    list(APPEND options --${name} ${value})
  endforeach()
  foreach(define IN LISTS ARG_DEFINES)
    list(APPEND options -D ${define})
  endforeach()
  foreach(axis IN LISTS ARG_MESH)
    list(APPEND options --mesh ${axis})
  endforeach()

  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}.ccn)
  set(library ${folder}/lib${target}.a)
  set(header ${folder}/${target}.h)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(
    OUTPUT ${library} ${header}
    COMMAND ccn::cccompile ${source} --emit lib -o ${library}
      --emit-header ${header} ${options}
    DEPENDS ${depends}
    COMMENT "Compiling ${file} into ${target}"
    VERBATIM)
  add_custom_target(${target}-ccn DEPENDS ${library} ${header})
  add_library(${target} INTERFACE)
  add_dependencies(${target} ${target}-ccn)
  target_include_directories(${target} INTERFACE ${folder})
  target_link_libraries(${target} INTERFACE ${library} ccn::runtime)

  # What names begin with; where the file alone says it, by its only program.
  set(prefix ${ARG_PROGRAM})
  if(DEFINED ARG_PREFIX)
    set(prefix ${ARG_PREFIX})
  elseif(NOT DEFINED ARG_PROGRAM AND EXISTS ${source})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
    set(name "[A-Za-z_][A-Za-z0-9_]*")
    file(STRINGS ${source} heads REGEX "^[ \t]*program[ \t]+${name}")
    list(LENGTH heads programs)
    if(programs EQUAL 1)
      string(REGEX REPLACE "^[ \t]*program[ \t]+(${name}).*" "\\1" prefix "${heads}")
    endif()
  endif()
  if(prefix)
    set_property(TARGET ${target} PROPERTY
      INTERFACE_CCN_PREFIX_${prefix} ${target})
    set_property(TARGET ${target} APPEND PROPERTY
      COMPATIBLE_INTERFACE_STRING CCN_PREFIX_${prefix})
  endif()
endfunction()
