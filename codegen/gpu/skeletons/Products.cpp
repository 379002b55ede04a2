//===- Products.cpp - Products and tables ---------------------------------===//

#include "codegen/gpu/skeletons/Products.h"
#include "codegen/gpu/map/PlanPrinter.h"
#include "codegen/gpu/skeletons/CudaRows.h"
#include "codegen/gpu/skeletons/Skeletons.h"

#include "llvm/Support/FormatVariadic.h"

using namespace ccn;
using namespace ccn::codegen;
using namespace ccn::runtime;

namespace {

class ProductsSkeleton : public KernelSkeleton {
public:
  size_t match(const LaunchMapper &launch, size_t part) const override {
    const Part &any = launch.parts[part];
    return std::holds_alternative<MatmulPart>(any) ||
           std::holds_alternative<Conv2dPart>(any) ||
           std::holds_alternative<GatherRowsPart>(any) ||
           std::holds_alternative<ScatterRowsPart>(any);
  }
  llvm::Expected<std::unique_ptr<SkeletonPlan>>
  map(LaunchMapper &launch, size_t part) const override {
    auto plan = std::make_unique<ProductPlan>(*this);
    const std::optional<GpuProduct> &product = launch.kernel.launch.product;
    plan->mayBeDone = product && !product->isAll && part == 0;
    mapProduct(launch, launch.parts[part], *plan);
    return plan;
  }
  void require(const SkeletonPlan &any, DeviceFiles &files) const override {
    const auto &plan = static_cast<const ProductPlan &>(any);
    for (const auto *copies : {&plan.before, &plan.after})
      for (const auto &copy : *copies)
        requireOfRows(*copy, files);
    if (plan.table)
      requireOfRows(*plan.table, files);
    bool isTable = std::holds_alternative<GatherRowsPart>(plan.part) ||
                   std::holds_alternative<ScatterRowsPart>(plan.part);
    files.add({"tiles.cuh", isTable ? "tables.cuh" : "products.cuh"});
  }
  llvm::Error emit(CudaPart &part, const SkeletonPlan &any) const override {
    const auto &plan = static_cast<const ProductPlan &>(any);
    CudaText &text = part.kernel.body;
    text << (plan.mayBeDone ? "if (!c.hasProduct) {\n" : "");
    llvm::Error error = emitProduct(part, plan);
    text << (plan.mayBeDone ? "}\n" : "");
    return error;
  }
  void print(llvm::raw_ostream &os, const SkeletonPlan &any,
             unsigned depth) const override {
    const auto &plan = static_cast<const ProductPlan &>(any);
    os << (plan.mayBeDone ? "unless_done " : "");
    if (const auto *p = std::get_if<MatmulPart>(&plan.part)) {
      os << "matmul(";
      for (int64_t size : p->batch)
        os << size << 'x';
      os << llvm::formatv("{0}x{1}x{2})", p->m, p->n, p->k);
    } else if (std::holds_alternative<Conv2dPart>(plan.part)) {
      os << "conv2d";
    } else if (const auto *p = std::get_if<GatherRowsPart>(&plan.part)) {
      os << llvm::formatv("gather_rows({0}x{1})", p->count, p->rowSize);
    } else if (const auto *p = std::get_if<ScatterRowsPart>(&plan.part)) {
      os << llvm::formatv("scatter_rows({0}x{1})", p->count, p->rowSize);
    }
    os << '\n';
    for (const auto &copy : plan.before)
      printRows(os.indent(2 * depth + 2) << "before ", *copy, depth + 1);
    if (plan.table)
      printRows(os.indent(2 * depth + 2) << "table ", *plan.table, depth + 1);
    for (const auto &copy : plan.after)
      printRows(os.indent(2 * depth + 2) << "after ", *copy, depth + 1);
  }
};

} // namespace

const KernelSkeleton &codegen::productsSkeleton() {
  static const ProductsSkeleton only;
  return only;
}
