# How ccn's own targets are built: compiler cache, warnings, sanitizers, and
# one precompiled header for everything that includes MLIR.

find_program(CCN_CCACHE ccache)
if(CCN_CCACHE)
  # ccache takes precompiled headers only when it may ignore their times; clones
  # in other folders find what this one compiled.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
    ${CCN_CCACHE})
endif()

add_compile_options(-Wall -Wextra -Wno-unused-parameter -Werror=return-type
                    -Werror=switch -fno-semantic-interposition)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # Keeps a precompiled header's content independent of when it was made, and
  # instantiates its templates once.
  add_compile_options(-Xclang -fno-pch-timestamp -fpch-instantiate-templates
                      -ffp-contract=off)
  if(EXISTS /usr/bin/ld.lld-22)
    add_link_options(-fuse-ld=lld)
  endif()
endif()
if(CCN_SANITIZE)
  add_compile_options(-fsanitize=${CCN_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all -g1 -O1)
  add_link_options(-fsanitize=${CCN_SANITIZE})
  if(CCN_SANITIZE MATCHES undefined)
    # MLIR's shared library carries no type information for vptr checks.
    add_compile_options(-fno-sanitize=vptr,function)
  endif()
endif()

# ccn_add_mlir_library(NAME SOURCES... [DEPENDS targets] [LINK libraries])
#
# A static library of ours on top of the shared MLIR and LLVM libraries,
# without exceptions, sharing the precompiled header of `ccnPch`.
function(ccn_add_mlir_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  ccn_use_mlir(${name})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
endfunction()

# Gives a target MLIR's headers, definitions and shared libraries; of libraries,
# those that link it too.
function(ccn_use_mlir name)
  get_target_property(type ${name} TYPE)
  set(scope PUBLIC)
  if(type STREQUAL EXECUTABLE)
    set(scope PRIVATE)
  endif()
  target_include_directories(${name} SYSTEM ${scope}
    ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  target_include_directories(${name} ${scope}
    ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  target_compile_definitions(${name} ${scope} ${ccn_llvm_definitions})
  target_compile_options(${name} PRIVATE -fno-exceptions)
  target_link_libraries(${name} ${scope} MLIR LLVM)
  if(TARGET ccnPch)
    target_precompile_headers(${name} REUSE_FROM ccnPch)
  endif()
endfunction()
