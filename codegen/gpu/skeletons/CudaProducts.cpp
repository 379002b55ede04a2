//===- CudaProducts.cpp - Products, convolutions and tables as CUDA C++ ---===//
//
// Writes calls of the functions in device/products.cuh and device/tables.cuh.
// They take pointers, so scattered arguments are copied before and after.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/skeletons/Products.h"

#include "codegen/gpu/skeletons/CudaRows.h"
#include "runtime/tensor/ElementType.h"

#include "llvm/Support/MathExtras.h"

using namespace ccn;
using namespace ccn::codegen;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

namespace {

class ProductWriter {
public:
  ProductWriter(CudaPart &part, const ProductPlan &plan)
      : part(part), plan(plan) {}

  llvm::Error write(const runtime::MatmulPart &product);
  llvm::Error write(const runtime::Conv2dPart &convolution);
  llvm::Error write(const runtime::GatherRowsPart &rows);
  llvm::Error write(const runtime::ScatterRowsPart &rows);

private:
  CudaText &text() { return part.kernel.body; }
  std::string element(const runtime::View &view) const {
    return cudaStorage(part.places.type(view)).str();
  }
  std::string threads() const {
    return std::to_string(part.kernel.plan->properties.threads);
  }
  CudaText pointer(const runtime::View &view, StringRef qualifier) const {
    return cudaPointer(Twine(qualifier) + element(view),
                       part.places.address(view));
  }
  CudaText matrix(const runtime::View &view, StringRef qualifier) const {
    ArrayRef<int64_t> strides = ArrayRef(view.strides).take_back(2);
    CudaText result;
    result << ("Matrix<" + qualifier + element(view) + ">{")
           << pointer(view, qualifier) << ", " << strides[0] << ", "
           << strides[1] << "}";
    return result;
  }
  static CudaText list(ArrayRef<int64_t> numbers) {
    CudaText result;
    result << "{";
    for (auto [i, number] : llvm::enumerate(numbers))
      result << (i ? ", " : "") << number;
    result << "}";
    return result;
  }
  CudaPart &part;
  const ProductPlan &plan;
};

llvm::Error ProductWriter::write(const runtime::MatmulPart &p) {
  size_t dims = p.batch.size();
  text() << ("matmul<" + element(p.c) + ", " + threads() + ">(Batch<" +
             Twine(dims) + ">{");
  if (dims > 0) {
    text() << list(p.batch);
    for (const runtime::View *view : {&p.a, &p.b, &p.c})
      text() << ", " << list(ArrayRef(view->strides).drop_back(2));
  }
  text() << "}, " << p.m << ", " << p.n << ", " << p.k << ", "
         << matrix(p.a, "const ") << ", " << matrix(p.b, "const ") << ", "
         << matrix(p.c, "") << ");\n";
  return llvm::Error::success();
}

llvm::Error ProductWriter::write(const runtime::Conv2dPart &p) {
  text() << ("conv2d<" + element(p.y) + ", " + threads() +
             ">(ConvolutionShape{")
         << p.xShape[0] << ", " << p.xShape[1] << ", " << p.xShape[2] << ", "
         << p.xShape[3] << ", " << p.wShape[0] << ", " << p.wShape[2] << ", "
         << p.wShape[3] << ", " << p.yShape[2] << ", " << p.yShape[3] << ", "
         << p.stride << ", " << p.padding << "}, " << pointer(p.x, "const ")
         << ", " << pointer(p.w, "const ") << ", " << pointer(p.y, "")
         << ");\n";
  return llvm::Error::success();
}

llvm::Error ProductWriter::write(const runtime::GatherRowsPart &p) {
  text() << ("gatherRows<" + element(p.table) + ", " + element(p.indices) +
             ", " + threads() + ">(c, ")
         << p.tableRows << ", " << p.rowSize << ", " << p.count << ", "
         << pointer(p.table, "const ") << ", " << pointer(p.indices, "const ")
         << ", " << pointer(p.to, "") << ");\n";
  return llvm::Error::success();
}

llvm::Error ProductWriter::write(const runtime::ScatterRowsPart &p) {
  CudaText memory;
  memory << "ScatterMemory::at(c.workspace + " << plan.memory << ")";
  text() << memory << "->begin();\n";
  // Rows are added to a copy of the table.
  if (llvm::Error error = emitRows(part, *plan.table))
    return error;
  part.gridBarrier();
  text() << ("scatterRows<" + element(p.table) + ", " + element(p.indices) +
             ", " + threads() + ">(c, ")
         << p.tableRows << ", " << p.rowSize << ", " << p.count << ", "
         << pointer(p.indices, "const ") << ", " << pointer(p.rows, "const ")
         << ", " << pointer(p.to, "") << ", " << memory << ");\n";
  return llvm::Error::success();
}

} // namespace

static llvm::Error emitCall(CudaPart &part, const ProductPlan &plan) {
  ProductWriter writer(part, plan);
  if (const auto *product = std::get_if<runtime::MatmulPart>(&plan.part))
    return writer.write(*product);
  if (const auto *convolution = std::get_if<runtime::Conv2dPart>(&plan.part))
    return writer.write(*convolution);
  if (const auto *rows = std::get_if<runtime::GatherRowsPart>(&plan.part))
    return writer.write(*rows);
  return writer.write(std::get<runtime::ScatterRowsPart>(plan.part));
}

llvm::Error codegen::emitProduct(CudaPart &part, const ProductPlan &plan) {
  for (const auto &copy : plan.before)
    if (llvm::Error error = emitRows(part, *copy))
      return error;
  if (!plan.before.empty())
    part.gridBarrier();
  if (llvm::Error error = emitCall(part, plan))
    return error;
  if (!plan.after.empty())
    part.gridBarrier();
  for (const auto &copy : plan.after)
    if (llvm::Error error = emitRows(part, *copy))
      return error;
  return llvm::Error::success();
}
