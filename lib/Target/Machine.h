//===- Machine.h - Figures that were measured on a machine ------*- C++ -*-===//
//
// Where the compiler's choices depend on how fast a machine is, they depend
// only on these figures. Figures come from JSON files: README.md says what each
// one is for, and how to write a file for another machine. The files in
// machines/ are part of the compiler.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_TARGET_MACHINE_H
#define CCN_LIB_TARGET_MACHINE_H

#include "lib/Target/Target.h"

#include <limits>
#include <optional>
#include <string>

namespace ccn {

/// The figures of a machine.
struct Machine {
  /// A limit that every size exceeds, and one that no size exceeds.
  static constexpr int64_t never = -1,
                           always = std::numeric_limits<int64_t>::max();

  /// Limits, in bytes of the largest part that a rank has, up to which an
  /// all_reduce runs in one shot: by protocol `ll` up to the first limit, else
  /// by `lamport` up to the second, else, in a kernel, by `simple` up to the
  /// third.
  struct OneShot {
    int64_t ll = never, lamport = never, simple = never;
  };
  /// For sums along dimensions other than the last.
  struct Columns {
    /// The most contiguous bytes that neighbouring threads load together.
    int64_t pieceBytes = 0;
    /// How many tiles keep all multiprocessors busy, and how many keep them
    /// evenly busy.
    int64_t busyTiles = 0, evenTiles = 0;
    /// How many bytes one block loads in the time in which all blocks wait for
    /// each other and merge their sums.
    int64_t barrierBytes = 0;
  };
  struct Gpu {
    /// How many multiprocessors the GPU has.
    int64_t multiprocessors = 0;
    /// How long a collective of few bytes takes, in microseconds.
    double launchUs = 0;
    /// How fast a GPU sends data to another.
    double linkGBps = 0;
    /// The least bytes that a block sends another rank in a step of a pipeline.
    int64_t pipelineBytes = 0;
    Columns columns;

    /// About the smallest size, in bytes, from which on a collective takes
    /// longer than its launch; a power of two.
    int64_t bytesOfLaunch() const;
  };

  /// Empty if there are no figures, so that those of the target's default
  /// machine apply (orOf).
  std::string name;
  /// On which machine the figures were measured, for people.
  std::string measuredOn;
  /// Limits for two ranks and for larger groups, and for all_reduces that are
  /// alone or in a kernel with other parts. For larger groups, the limit of
  /// `lamport` is scaled by the number of ranks.
  OneShot pair, group, pairInKernel, groupInKernel;
  /// The size, in bytes, from which on members push the values that are
  /// combined.
  int64_t push = always;
  /// None for a machine without GPUs.
  std::optional<Gpu> gpu;

  /// The compiler's default figures for a target.
  static const Machine &of(const Target &target);
  /// These figures or, if there are none, the default ones for the target.
  const Machine &orOf(const Target &target) const {
    return name.empty() ? of(target) : *this;
  }
};

/// Reads the text of a machine's file. Errors name the place in the file, by
/// line or by path: "x.json: /gpu/columns: ...". `where` is the file's name in
/// errors.
Result<Machine> parseMachine(std::string_view text, std::string_view where);

/// Loads one of the compiler's machines by name, such as "h200", or a file (see
/// isMachineFile).
Result<Machine> loadMachine(std::string_view nameOrFile);
/// Whether a name is that of a file: it has a '/' or ends in .json.
bool isMachineFile(std::string_view nameOrFile);

/// Fails if the machine has GPUs and the target is a CPU, or the reverse.
Status checkMachine(const Machine &machine, const Target &target);

} // namespace ccn

#endif // CCN_LIB_TARGET_MACHINE_H
