/* Programs whose names and arguments C could not have, on one rank at a time. */
#include "names.h"
#include "nothing.h"

#include <stdio.h>

int main(void) {
  ccn_program *named = NULL, *nothing = NULL;
  if (program_ccn_team_load(CCN_TARGET_CPU, &named) ||
      nothing_load(CCN_TARGET_CPU, &nothing) ||
      program_ccn_team_run(NULL, NULL, NULL, NULL, 1, 0, NULL, NULL) !=
          CCN_ERROR_ARGUMENT ||
      nothing_run(NULL, NULL) != CCN_ERROR_ARGUMENT ||
      nothing_bind(NULL) != CCN_ERROR_ARGUMENT || nothing_arguments != 0 ||
      program_ccn_team_argument_executor__ != 2) {
    puts(ccn_last_error());
    return 1;
  }
  ccn_program_release(named);
  ccn_program_release(nothing);
  return 0;
}
