/*===- PlainC.c - The C API in C99 ----------------------------------------===*\
|*
|* That ccn.h is C, and that what it declares can be called from it.
|*
\*===----------------------------------------------------------------------===*/

#include <ccn.h>

#include <string.h>

/** How many of some simple expectations fail. */
int plainCFailures(void);

int plainCFailures(void) {
  int failures = 0;
  ccn_program *program = NULL;
  ccn_program_info info;
  if (ccn_program_load("/nowhere/no.ccnpkg", CCN_TARGET_CPU, &program) !=
          CCN_ERROR_PACKAGE ||
      program != NULL || strstr(ccn_last_error(), "/nowhere/no") == NULL)
    ++failures;
  if (ccn_program_describe(program, &info) != CCN_ERROR_ARGUMENT)
    ++failures;
  if (strcmp(ccn_status_name(CCN_ERROR_TEAM), "CCN_ERROR_TEAM") != 0)
    ++failures;
  if (ccn_type_size(CCN_F16) != sizeof(ccn_f16) ||
      ccn_type_size(CCN_BOOL) != sizeof(ccn_bool))
    ++failures;
  /* In C an enumeration may have any number. */
  if (ccn_program_load("a", (ccn_target)7, &program) != CCN_ERROR_ARGUMENT ||
      strcmp(ccn_last_error(), "expected a target, found 7") != 0 ||
      ccn_type_size((ccn_type)99) != 0 ||
      strcmp(ccn_type_name((ccn_type)99), "unknown") != 0 ||
      strcmp(ccn_status_name((ccn_status)99), "unknown") != 0)
    ++failures;
  /* Header and library are of one version here. */
  if (strcmp(ccn_version(), CCN_VERSION_STRING) != 0 || CCN_VERSION < 100 ||
      CCN_VERSION % 100 != CCN_VERSION_PATCH)
    ++failures;
  ccn_program_release(program);
  return failures;
}
