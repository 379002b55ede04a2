//===- Package.h - A compiled program in one file ---------------*- C++ -*-===//
//
// The compiler writes packages and the runtime runs them. A package holds the
// plan of each rank, the object code of the plan's loops, its kernels for GPUs
// if the target is "cuda", and descriptions of these.
//
// A file is
//
//   bytes  0 ..  7  "\x93CCNPKG\n"
//          8 .. 11  the format's version
//         12 .. 15  0
//         16 .. 23  the file's size
//         24 .. 31  the size of the JSON
//         32 .. 63  the SHA-256 of everything else
//         64 ..     JSON: description, plans; zeros up to a multiple of 64
//                   the object code, up to the end
//
// Numbers are little-endian. Equal packages give equal bytes. A changed byte is
// always noticed. But a package holds machine code that will run, so use only
// packages whose maker you trust.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_PLAN_PACKAGE_H
#define CCN_RUNTIME_PLAN_PACKAGE_H

#include "runtime/base/Status.h"
#include "runtime/plan/GpuProgram.h"
#include "runtime/plan/Plan.h"

#include <optional>

namespace ccn::runtime {

/// Another way to run a package's program on the same arguments: another
/// schedule, or other algorithms for collectives.
struct PackageVariant {
  /// A name for people, and the schedule's name, empty if there is none.
  std::string name, schedule;
  Plan plan;
  /// Present in a package of target "cuda".
  std::optional<GpuProgram> gpu;
};

struct Package {
  /// The version of the compiler that made the package.
  std::string compiler;
  /// The program's name, and the schedule's, empty if there is none.
  std::string program, schedule;
  /// What executes the package: "cpu" or "cuda". The CPU can execute both.
  std::string target = "cpu";
  Plan plan;
  /// How GPUs execute the plan; present if the target is "cuda".
  std::optional<GpuProgram> gpu;
  /// The name of variant 0, which is `plan`, for people; empty if there are no
  /// variants.
  std::string variant;
  /// Other ways to run the program, numbered from 1; `plan` is variant 0.
  /// Measurements can choose among all of them (see TunedVariant.h). Their
  /// loops are in the same object code.
  std::vector<PackageVariant> variants;
  /// The plan of the program without its schedule, for comparison. Its loops
  /// are in the same object code.
  std::optional<Plan> reference;
  /// The plan of a program that computes error bounds: how far rounding may
  /// move the results of the reference (see Comparison.h). Without it, results
  /// may not differ at all. It has the arguments of `plan`, in order, with
  /// floats in f64.
  std::optional<Plan> bounds;
  /// For each result of `bounds`, the number of the argument of `plan` to which
  /// it belongs. Outputs that are not listed are exact.
  std::vector<int> bounded;
  /// An ELF shared object with the functions that loops name; empty if there
  /// are none.
  std::string objectCode;
  /// The CPU features that the object code needs, as named in /proc/cpuinfo.
  std::vector<std::string> cpuFeatures;
  /// For a package that was read from a file: the hash of its content, 64
  /// hexadecimal digits.
  std::string hash;
};

/// The bytes of a package file. An error if a name is not UTF-8, or if the file
/// would be larger than decodePackage accepts.
Result<std::string> encodePackage(const Package &package);

/// The package in `bytes`, which may be any bytes. An error if they are not a
/// package, of another version of the format, truncated or corrupt; the caller
/// adds where they came from. Does not check whether the plans make sense:
/// checkPlan and checkGpuProgram do.
Result<Package> decodePackage(std::string_view bytes);

/// Reads a package file. Errors name the path.
Result<Package> readPackage(const std::string &path);

/// Writes a package file, which appears when it is complete (see
/// writeFileAtomically).
Status writePackage(const std::string &path, const Package &package);

/// Exchanges variant `number` with the plan that the package runs; a second
/// call undoes this. The package must have the variant, which must not be 0.
void swapVariant(Package &package, size_t number);

/// An error if the package's target is unknown, or does not agree with whether
/// the package holds GPU kernels.
Status checkTarget(const Package &package);

/// An error if this machine's CPU cannot execute the package: its object code
/// is for another architecture, or needs features that this CPU lacks.
Status checkMachine(const Package &package);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_PLAN_PACKAGE_H
