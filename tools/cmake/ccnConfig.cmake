# ccn for applications:
#
#   ccn::runtime       the C API, <ccn.h>
#   ccn_add_program()  makes a library of a program (CcnAddProgram.cmake)
#   ccn::cccompile, ccn::ccrun   the tools
include(${CMAKE_CURRENT_LIST_DIR}/ccnTargets.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/CcnAddProgram.cmake)
