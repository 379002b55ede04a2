/* Two packages of one program in one executable. */
#include "adam.h"
#if defined(SAME)
#include "adam7.h"
#elif !defined(HALF)
#include "small.h"
#endif

#include <stdio.h>

#ifdef HALF
ccn_status load_half(ccn_program **program);
#else
static ccn_status load_half(ccn_program **program) {
  return small_load(CCN_TARGET_DEFAULT, program);
}
#endif

/* The size of the first argument of a program. */
static int size_of(ccn_program *program) {
  ccn_part part;
  if (ccn_program_part(program, 0, 0, &part))
    return -1;
  return (int)part.shape[0];
}

int main(void) {
  ccn_program *whole = NULL, *half = NULL;
  if (adam_load(CCN_TARGET_DEFAULT, &whole) || load_half(&half)) {
    puts(ccn_last_error());
    return 1;
  }
  printf("adam of %d, small of %d\n", size_of(whole), size_of(half));
  ccn_program_release(whole);
  ccn_program_release(half);
  return 0;
}
