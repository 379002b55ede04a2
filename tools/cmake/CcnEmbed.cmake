# Text files as strings in a library. `ccn_embed_sources(TARGET HEADER FUNCTION
# FILES...)` adds to the target a source that defines FUNCTION, which HEADER
# declares: from the name of one of the files, without its folder, to its text,
# or an empty llvm::StringRef of other names. It is made again when a file
# changes; this file is also the script that makes it.

if(CMAKE_SCRIPT_MODE_FILE)
  # FILES, HEADER, FUNCTION, OUTPUT.
  set(text "// Made by CcnEmbed.cmake.\n#include \"${HEADER}\"\n\n")
  string(APPEND text
    "llvm::StringRef ${FUNCTION}(llvm::StringRef fileName) {\n")
  foreach(path IN LISTS FILES)
    get_filename_component(name ${path} NAME)
    file(READ ${path} content)
    string(APPEND text "  if (fileName == \"${name}\")\n"
      "    return R\"ccn(${content})ccn\";\n")
  endforeach()
  file(WRITE ${OUTPUT} "${text}  return {};\n}\n")
  return()
endif()

set(CCN_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

function(ccn_embed_sources target header function)
  set(paths)
  foreach(file IN LISTS ARGN)
    get_filename_component(path ${file} ABSOLUTE)
    list(APPEND paths ${path})
  endforeach()
  string(MAKE_C_IDENTIFIER ${function} name)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} "-DFILES=${paths}" -DHEADER=${header}
      -DFUNCTION=${function} -DOUTPUT=${output} -P ${CCN_EMBED_SCRIPT}
    DEPENDS ${paths} ${CCN_EMBED_SCRIPT}
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
