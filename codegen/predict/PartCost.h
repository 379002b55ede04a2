//===- PartCost.h - What the parts of a launch move and compute -*- C++ -*-===//
//
// Counts what a part of a launch costs a rank, in bytes and operations; and
// keeps account of what the rank's cache holds.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_PREDICT_PARTCOST_H
#define CCN_CODEGEN_PREDICT_PARTCOST_H

#include "codegen/gpu/map/LoopPlan.h"
#include "lib/Target/MachineRates.h"
#include "runtime/plan/Plan.h"

#include <map>
#include <set>
#include <tuple>

namespace ccn::codegen {

/// What a rank moves and computes. Bytes are of its own memory, of those
/// links into which the rank stores, and of those from which it loads.
struct Cost {
  double readBytes = 0, writeBytes = 0, cacheBytes = 0;
  /// By the other rank.
  std::map<int, double> storedBytes, loadedBytes;
  /// Scalar operations of loops, each weighted by the instructions that it
  /// takes; f64 apart. `chain` is what one element takes.
  double operations = 0, f64Operations = 0, chain = 0;
  /// Floating-point operations, of products and of loops.
  double flops = 0;

  Cost &operator+=(const Cost &other);
  double memoryBytes() const { return readBytes + writeBytes; }
  double linkStores() const { return sum(storedBytes); }
  double linkLoads() const { return sum(loadedBytes); }

private:
  static double sum(const std::map<int, double> &bytes) {
    double total = 0;
    for (auto [rank, own] : bytes)
      total += own;
    return total;
  }
};

/// Which memory a rank's cache holds. What has been touched since an element
/// was touched last must fit the cache for the element to be there still; a
/// little more than fits is there in part, as caches do not replace strictly in
/// order.
class CacheModel {
public:
  explicit CacheModel(double bytes) : bytes(bytes) {}

  /// Touches bytes [begin, end) of a memory, which `key` names, of which
  /// `touched` are accessed. Returns the part of these that the cache has.
  double touch(std::tuple<int, int64_t, int> key, int64_t begin, int64_t end,
               double touched);

  /// From now on, until one of the others is called, what is touched can be
  /// taken back.
  void begin();
  void keep();
  void takeBack();

private:
  using Pages = std::map<std::tuple<int, int64_t, int, int64_t>, double>;

  double bytes;
  /// All bytes that were touched so far; and how many those were after a page
  /// was touched last.
  double all = 0;
  Pages pages;
  /// What can be taken back: pages, with what they had, or less than 0 if they
  /// are new.
  bool canTakeBack = false;
  double allBefore = 0;
  std::vector<std::pair<Pages::iterator, double>> before;
};

/// Counts the costs of a rank's parts.
class CostCounter {
public:
  CostCounter(const runtime::Plan &plan, int rank, const LoopKernels &bodies,
              CacheModel &cache)
      : plan(plan), rank(rank), bodies(bodies), cache(cache) {}

  /// What these buffers have costs nothing.
  void keep(llvm::ArrayRef<int> buffers) {
    kept.insert(buffers.begin(), buffers.end());
  }
  /// `number` tells exchanges apart. With `loadsAnew`, each loop over rows
  /// loads what it needs; else loops share what they have loaded.
  Cost of(const runtime::Part &part, int64_t number, bool loadsAnew = false);

private:
  void addAccesses(const runtime::Part &part, bool loadsAnew, Cost &cost);
  void add(Cost &cost, const runtime::Buffer &buffer, int owner, int64_t first,
           int64_t extent, double touched, bool writes);
  void addLoop(const runtime::Loop &loop, Cost &cost);
  void addExchange(const runtime::ExchangePart &part, int64_t number,
                   Cost &cost);
  const runtime::Buffer &bufferOf(const runtime::View &view) const {
    return plan.ranks[static_cast<size_t>(rank)]
        .buffers[static_cast<size_t>(view.buffer)];
  }

  const runtime::Plan &plan;
  int rank;
  const LoopKernels &bodies;
  CacheModel &cache;
  std::set<int> kept;
  /// By the name of a loop's function: its weighted operations, those of f64,
  /// and its floating-point operations, of one element.
  std::map<std::string, std::array<double, 3>> counted;
};

} // namespace ccn::codegen

#endif // CCN_CODEGEN_PREDICT_PARTCOST_H
