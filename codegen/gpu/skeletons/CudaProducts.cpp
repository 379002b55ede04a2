//===- CudaProducts.cpp - Products, convolutions and tables as CUDA C++ ---===//
//
// Calls of the functions in device/products.cuh and device/tables.cuh, which
// take pointers: what is in a list of buffers is copied before and after.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/skeletons/CudaProducts.h"

#include "codegen/gpu/map/PartAccesses.h"
#include "codegen/gpu/skeletons/CudaRows.h"
#include "runtime/tensor/ElementType.h"
#include "runtime/tensor/Strided.h"

#include "llvm/Support/MathExtras.h"

using namespace ccn;
using namespace ccn::codegen;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

namespace {

class ProductWriter {
public:
  explicit ProductWriter(CudaPart &part) : part(part) {}

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
    return std::to_string(part.kernel.properties.threads);
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
  void needTiles(int64_t m, int64_t n, int64_t batches) {
    constexpr int64_t processors = 128;
    int64_t large = llvm::divideCeilSigned(m, 128) *
                    llvm::divideCeilSigned(n, 128) * batches;
    int64_t blocks = large >= processors
                         ? large
                         : llvm::divideCeilSigned(m, 64) *
                               llvm::divideCeilSigned(n, 64) * batches;
    part.needBlocks(blocks);
  }
  CudaPart &part;
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
  needTiles(p.m, p.n, runtime::product(p.batch));
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
  needTiles(p.yShape[1], p.yShape[2] * p.yShape[3], p.yShape[0]);
  return llvm::Error::success();
}

llvm::Error ProductWriter::write(const runtime::GatherRowsPart &p) {
  text() << ("gatherRows<" + element(p.table) + ", " + element(p.indices) +
             ", " + threads() + ">(c, ")
         << p.tableRows << ", " << p.rowSize << ", " << p.count << ", "
         << pointer(p.table, "const ") << ", " << pointer(p.indices, "const ")
         << ", " << pointer(p.to, "") << ");\n";
  part.needBlocks(llvm::divideCeilSigned(p.count * p.rowSize,
                                         part.kernel.properties.threads * 4));
  return llvm::Error::success();
}

llvm::Error ProductWriter::write(const runtime::ScatterRowsPart &p) {
  int64_t &workspace = part.kernel.launch.workspaceBytes;
  CudaText memory;
  memory << "ScatterMemory::at(c.workspace + " << workspace << ")";
  workspace += llvm::alignTo(8 * (1 + p.count), 64);
  text() << memory << "->begin();\n";
  // Rows are added to a copy.
  runtime::View from = p.table, to = p.to;
  from.strides = to.strides = {1};
  if (llvm::Error error = emitCopy(part, {{p.tableRows * p.rowSize}, from, to}))
    return error;
  part.gridBarrier();
  text() << ("scatterRows<" + element(p.table) + ", " + element(p.indices) +
             ", " + threads() + ">(c, ")
         << p.tableRows << ", " << p.rowSize << ", " << p.count << ", "
         << pointer(p.indices, "const ") << ", " << pointer(p.rows, "const ")
         << ", " << pointer(p.to, "") << ", " << memory << ");\n";
  part.needBlocks(p.count);
  return llvm::Error::success();
}

} // namespace

/// Lets a part find in the launch's workspace what it reads of lists of
/// buffers. What it writes there is then to be copied back by `after`.
static llvm::Error stage(CudaPart &part, runtime::Part &product,
                         std::vector<runtime::CopyPart> &after) {
  std::vector<runtime::CopyPart> before;
  int64_t &workspace = part.kernel.launch.workspaceBytes;
  forEachAccess(product, part.places.plan.groups,
                [&](const PartAccess<runtime::View> &access) {
                  runtime::View &view = access.view;
                  if (access.extent == 0 || !part.places.isScattered(view))
                    return;
                  runtime::ElementType type = part.places.type(view);
                  runtime::View from = view;
                  from.strides = {1};
                  view.buffer =
                      part.places.addWorkspace(type, access.extent, workspace);
                  workspace += llvm::alignTo(
                      access.extent * runtime::sizeInBytes(type), 64);
                  view.offset = 0;
                  view.rank = -1;
                  runtime::View to = view;
                  to.strides = {1};
                  // Between what it writes is what it keeps.
                  if (!access.writes || !access.isContiguous)
                    before.push_back({{access.extent}, from, to});
                  if (access.writes)
                    after.push_back({{access.extent}, to, from});
                });
  for (const runtime::CopyPart &copy : before)
    if (llvm::Error error = emitCopy(part, copy))
      return error;
  if (!before.empty())
    part.gridBarrier();
  return llvm::Error::success();
}

static llvm::Error emitCall(CudaPart &part, const runtime::Part &any) {
  ProductWriter writer(part);
  if (const auto *product = std::get_if<runtime::MatmulPart>(&any))
    return writer.write(*product);
  if (const auto *convolution = std::get_if<runtime::Conv2dPart>(&any))
    return writer.write(*convolution);
  if (const auto *rows = std::get_if<runtime::GatherRowsPart>(&any))
    return writer.write(*rows);
  return writer.write(std::get<runtime::ScatterRowsPart>(any));
}

llvm::Error codegen::emitProduct(CudaPart &part, const runtime::Part &any) {
  runtime::Part product = any;
  std::vector<runtime::CopyPart> after;
  if (llvm::Error error = stage(part, product, after))
    return error;
  if (llvm::Error error = emitCall(part, product))
    return error;
  if (!after.empty())
    part.gridBarrier();
  for (const runtime::CopyPart &copy : after)
    if (llvm::Error error = emitCopy(part, copy))
      return error;
  return llvm::Error::success();
}
