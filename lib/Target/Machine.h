//===- Machine.h - Figures that were measured on a machine ------*- C++ -*-===//
//
// Where choices depend on how fast a machine is, they are made by these
// figures, and by no others: they are JSON files (README.md says what each
// figure is for, and how to write a file for a machine of one's own). Those in
// machines/ are in the compiler.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_TARGET_MACHINE_H
#define CCN_LIB_TARGET_MACHINE_H

#include "lib/Target/Target.h"

#include <limits>
#include <optional>
#include <string>

namespace ccn {

struct Machine {
  /// A limit that no size is within, and one that all are.
  static constexpr int64_t never = -1,
                           always = std::numeric_limits<int64_t>::max();

  /// Up to how many bytes, as the largest part that a rank has, an all_reduce
  /// is done in one shot: by `ll`; larger ones by `lamport`; larger ones, in a
  /// kernel, by `simple`.
  struct OneShot {
    int64_t ll = never, lamport = never, simple = never;
  };
  /// Sums along other than rows.
  struct Columns {
    /// The most contiguous bytes that neighbouring threads load together.
    int64_t pieceBytes = 0;
    /// How many tiles keep all multiprocessors busy, and how many do so evenly.
    int64_t busyTiles = 0, evenTiles = 0;
    /// What one block loads while all blocks wait for each other and merge what
    /// they have.
    int64_t barrierBytes = 0;
  };
  struct Gpu {
    /// How many have something to do when a grid is large enough.
    int64_t multiprocessors = 0;
    /// What a collective of hardly any bytes takes.
    double launchUs = 0;
    /// From one GPU to another.
    double linkGBps = 0;
    /// A block sends another rank at least as much in a step of a pipeline.
    int64_t pipelineBytes = 0;
    Columns columns;

    /// From about so many bytes on, a power of two, a collective takes longer
    /// than its launch.
    int64_t bytesOfLaunch() const;
  };

  /// Empty if there are no figures, and a target's own are meant.
  std::string name;
  /// On what these are measured, for people.
  std::string measuredOn;
  /// Between two ranks, and among more, where the limit of `lamport` is scaled
  /// by how many they are; and of both what a kernel has among other parts.
  OneShot pair, group, pairInKernel, groupInKernel;
  /// From how many bytes on members push what is combined.
  int64_t push = always;
  /// None of a machine without GPUs.
  std::optional<Gpu> gpu;

  /// The figures that the compiler has for a target.
  static const Machine &of(const Target &target);
  /// These, or if there are none those that the compiler has for the target.
  const Machine &orOf(const Target &target) const {
    return name.empty() ? of(target) : *this;
  }
};

/// Reads a machine's file. Errors name the place in it, by line or by path:
/// "x.json: /gpu/columns: ...". `where` is what they call the file.
Result<Machine> parseMachine(std::string_view text, std::string_view where);

/// One of the compiler's by name, "cpu" or "h200", or a file: what has a '/' or
/// ends in .json.
Result<Machine> loadMachine(std::string_view nameOrFile);
/// Whether a name is that of a file.
bool isMachineFile(std::string_view nameOrFile);

/// Fails if the figures are of GPUs and the target is none, or the reverse.
Status checkMachine(const Machine &machine, const Target &target);

} // namespace ccn

#endif // CCN_LIB_TARGET_MACHINE_H
