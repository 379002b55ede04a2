//===- CudaAttention.cpp - Attention with roles as CUDA C++ ---------------===//
//
// Writes the call of attendWhole (device/hopper_attention.cuh), and what scores
// are as a structure.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/emit/CudaScalars.h"
#include "codegen/gpu/skeletons/Attention.h"

using namespace ccn;
using namespace ccn::codegen;
using llvm::Twine;

namespace {

class AttentionWriter {
public:
  AttentionWriter(CudaPart &part, const AttentionPlan &plan)
      : part(part), plan(plan), scores(plan.scores) {}

  llvm::Error write();

private:
  static std::string nameOf(size_t load) { return "i" + std::to_string(load); }
  static bool isUniform(const Scores::Load &load) {
    return llvm::all_of(load.place.strides, [](int64_t s) { return s == 0; });
  }
  CudaText batchPart(llvm::ArrayRef<int64_t> sizes, size_t dim) const;
  CudaText offset(llvm::ArrayRef<int64_t> strides, llvm::StringRef key) const;
  CudaText bound(const ScoreCondition &condition, bool isLargest) const;
  llvm::Error writeScores();
  void writeConstructor();
  void writeConditions();
  void writePair();
  void writePlaces();
  CudaText call() const;

  CudaPart &part;
  const AttentionPlan &plan;
  const Scores &scores;
  std::string functor;
};

/// "batch / 4LL % 8LL", the index in a dimension of batches.
CudaText AttentionWriter::batchPart(llvm::ArrayRef<int64_t> sizes,
                                    size_t dim) const {
  int64_t inner = 1;
  for (int64_t size : sizes.drop_front(dim + 1))
    inner *= size;
  CudaText text;
  text << "batch";
  if (inner > 1)
    text << " / " << inner;
  if (dim > 0)
    text << " % " << sizes[dim];
  return text;
}

/// Where an element is, from the first one on: of a batch, a row and `key`.
CudaText AttentionWriter::offset(llvm::ArrayRef<int64_t> strides,
                                 llvm::StringRef key) const {
  CudaText text;
  bool isAny = false;
  auto add = [&](const CudaText &index, int64_t stride) {
    if (stride == 0)
      return;
    text << (isAny ? " + " : "") << "i64(" << index << ")";
    if (stride != 1)
      text << " * " << stride;
    isAny = true;
  };
  llvm::ArrayRef<int64_t> batches = plan.dims.batches();
  for (size_t dim = 0; dim < batches.size(); ++dim)
    add(batchPart(batches, dim), strides[dim]);
  CudaText row, column;
  row << "row";
  column << key;
  add(row, strides[strides.size() - 2]);
  add(column, strides.back());
  if (!isAny)
    text << "i64(0)";
  return text;
}

/// The largest or least value of a condition in a range of rows and keys.
CudaText AttentionWriter::bound(const ScoreCondition &condition,
                                bool isLargest) const {
  CudaText text;
  text << "int(" << condition.constant << ")";
  auto add = [&](const char *name, int64_t factor) {
    if (factor != 0)
      text << " + int(" << factor
           << (Twine(") * ") + ((factor > 0) == isLargest
                                    ? "(" + Twine(name) + "End - 1)"
                                    : Twine(name)))
                  .str();
  };
  add("row", condition.row);
  add("key", condition.key);
  return text;
}

void AttentionWriter::writeConstructor() {
  CudaText &text = part.kernel.declarations;
  for (auto [i, load] : llvm::enumerate(scores.loads))
    if (!isUniform(load))
      text << ("  const " + cudaStorage(load.operand.type) + " *" + nameOf(i) +
               ";\n");
  text << ("  const " + cudaStorage(plan.result.type) + " *v;\n");
  (text << "  __device__ S_").kernelName() << "(const CcnContext &c, const A_";
  text.kernelName() << " &a, const N_";
  text.kernelName() << " &n)\n      : n(n), body(";
  bool isFirst = true;
  auto pointer = [&](const runtime::View &view) {
    return cudaPointer("const " + cudaStorage(part.places.type(view)),
                       part.places.address(view));
  };
  for (const Scores::Load &load : scores.loads)
    if (isUniform(load)) {
      text << (isFirst ? "*" : ", *") << pointer(load.operand.view);
      isFirst = false;
    }
  text << ") {\n";
  for (auto [i, load] : llvm::enumerate(scores.loads))
    if (!isUniform(load))
      text << ("    " + nameOf(i) + " = ") << pointer(load.operand.view)
           << ";\n";
  text << "    v = " << pointer(plan.v.view) << ";\n  }\n";
}

/// Whether conditions hold for all of a range, or for none of it.
void AttentionWriter::writeConditions() {
  CudaText &text = part.kernel.declarations;
  auto write = [&](const char *name, bool isLargest, const char *join,
                   const char *compare, const char *none) {
    text << ("  __device__ bool " + Twine(name) +
             "(int row, int rowEnd, int key, int keyEnd) const {\n    return ");
    for (auto [i, condition] : llvm::enumerate(scores.conditions))
      text << (i ? join : "") << bound(condition, isLargest) << compare;
    text << (scores.conditions.empty() ? none : "") << ";\n  }\n";
  };
  write("isPlain", false, " && ", " >= 0", "true");
  write("isEmpty", true, " || ", " < 0", "false");
}

/// Whether two keys' elements of a load are at an address for both.
static bool hasPairs(const Scores::Load &load) {
  llvm::ArrayRef<int64_t> strides = load.place.strides;
  return strides.back() == 1 &&
         llvm::all_of(strides.drop_back(),
                      [](int64_t stride) { return stride % 2 == 0; });
}

/// Scores of two products side by side, of which the first has an even number.
void AttentionWriter::writePair() {
  CudaText &text = part.kernel.declarations;
  text << "  __device__ void pair(int batch, int row, int key, bool hasSecond, "
          "float &x, float &y) const {\n";
  for (auto [i, load] : llvm::enumerate(scores.loads)) {
    if (isUniform(load))
      continue;
    std::string pair = "e" + std::to_string(i),
                type(cudaStorage(load.operand.type));
    CudaText first = offset(load.place.strides, "key"),
             second = offset(load.place.strides, "key + 1");
    text << ("    Vector<" + type + ", 2> " + pair + ";\n");
    if (hasPairs(load))
      text << ("    if (hasSecond && isAligned(" + nameOf(i) + ", 2 * sizeof(" +
               type + ")))\n      " + pair + " = load<" + type + ", 2>(" +
               nameOf(i) + " + ")
           << first << ");\n    else\n  ";
    text << ("    " + pair + " = {{" + nameOf(i) + "[") << first
         << ("], " + nameOf(i) + "[hasSecond ? ") << second << " : " << first
         << "]}};\n";
  }
  for (int of : {0, 1}) {
    const char *value = of ? "y" : "x", *key = of ? "key + 1" : "key";
    text << (of ? "    if (hasSecond) {\n" : "    {\n")
         << (Twine("      float score;\n      body(") + value);
    for (auto [i, load] : llvm::enumerate(scores.loads))
      if (!isUniform(load))
        text << (", e" + Twine(i) + ".at[" + Twine(of) + "]");
    for (const ScorePlace &place : scores.positions)
      text << ", " << place.offset << " + " << offset(place.strides, key);
    text << (Twine(", score);\n      ") + value + " = score;\n    }\n");
  }
  text << "  }\n";
}

void AttentionWriter::writePlaces() {
  CudaText &text = part.kernel.declarations;
  std::string dims = std::to_string(plan.batchDims.size());
  text << ("  __device__ void place(i64 batch, int (&q)[" + dims +
           "], int (&k)[" + dims + "], int (&v)[" + dims + "]) const {\n");
  // Maps have the innermost dimension first.
  size_t count = plan.batchDims.size();
  for (auto [name, operand] :
       {std::pair("q", &plan.q), {"k", &plan.k}, {"v", &plan.v}})
    for (size_t dim = 0; dim < count; ++dim) {
      text << (Twine("    ") + name + "[" + Twine(count - 1 - dim) + "] = ");
      if (operand->strides[dim] == 0)
        text << "0;\n";
      else
        text << "int(" << batchPart(plan.batchDims, dim) << ");\n";
    }
  text << ("  }\n  __device__ const " + cudaStorage(plan.result.type) +
           " *values(i64 batch, i64 key) const {\n    return v + key * ")
       << plan.v.lineStride;
  for (size_t dim = 0; dim < count; ++dim)
    if (plan.v.strides[dim] != 0)
      text << " + " << batchPart(plan.batchDims, dim) << " * "
           << plan.v.strides[dim];
  text << ";\n  }\n";
}

llvm::Error AttentionWriter::writeScores() {
  LoopKernel kernel;
  kernel.name = "scores";
  kernel.body = *scores.body;
  kernel.positions = static_cast<int64_t>(scores.positions.size());
  llvm::SmallVector<bool> areUniform = {false};
  for (const Scores::Load &load : scores.loads)
    areUniform.push_back(isUniform(load));
  llvm::Expected<std::string> made = part.bodies.functor(kernel, areUniform);
  if (!made)
    return made.takeError();
  functor = *made;
  CudaText &text = part.kernel.declarations;
  auto flag = [](bool holds) { return holds ? "true" : "false"; };
  auto number = [](double value) {
    char spelled[32];
    std::snprintf(spelled, sizeof spelled, "%.9gf", value);
    llvm::StringRef given = spelled;
    // "1f" is none.
    return given.contains('.') || given.contains('e')
               ? given.str()
               : (given.drop_back() + ".0f").str();
  };
  (text << "struct S_").kernelName() << " {\n  const N_";
  text.kernelName() << (" &n;\n  " + functor +
                        " body;\n  static constexpr bool isScaled = " +
                        flag(scores.scale.has_value()) +
                        ", hasEmpty = " + flag(!scores.conditions.empty()) +
                        ";\n  static constexpr float scale = " +
                        number(scores.scale.value_or(1)) +
                        ", excluded = " + number(scores.excluded) + ";\n");
  writeConstructor();
  writeConditions();
  writePair();
  writePlaces();
  text << "};\n";
  return llvm::Error::success();
}

CudaText AttentionWriter::call() const {
  constexpr int64_t depth = 16;
  int64_t steps = (plan.q.width + depth - 1) / depth;
  CudaText text;
  text << ("attendWhole<AttentionTile<" + cudaStorage(plan.result.type) + ", " +
           Twine(plan.tile.head) + ", " + Twine(steps) + ", " +
           Twine(plan.tile.columns) + ", " + Twine(plan.tile.keys) + ", " +
           Twine(plan.tile.stages) + ", " + Twine(plan.batchDims.size()) +
           ">>(c, sharedMemory, {int(")
       << plan.dims.rows() << "), int(" << plan.dims.keys() << "), int("
       << plan.v.width << "), int(" << plan.result.batches << "), int("
       << plan.group << ")}, &t.at[0], &t.at[1], &t.at[2], [&]() { return S_";
  text.kernelName() << "(c, a, n); }, ";
  return text;
}

llvm::Error AttentionWriter::write() {
  if (llvm::Error error = writeScores())
    return error;
  llvm::Expected<CudaText> makeEpilogue = writeEpilogue(part, plan.result);
  if (!makeEpilogue)
    return makeEpilogue.takeError();
  // What other GPUs compile is not executed there.
  part.kernel.body
      << "#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)\n"
      << call() << *makeEpilogue << ");\n#endif\n";
  return llvm::Error::success();
}

} // namespace

llvm::Error codegen::emitAttention(CudaPart &part, const AttentionPlan &plan) {
  return AttentionWriter(part, plan).write();
}
