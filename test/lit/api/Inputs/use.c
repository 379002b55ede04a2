/* Loads adam from its library and from a file, in C99. */
#include "adam.h"

#include <stdio.h>
#include <string.h>

static int fail(void) {
  puts(ccn_last_error());
  return 1;
}

int main(int argc, char **argv) {
  ccn_program *own = NULL, *other = NULL;
  ccn_program_info info, again;
  ccn_status status;
  if (argc != 2 || adam_load(CCN_TARGET_DEFAULT, &own) ||
      ccn_program_load(argv[1], CCN_TARGET_DEFAULT, &other) ||
      ccn_program_describe(own, &info) || ccn_program_describe(other, &again))
    return fail();
  if (ccn_program_check(other, adam_signature) ||
      strcmp(info.schedule, again.schedule) != 0)
    return fail();
  printf("the library's %s has %d ranks, schedule %s, and so has the file's\n",
         info.name, info.ranks, info.schedule);
  status = adam_run(NULL, NULL, NULL, NULL, NULL, 0, 0, NULL);
  printf("null: %s: %s\n", ccn_status_name(status), ccn_last_error());
  status = ccn_program_check(own, "adam (dp = 4): in g f16[1003]");
  printf("another program: %s: %s\n", ccn_status_name(status),
         ccn_last_error());
  ccn_program_release(own);
  ccn_program_release(other);
  return 0;
}
