//===- ExchangedRows.cpp - An exchange by the teams of the next rows ------===//
//
// For few long rows that clusters execute, if nothing else needs the result of
// the exchange before them. A thread sends its share of a row, and in each turn
// receives the part of the result that it needs.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/map/MapRows.h"
#include "codegen/gpu/map/PlanPrinter.h"
#include "codegen/gpu/skeletons/CudaRows.h"
#include "codegen/gpu/skeletons/Skeletons.h"
#include "runtime/plan/PartAccesses.h"

#include <algorithm>

using namespace ccn;
using namespace ccn::codegen;
using namespace ccn::runtime;

namespace {

/// Whether part number `part` is an exchange that those do who take the rows of
/// the next part: nobody else needs what comes, and nothing comes before.
bool isExchangeOfRows(const LaunchMapper &launch, size_t part) {
  const std::vector<Part> &parts = launch.parts;
  const PartPlaces &places = launch.kernel.places;
  const auto *own = std::get_if<ExchangePart>(&parts[part]);
  const auto *rows = part + 1 < parts.size()
                         ? std::get_if<RowsPart>(&parts[part + 1])
                         : nullptr;
  const LaunchBarriers &barriers = launch.facts.barriers;
  const LaunchSegments &cut = launch.facts.cut;
  if (!own || !rows || !barriers.hasClusters() ||
      barriers.shareOf(static_cast<size_t>(places.rank), part) == 0 ||
      barriers.before(part + 1, parts.size()) > Wait::Block ||
      !std::all_of(parts.begin(),
                   parts.begin() + static_cast<std::ptrdiff_t>(part),
                   isFlagPart))
    return false;
  int64_t first = cut.exchangeOf(places.rank, launch.exchange).first;
  if (cut.segmentOf(places.rank, part + 1) != first + 1 ||
      places.buffer(own->to).memory != Memory::Private)
    return false;
  int uses = 0;
  for (const Launch &other : places.own().launches)
    for (const Part &any : other.parts)
      forEachAccess(any, places.plan.groups,
                    [&](const PartAccess<const View> &access) {
                      uses += access.view.buffer == own->to.buffer;
                    });
  // The exchange's and that of the rows.
  return uses == 2 && suitExchange(places, launch.facts.bodies, *rows, *own,
                                   launch.facts.machine);
}

class ExchangedRowsSkeleton : public KernelSkeleton {
public:
  size_t match(const LaunchMapper &launch, size_t part) const override {
    return isExchangeOfRows(launch, part) ? 2 : 0;
  }
  llvm::Expected<std::unique_ptr<SkeletonPlan>>
  map(LaunchMapper &launch, size_t part) const override {
    launch.meetRanks();
    // The blocks of a cluster wait for each other only later, in the rows.
    launch.kernel.opensClusters = true;
    auto plan = std::make_unique<RowsPartPlan>(*this);
    const LaunchFacts &facts = launch.facts;
    RowExchange exchange{
        &std::get<ExchangePart>(launch.parts[part]),
        facts.exchanges[launch.exchange].slots,
        facts.cut.exchangeOf(launch.rank, launch.exchange).first};
    plan->rows = mapRows(launch, std::get<RowsPart>(launch.parts[part + 1]), {},
                         &exchange);
    return plan;
  }
  void require(const SkeletonPlan &any, DeviceFiles &files) const override {
    requireOfRows(*static_cast<const RowsPartPlan &>(any).rows, files);
    files.add({"exchange_packets.cuh", files.areForMessages()
                                           ? "exchange_messages.cuh"
                                           : "exchange.cuh"});
  }
  llvm::Error emit(CudaPart &part, const SkeletonPlan &any) const override {
    const RowsPlan &rows = *static_cast<const RowsPartPlan &>(any).rows;
    if (!part.isByMessages())
      return emitRows(part, rows);
    CudaText &text = part.kernel.body;
    text << "if (c.segment == " << rows.exchange->segment
         << " || c.segment == " << rows.exchange->segment + 1 << ") {\n";
    if (llvm::Error error = emitRows(part, rows))
      return error;
    // In other segments the cluster must be open too for the parts that follow.
    text << "} else {\nopenCluster(c);\n}\n";
    return llvm::Error::success();
  }
  void print(llvm::raw_ostream &os, const SkeletonPlan &any,
             unsigned depth) const override {
    os << "exchange of the rows that follow\n";
    printRows(os.indent(2 * depth),
              *static_cast<const RowsPartPlan &>(any).rows, depth);
  }
};

} // namespace

const KernelSkeleton &codegen::exchangedRowsSkeleton() {
  static const ExchangedRowsSkeleton only;
  return only;
}
