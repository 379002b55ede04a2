//===- CudaLoops.cpp - The structure of a loop in CUDA C++ ----------------===//
//
// Dimensions that are contiguous in each other in all operands are one. Where
// the last is contiguous, several elements are loaded and stored at once.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/emit/CudaLoops.h"

#include "codegen/gpu/emit/CudaScalars.h"
#include "codegen/gpu/map/ColumnSums.h"

#include "llvm/Support/Error.h"

#include <algorithm>

using namespace ccn;
using namespace ccn::codegen;
using llvm::StringRef;
using llvm::Twine;

namespace {

/// The literals of an element type's smallest and largest value as reductions
/// begin with them.
std::pair<std::string, std::string> extremes(runtime::ElementType type) {
  using runtime::ElementType;
  if (type == ElementType::F8E4M3)
    return {"-448.0f", "448.0f"};
  if (runtime::isFloat(type))
    return {"-infinity()", "infinity()"};
  if (type == ElementType::Bool)
    return {"0", "1"};
  int bits = runtime::sizeInBytes(type) * 8;
  std::string all = "(~0ULL >> " + std::to_string(64 - bits) + ")";
  if (!runtime::isSignedInteger(type))
    return {"0", all};
  std::string largest = "(~0ULL >> " + std::to_string(65 - bits) + ")";
  return {"(-(long long)" + largest + " - 1)", largest};
}

} // namespace

std::string LoopWriter::indices(bool withReduced, bool ofElements) const {
  std::string text = byRows ? "r" : "";
  auto add = [&](StringRef prefix, size_t count) {
    for (size_t i = 0; i < count; ++i)
      text += (text.empty() ? "" : ", ") + (prefix + Twine(i)).str();
  };
  add("x", kept.size());
  if (withReduced)
    add("y", reduced.size());
  if (ofElements && takesParts())
    text += text.empty() ? "e" : ", e";
  return text;
}

CudaText LoopWriter::construct(const CudaText &scratchBase,
                               StringRef own) const {
  CudaText text;
  (text << name()).kernelName() << (" " + variable() + "(c, a, n, ")
                                << scratchBase << (", " + own + ");\n");
  return text;
}

std::string LoopWriter::parameters(bool withReduced, bool ofElements) const {
  std::string list = indices(withReduced, ofElements), text;
  for (llvm::StringRef rest = list; !rest.empty();) {
    auto [name, more] = rest.split(", ");
    text += (text.empty() ? "i64 " : ", i64 ") + name.str();
    rest = more;
  }
  return text;
}

/// A call of load or store for `count` elements, up to the address. What is a
/// list of buffers takes vectors apart by itself, what is the thread's own is
/// aligned.
std::string LoopWriter::access(StringRef function, const Operand &operand,
                               StringRef count) const {
  bool knows = operand.scattered || isOwn(operand) || count == "1";
  return (function + "<" + typeOf(operand) + ", " + count +
          (knows ? "" : ", areAligned") + ">(" + nameOf(operand))
      .str();
}

/// What `V` elements take of memory, loaded for itself: where threads have
/// their elements in turns, those of all turns come at once, which loads and
/// stores in turns would not.
void LoopWriter::writeFetch(CudaText &text) {
  text << "  template <int V> struct Fetched {\n";
  CudaText loads;
  std::string combined;
  for (const Operand &operand : operands) {
    if (!isFetched(operand))
      continue;
    CudaText at = offset(operand, true);
    std::string count = countOf(operand),
                value = "v" + std::to_string(operand.index),
                load = access("load", operand, count);
    text << ("    Vector<" + typeOf(operand) + ", " + count + "> " + value);
    if (operand.given) {
      text << ";\n";
      continue;
    }
    if (operand.members.empty()) {
      text << ";\n";
      loads << ("    f." + value + " = " + load + " + ") << at << ");\n";
      continue;
    }
    std::string members = std::to_string(operand.members.size());
    text << ";\n";
    loads << ("    Vector<" + typeOf(operand) + ", " + count + "> p" +
              Twine(operand.index) + "[" + members +
              "];\n#pragma unroll\n    for (int m = 0; m < " + members +
              "; ++m)\n      p" + Twine(operand.index) + "[m] = " + load +
              "[m] + ")
          << at << ");\n";
    std::string combine = ("    f." + value + " = combineAll<" +
                           cudaKind(operand.info->reduction) + ">(p" +
                           Twine(operand.index) + ");\n")
                              .str();
    // Everything is on its way before anything is waited for, but for what
    // would not leave enough registers.
    constexpr size_t mostKept = 4;
    if (operand.members.size() > mostKept)
      loads << combine;
    else
      combined += combine;
  }
  text << ("  };\n  template <int V, bool areAligned = true> __device__ "
           "Fetched<V> fetch(" +
           parameters(true) + ") const {\n");
  if (loads.text.empty() && combined.empty())
    text << "    return {};\n  }\n";
  else
    text << "    Fetched<V> f;\n"
         << loads << combined << "    return f;\n  }\n";
}

/// Computes one element, of inputs and positions that are these expressions,
/// and returns the outputs' values.
std::vector<std::string> LoopWriter::writeBody(
    CudaText &text, llvm::function_ref<std::string(const Operand &)> element,
    llvm::function_ref<CudaText(const Operand &)> position) const {
  // Copies have no body.
  if (!kernel)
    return std::vector(loop->outputs.size(), element(operands.front()));
  std::vector<std::string> values;
  mlir::func::FuncOp function = kernel->body;
  auto results = function.getFunctionType().getResults();
  for (auto [i, type] : llvm::enumerate(results)) {
    bool isFailure = i >= loop->outputs.size();
    text << ("      " + cudaType(type) + (isFailure ? " f" : " r") + Twine(i) +
             (isFailure ? " = false" : "") + ";\n");
  }
  text << "      body(";
  bool first = true;
  auto comma = [&] {
    text << (first ? "" : ", ");
    first = false;
  };
  for (const Operand &operand : operands) {
    if (operand.isOutput || operand.uniform)
      continue;
    comma();
    if (operand.isPosition())
      text << position(operand);
    else
      text << element(operand);
  }
  for (size_t i = 0; i < results.size(); ++i) {
    comma();
    text << ((i >= loop->outputs.size() ? "f" : "r") + Twine(i));
    if (i < loop->outputs.size())
      values.push_back("r" + std::to_string(i));
  }
  text << ");\n";
  for (size_t i = loop->outputs.size(); i < results.size(); ++i)
    text << ("      if (f" + Twine(i) + ")\n        fail(c, " +
             Twine(kernel->firstFailure +
                   static_cast<int64_t>(i - loop->outputs.size()) + 1) +
             ");\n");
  return values;
}

/// Computes, and keeps or stores `V` elements.
void LoopWriter::writeElements(CudaText &text) {
  std::string list = indices(true), declared = parameters(true),
              function = isReduced() ? "accumulate" : "at",
              header = "  template <int V, bool areAligned = true> "
                       "__device__ void " +
                       function + "(" +
                       (byColumns     ? "Sums (&sums)[V]"
                        : isReduced() ? "Sums &sums"
                                      : "");
  auto after = [](StringRef before, const std::string &more) {
    return (before.empty() || more.empty() ? "" : ", ") + more;
  };
  std::string sums = isReduced() ? "sums" : "";
  text << (header + after(sums, declared) + ") const {\n    " + function +
           "<V, areAligned>(" + sums + after(sums, list) +
           after(sums + list, "fetch<V, areAligned>(" + list + ")") +
           ");\n  }\n" + header + after(sums, declared) +
           after(sums + declared, "const Fetched<V> &f") + ") const {\n");
  for (const Operand &operand : operands)
    if (!operand.isOutput && isOwn(operand))
      text << ("    const Vector<" + typeOf(operand) + ", " + countOf(operand) +
               "> v" + Twine(operand.index) + " = " +
               access("load", operand, countOf(operand)) + " + ")
           << offset(operand, true) << ");\n";
  auto element = [&](const Operand &operand) {
    return (isFetched(operand) ? "f.v" : "v") + std::to_string(operand.index) +
           (countOf(operand) == "V" ? ".at[j]" : ".at[0]");
  };
  auto position = [&](const Operand &operand) {
    CudaText place;
    // As bits, compilers see what positions of a vector have in common.
    bool areBits = operand.step == 1 && beginsWithVectors(operand);
    place << (areBits ? "(" : "") << operand.info->view.offset << " + "
          << offset(operand, true);
    if (areBits)
      place << ") | j";
    else if (width > 1 && operand.step != 0)
      place << " + j * " << operand.step;
    return place;
  };
  if (!isReduced())
    for (const Operand &operand : operands)
      if (operand.isOutput)
        text << ("    Vector<" + typeOf(operand) + ", V> w" +
                 Twine(operand.index) + ";\n");
  text << "#pragma unroll\n    for (int j = 0; j < V; ++j) {\n";
  std::vector<std::string> values = writeBody(text, element, position);
  for (auto [i, value] : llvm::enumerate(values)) {
    const Operand &operand = operands[loop->inputs.size() + i];
    if (isReduced())
      text << ("      " + sumOf(i) + ".add(" + sumOf(i) + ".load(" + value +
               "));\n");
    else
      text << ("      w" + Twine(operand.index) + ".at[j] = static_cast<" +
               typeOf(operand) + ">(" + value + ");\n");
  }
  text << "    }\n";
  if (!isReduced())
    for (const Operand &operand : operands)
      if (operand.isOutput)
        text << storeVector(operand, true);
  text << "  }\n";
}

/// Stores `V` elements of an output: "w1", to all members.
CudaText LoopWriter::storeVector(const Operand &operand,
                                 bool withReduced) const {
  CudaText text;
  std::string store = access("store", operand, "V") +
                      (operand.members.empty() ? "" : "[m]") + " + ";
  if (!operand.members.empty())
    text << ("#pragma unroll\n    for (int m = 0; m < " +
             Twine(operand.members.size()) + "; ++m)\n  ");
  text << ("    " + store) << offset(operand, withReduced)
       << (", w" + Twine(operand.index) + ");\n");
  return text;
}

/// Stores `V` results, of which `value` is that of index j.
CudaText LoopWriter::storeResults(const Operand &operand,
                                  StringRef value) const {
  CudaText text;
  std::string vector = "w" + std::to_string(operand.index);
  text << ("    Vector<" + typeOf(operand) + ", V> " + vector +
           ";\n#pragma unroll\n    for (int j = 0; j < V; ++j)\n      " +
           vector + ".at[j] = " + value + ";\n");
  if (operand.step == 1 || width == 1) {
    text << storeVector(operand, false);
    return text;
  }
  text << "#pragma unroll\n    for (int j = 0; j < V; ++j)\n";
  if (!operand.members.empty())
    text << ("      for (int m = 0; m < " + Twine(operand.members.size()) +
             "; ++m)\n  ");
  text << ("      " + nameOf(operand) +
           (operand.members.empty() ? "[" : "[m]["))
       << offset(operand, false) << " + j * " << operand.step
       << ("] = " + vector + ".at[j];\n");
  return text;
}

void LoopWriter::writeSums(CudaText &text) {
  size_t inputs = loop->inputs.size();
  text << "  struct Sums {\n";
  for (size_t i = 0; i < loop->outputs.size(); ++i) {
    auto kind = static_cast<runtime::ReduceKind>(*kernel->outputs[i].reduction);
    text << ("    Sum1<" + typeOf(operands[inputs + i]) + ", " +
             cudaKind(kind) + "> s" + Twine(i) + ";\n");
  }
  text << "    __device__ void add(const Sums &other) {\n";
  for (size_t i = 0; i < loop->outputs.size(); ++i)
    text << ("      s" + Twine(i) + ".add(other.s" + Twine(i) + ".value);\n");
  text << "    }\n  };\n  __device__ static void begin(Sums &sums, bool "
          "ofNothing) {\n";
  for (size_t i = 0; i < loop->outputs.size(); ++i) {
    auto [smallest, largest] = extremes(loop->outputs[i].type);
    text << ("    sums.s" + Twine(i) + ".begin(" + smallest + ", " + largest +
             ", ofNothing);\n");
  }
  std::string list = parameters(false, false);
  text << (Twine("  }\n  ") +
           (byColumns ? "template <int V, bool areAligned = true> __device__ "
                        "void finish(const Sums (&sums)[V]"
                      : "__device__ void finish(const Sums &sums") +
           (list.empty() ? "" : ", " + list) + ") const {\n");
  for (size_t i = 0; i < loop->outputs.size(); ++i) {
    const Operand &operand = operands[inputs + i];
    std::string value = sumOf(i) + ".value";
    if (*kernel->outputs[i].reduction == ReductionKind::mean) {
      // Exact in the type, as divisors are numbers of elements.
      value = "(" + value + " / " +
              std::to_string(static_cast<int64_t>(kernel->outputs[i].divisor)) +
              ".0";
      value += runtime::sizeInBytes(operand.info->type) < 4 ? "f)" : ")";
    }
    value = sumOf(i) + ".store(" + value + ")";
    if (byColumns) {
      text << storeResults(operand, value);
      continue;
    }
    if (operand.members.empty()) {
      text << ("    " + nameOf(operand) + "[") << offset(operand, false)
           << ("] = " + value + ";\n");
      continue;
    }
    text << ("    for (int m = 0; m < " + Twine(operand.members.size()) +
             "; ++m)\n      " + nameOf(operand) + "[m][")
         << offset(operand, false) << ("] = " + value + ";\n");
  }
  text << "  }\n";
}

llvm::Error LoopWriter::write() {
  number = part.number++;
  std::string functor;
  if (kernel) {
    llvm::SmallVector<bool> isUniform;
    for (const Operand &operand : operands)
      if (!operand.isOutput && !operand.isPosition())
        isUniform.push_back(operand.uniform);
    llvm::Expected<std::string> made = part.bodies.functor(*kernel, isUniform);
    if (!made)
      return made.takeError();
    functor = std::move(*made);
  }
  CudaText &text = part.kernel.declarations;
  (text << "struct " << name()).kernelName()
      << " {\n  const CcnContext &c;\n  const N_";
  text.kernelName() << " &n;\n";
  if (kernel)
    text << ("  " + functor + " body;\n");
  if (isReduced())
    writeSums(text);
  writeConstructor(text, functor);
  writeFetch(text);
  writeElements(text);
  if (tile && tile->hasVectors)
    writeTile(text);
  text << "  __device__ bool aligned() const {\n    return true";
  for (const Operand &operand : operands) {
    if (!mustAlign(operand))
      continue;
    std::string bytes =
        std::to_string((tile ? vectorOf(operand) : width) * operand.size);
    if (operand.members.empty())
      text << (" && isAligned(" + nameOf(operand) + ", " + bytes + ")");
    for (size_t m = 0; m < operand.members.size(); ++m)
      text << (" && isAligned(" + nameOf(operand) + "[" + Twine(m) + "], " +
               bytes + ")");
  }
  text << ";\n  }\n};\n";
  return llvm::Error::success();
}
