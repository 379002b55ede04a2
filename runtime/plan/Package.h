//===- Package.h - A compiled program in one file ---------------*- C++ -*-===//
//
// What the compiler leaves and every user of the runtime takes: the plan of
// each rank, the object code of its loops, its kernels for GPUs if it is for
// them, and what is needed to use them.
//
// A file is
//
//   bytes  0 ..  7  "\x93CCNPKG\n"
//          8 .. 11  the format's version
//         12 .. 15  0
//         16 .. 23  the file's size
//         24 .. 31  the size of the JSON
//         32 .. 63  the SHA-256 of everything else
//         64 ..     JSON: what this is, the plans; zeros up to a multiple of 64
//                   the object code, up to the end
//
// Numbers are little-endian. Equal packages give equal bytes. Any byte of a
// file that has changed is noticed; but a package holds machine code that will
// be run, so one must trust who made it.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_PLAN_PACKAGE_H
#define CCN_RUNTIME_PLAN_PACKAGE_H

#include "runtime/base/Status.h"
#include "runtime/plan/GpuProgram.h"
#include "runtime/plan/Plan.h"

#include <optional>

namespace ccn::runtime {

/// Another way to run a package's program, on the same arguments: another
/// schedule, or other algorithms for its collectives.
struct PackageVariant {
  /// For people; and the schedule's name, empty if there is none.
  std::string name, schedule;
  Plan plan;
  /// In a package of target "cuda".
  std::optional<GpuProgram> gpu;
};

struct Package {
  /// The version of the compiler that made it.
  std::string compiler;
  /// The program's name, and the schedule's: empty is none.
  std::string program, schedule;
  /// What executes it: "cpu", or "cuda", which the CPU can execute too.
  std::string target = "cpu";
  Plan plan;
  /// How GPUs execute the plan, of target "cuda".
  std::optional<GpuProgram> gpu;
  /// How `plan` runs, for people; empty if there are no variants.
  std::string variant;
  /// Other ways to run the program; measurement can choose among them and
  /// `plan` (see TunedVariant.h). They are numbered from 1; `plan` is number 0.
  /// Their loops are in the same object code.
  std::vector<PackageVariant> variants;
  /// The plan of the program without its schedule, to compare with. Its loops
  /// are in the same object code.
  std::optional<Plan> reference;
  /// The plan of a program that computes how far rounding may move the
  /// reference's results, by which differences are judged (see Comparison.h).
  /// Without it, nothing may differ. It has the arguments of `plan`, in order,
  /// with floats in f64.
  std::optional<Plan> bounds;
  /// The numbers of the arguments of `plan` to which the results of `bounds`
  /// belong; outputs that are not among them are exact.
  std::vector<int> bounded;
  /// An ELF shared object with the functions that the loops name; empty if
  /// there are none.
  std::string objectCode;
  /// What the object code needs of the CPU, by the names in /proc/cpuinfo.
  std::vector<std::string> cpuFeatures;
  /// The hash of the content of a package that was read: 64 hexadecimal digits.
  std::string hash;
};

/// The bytes of a package file. An error if a name is not UTF-8 or if it is
/// larger than decodePackage takes.
Result<std::string> encodePackage(const Package &package);

/// The package in `bytes`. What is no package, of another version of the
/// format, truncated or corrupt is an error that says so; where it came from is
/// for the caller to add. Takes any bytes. Whether the plans make sense is for
/// checkPlan and checkGpuProgram to say.
Result<Package> decodePackage(std::string_view bytes);

/// Reads a file. Errors name the path.
Result<Package> readPackage(const std::string &path);

/// Writes a file, which appears when it is complete (see writeFileAtomically).
Status writePackage(const std::string &path, const Package &package);

/// Exchanges variant `number` with the plan that the package runs; doing so
/// again takes it back. The package has that variant, and it is not 0.
void swapVariant(Package &package, size_t number);

/// An error if the package's target is unknown, or is not the one for which it
/// holds kernels.
Status checkTarget(const Package &package);

/// Whether this machine's CPU can execute the package: an error if its object
/// code is for another architecture, or needs features that this CPU lacks.
Status checkMachine(const Package &package);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_PLAN_PACKAGE_H
