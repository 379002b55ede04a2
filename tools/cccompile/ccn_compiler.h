/*===- ccn_compiler.h - The compiler in the caller's process ------*- C -*-===*\
|*
|* What cccompile does with a file, done with a text: the options are those of
|* its command line, and what it would write comes back in memory. C99, and C++.
|* The library, libccn_compiler, needs LLVM and MLIR. Its interface is for the
|* Python package, and changes with it.
|*
|* Any number of threads may compile at once, and again and again.
|*
\*===----------------------------------------------------------------------===*/

#ifndef CCN_COMPILER_H
#define CCN_COMPILER_H

#include <stddef.h>

#if defined(__GNUC__)
#define CCN_COMPILER_API __attribute__((visibility("default")))
#else
#define CCN_COMPILER_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** What came of a call of ccn_compiler_run. */
typedef struct ccn_compilation ccn_compilation;

/** The version, as in ccn.h. */
CCN_COMPILER_API const char *ccn_compiler_version(void);

/** Does what the command line `cccompile NAME options...` does, with a text in
    place of the file: `size` bytes of UTF-8 (or, if the name ends with .mlir or
    .mlirbc, MLIR). Diagnostics show the name. What says where else to write the
    result or a header is refused. Never null. */
CCN_COMPILER_API ccn_compilation *
ccn_compiler_run(const char *name, const char *text, size_t size,
                 const char *const *options, size_t count);

/** The exit code that cccompile would have: 0 done; 1 the program or schedule
   is wrong; 2 the options are, or do not fit the program; 4 a run failed, or
    --verify found a difference. */
CCN_COMPILER_API int ccn_compilation_status(const ccn_compilation *compilation);

/** What cccompile would write to its standard output, `*size` bytes that may
    have any values. It is there as long as the compilation. */
CCN_COMPILER_API const char *
ccn_compilation_output(const ccn_compilation *compilation, size_t *size);

/** The errors, warnings and remarks: text, with the lines that they are about,
    or JSON if --diagnostics json is among the options. Empty text if there are
    none. */
CCN_COMPILER_API const char *
ccn_compilation_diagnostics(const ccn_compilation *compilation);

CCN_COMPILER_API void ccn_compilation_release(ccn_compilation *compilation);

#ifdef __cplusplus
}
#endif

#endif /* CCN_COMPILER_H */
