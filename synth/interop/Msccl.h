//===- Msccl.h - MSCCL XML programs -----------------------------*- C++ -*-===//
//
// The XML format that MSCCL's interpreters run: thread blocks of steps with
// buffers, channels and dependencies. Programs can be read, written in the
// dialects of the runtimes, checked, and made from our schedules.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_INTEROP_MSCCL_H
#define CCN_SYNTH_INTEROP_MSCCL_H

#include "synth/Schedule.h"
#include "synth/interop/TokenMemory.h"

#include <string>
#include <string_view>
#include <vector>

namespace ccn::synth {

/// One step of a thread block. Types: s, r, rcs (receive, copy, send), rrs
/// (receive, reduce, send), rrc (receive, reduce, copy), rrcs, cpy, re, nop.
struct MscclStep {
  std::string type;
  char srcBuffer = 'i', dstBuffer = 'o';
  int srcOffset = 0, dstOffset = 0, count = 0;
  /// Thread block and step that must be done before; -1: none.
  int dependBlock = -1, dependStep = -1;
  bool hasDependents = false;
  friend bool operator==(const MscclStep &, const MscclStep &) = default;

  bool sends() const {
    return type == "s" || type == "rcs" || type == "rrs" || type == "rrcs";
  }
  bool receives() const { return type[0] == 'r' && type != "re"; }
};

struct MscclBlock {
  int send = -1, recv = -1, channel = 0;
  std::vector<MscclStep> steps;
  friend bool operator==(const MscclBlock &, const MscclBlock &) = default;
};

struct MscclGpu {
  int inputChunks = 0, outputChunks = 0, scratchChunks = 0;
  std::vector<MscclBlock> blocks;
  friend bool operator==(const MscclGpu &, const MscclGpu &) = default;
};

struct MscclProgram {
  std::string name, protocol = "Simple";
  CollectiveKind kind = CollectiveKind::AllReduce;
  int channels = 1, chunksPerLoop = 0;
  bool inPlace = false, outOfPlace = true;
  /// Absent in old files.
  std::optional<int64_t> minBytes, maxBytes;
  std::vector<MscclGpu> gpus;
  /// Attributes that the reader did not know and left out, a line each.
  std::vector<std::string> notes;
  friend bool operator==(const MscclProgram &, const MscclProgram &) = default;
};

/// Reads XML; errors carry the line. `<copy>` children are ignored.
Result<MscclProgram> parseMsccl(std::string_view text, std::string_view where);

/// What differs between the runtimes that read the format.
enum class MscclDialect {
  Microsoft, ///< the first runtime: "reduce_scatter", attributes may be absent
  Azure,     ///< "reducescatter"; outofplace, minBytes, maxBytes required
  Rccl,      ///< as Azure
};

/// Writes XML. Attributes that the dialect requires and the program lacks get
/// values that allow every size.
std::string writeMsccl(const MscclProgram &program, MscclDialect dialect);

/// Proves that a program implements its collective: references, limits (256
/// steps a block, fewer than 72 chunks a step, 32 peers a channel, eight
/// messages in flight on a connection), no deadlock, every two accesses to a
/// place of which one writes ordered by dependencies, nothing read that was
/// not written, every contribution exactly once where it belongs. In place
/// and out of place are proved each where the program claims them. Empty, or
/// what is wrong: gpu, block and step. `trace` gets what a right program sent.
std::string checkMsccl(const MscclProgram &program,
                       ProgramTrace *trace = nullptr);

/// The schedule that a program executes, in canonical form (Transfers.h): which
/// chunks go where, and what is added to what. Its name, protocol, sizes,
/// channels and thread blocks are not part of a schedule. Fails where the
/// program does not pass its check, adds different chunks, or sends a rank
/// what it has.
Result<Schedule> importMsccl(const MscclProgram &program);

/// A program from a schedule of all_gather, reduce_scatter, all_reduce (all
/// in place) or all_to_all (out of place). Partial sums that are kept apart go
/// to scratch memory. Fails, with the reason, on other collectives and CPUs
/// that take part. importMsccl() gives the schedule's canonical form again.
Result<MscclProgram> exportMsccl(const Schedule &schedule,
                                 const std::string &name);

} // namespace ccn::synth

#endif // CCN_SYNTH_INTEROP_MSCCL_H
