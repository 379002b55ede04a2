/* The other of the two, where it has the same names. */
#include "adam7.h"

ccn_status load_half(ccn_program **program);
ccn_status load_half(ccn_program **program) {
  return adam_load(CCN_TARGET_DEFAULT, program);
}
