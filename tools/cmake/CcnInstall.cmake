# What applications find: `find_package(ccn)`, where ccn is installed or, with
# ccn_DIR, in this build.
include(CMakePackageConfigHelpers)

set(ccn_package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/ccn)
# What they need that is installed with them, as in a wheel, is found where the
# tree is; else it is where it was when this was built.
set_target_properties(
  cccompile ccn-format ccn-lsp-server ccn-opt ccn_compiler ccrun ccsynth
  PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
install(TARGETS ccn cccompile ccrun EXPORT ccnTargets)
# The compiler as a library: Python loads it from beside libccn.
install(TARGETS ccn-format ccn-lsp-server ccn-opt ccn_compiler ccsynth)
if(TARGET ccn-mpi)
  install(TARGETS ccn-mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(
  FILES
    ${PROJECT_SOURCE_DIR}/runtime/api/ccn.h
    ${PROJECT_SOURCE_DIR}/runtime/api/ccn.hpp
    ${PROJECT_SOURCE_DIR}/runtime/api/ccn_values.hpp
  TYPE INCLUDE)
# Where bash looks for the completion of a command when it is first needed.
foreach(tool IN ITEMS cccompile ccn-format ccrun ccsynth)
  install(FILES ${PROJECT_SOURCE_DIR}/tools/completion.sh
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
    RENAME ${tool})
endforeach()
install(EXPORT ccnTargets NAMESPACE ccn:: DESTINATION ${ccn_package_folder})
export(EXPORT ccnTargets NAMESPACE ccn::
  FILE ${PROJECT_BINARY_DIR}/ccnTargets.cmake)

set(ccn_package_files
  ${PROJECT_SOURCE_DIR}/tools/cmake/ccnConfig.cmake
  ${PROJECT_SOURCE_DIR}/tools/cmake/CcnAddProgram.cmake)
foreach(file IN LISTS ccn_package_files)
  configure_file(${file} ${PROJECT_BINARY_DIR} COPYONLY)
endforeach()
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/ccnConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(
  FILES ${ccn_package_files} ${PROJECT_BINARY_DIR}/ccnConfigVersion.cmake
  DESTINATION ${ccn_package_folder})

# For pkg-config, where ccn is installed, and by PKG_CONFIG_PATH in this build.
set(ccn_pc_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH ccn_pc_up /ccn/${ccn_pc_folder} /ccn)
string(REGEX REPLACE "/$" "" ccn_pc_up ${ccn_pc_up})
set(ccn_pc_prefix "\${pcfiledir}/${ccn_pc_up}")
set(ccn_pc_bindir "\${prefix}/${CMAKE_INSTALL_BINDIR}")
set(ccn_pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
set(ccn_pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
set(ccn_pc_file ${CMAKE_CURRENT_LIST_DIR}/ccn.pc.in)
configure_file(${ccn_pc_file} ${PROJECT_BINARY_DIR}/installed/ccn.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/installed/ccn.pc DESTINATION ${ccn_pc_folder})
set(ccn_pc_prefix "\${pcfiledir}")
set(ccn_pc_bindir "\${prefix}/bin")
set(ccn_pc_libdir "\${prefix}/lib")
set(ccn_pc_includedir ${PROJECT_SOURCE_DIR}/runtime/api)
configure_file(${ccn_pc_file} ${PROJECT_BINARY_DIR}/ccn-uninstalled.pc @ONLY)

install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/CHANGELOG.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
