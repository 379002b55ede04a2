//===- PlanRun.h - The run of a plan that proves it right --------*- C++
//-*-===//
//
// Runs a plan on sets of contributions. Every thread block knows what is
// ordered before it as vector clocks: what it was told (by waits, semaphores)
// counts for its threads only after the next nop or barrier, and what its
// threads did counts for others only from there on. Puts through port channels
// are done by a thread of the channel. Packets order nothing but the values
// in them: what was read or written on a value's way is before what is done
// with it. An order that the plan does not enforce is an error even where this
// run came out right.
//
// PlanCheck.cpp has the run and what synchronizes, PlanCheckData.cpp what moves
// data.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_INTEROP_PLANRUN_H
#define CCN_SYNTH_INTEROP_PLANRUN_H

#include "synth/interop/Plan.h"

#include <deque>
#include <map>

namespace ccn::synth {

/// Units that a pipeline is run for.
constexpr int pipelineUnits = 2;

class PlanRun {
public:
  explicit PlanRun(const Plan &plan)
      : p(plan), ranks(static_cast<int>(plan.gpus.size())) {}
  std::string run();
  ProgramTrace trace() { return {memory.inputs, std::move(transfers)}; }

private:
  /// A place in the program text, and the unit of a pipeline (-1: none).
  struct FlatOp {
    const PlanOp *op = nullptr;
    std::string name;
    int unit = -1;
  };

  /// What a thread knows: writes it can see, and accesses that are over.
  struct Knowledge {
    TokenClock seen, over;
    void join(const Knowledge &other) {
      joinClock(seen, other.seen);
      joinClock(over, other.over);
    }
  };

  /// A connection's end at the waiting side: what each signal told.
  struct Wire {
    std::deque<Knowledge> signals;
    int waiter = -1;
  };

  struct Semaphore {
    std::deque<Knowledge> tokens;
    int acquirer = -1, releaser = -1;
  };
  struct Block {
    int gpu = 0, index = 0;
    std::vector<FlatOp> ops;
    size_t next = 0;
    /// Elements of the next operation that are done; none have begun: empty.
    std::vector<char> lanes;
    Knowledge now, told;
    bool atBarrier = false;
  };
  /// A range of places of a rank, or of all ranks of a switch's group.
  struct Range {
    std::vector<int> ranks;
    char buffer = 'i';
    int start = 0, size = 0;
  };
  struct Connection {
    int peer = -1, wire = -1, farWire = -1, thread = -1;
  };

  std::string setUp();
  std::string checkLimits();
  std::string connect();
  std::string place(const Block &b) const {
    return "gpu " + std::to_string(b.gpu) + ", tb " + std::to_string(b.index) +
           ", op " + b.ops[b.next].name + " (" + b.ops[b.next].op->name + ")";
  }
  std::string threadName(int thread) const;
  std::string resolve(const Block &b, const PlanBuffer &buffer, Range &range);
  std::string connection(const Block &b, PlanChannelType type, int id,
                         const Connection *&result);
  std::string advance(int block, bool &moved);
  std::string sync(int block, bool &moved);
  std::string data(int block, bool &moved);
  /// What is wrong with the sources and targets of the next operation.
  std::string checkBuffers(const Block &b, const std::vector<Range> &from,
                           const std::vector<Range> &to) const;
  /// Does those elements of the next operation that can be done now.
  std::string advanceElements(int block, const std::vector<Range> &from,
                              const std::vector<Range> &to, bool &moved);
  std::string element(int block, int lane, const std::vector<Range> &from,
                      const std::vector<Range> &to, bool &done);
  std::string get(int block, const Range &range, int lane, bool packet,
                  TokenValue &sum);
  std::string set(int block, const Range &range, int lane, bool packet,
                  const TokenValue &value);
  std::string conflictText(const Block &b, const TokenConflict &c,
                           const std::string &where, bool writes) const;
  void synchronize(Block &b, int id);
  void finishBarriers();
  std::string runPortPut(int block, const std::vector<Range> &from,
                         const std::vector<Range> &to);
  std::string finish();

  const Plan &p;
  int ranks, threads = 0, slices = 1;
  TokenMemory memory;
  std::vector<Block> blocks;
  std::vector<TokenTransfer> transfers;
  /// By gpu and type, the connections in their order.
  std::map<std::pair<int, PlanChannelType>, std::vector<Connection>>
      connections;
  std::vector<Wire> wires;
  std::vector<std::vector<Semaphore>> semaphores;
  /// Threads of port channels: what each knows, and how much it did.
  std::map<int, std::pair<Knowledge, int>> ports;
  std::vector<std::string> portNames;
  int firstPort = 0, firstStart = 0;
};

} // namespace ccn::synth

#endif // CCN_SYNTH_INTEROP_PLANRUN_H
