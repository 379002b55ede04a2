//===- CudaLoops.cpp - Loops over rows as CUDA C++ ------------------------===//
//
// A loop becomes a structure: made from where its operands are, with functions
// that do the elements from one index on. Around it are loops over the indices,
// shared out among the threads. Dimensions that are contiguous in each other in
// all operands are one.
//
//===----------------------------------------------------------------------===//

#include "codegen/CudaLoops.h"

#include "codegen/CudaScalars.h"
#include "runtime/ElementType.h"
#include "runtime/GpuAbi.h"

#include "llvm/Support/Error.h"

#include <algorithm>

using namespace ccn;
using namespace ccn::codegen;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

CudaBodies::CudaBodies(ArrayRef<LoopKernel> kernels) {
  for (const LoopKernel &kernel : kernels)
    loops.emplace(kernel.name, &kernel);
}

llvm::Expected<std::string> CudaBodies::functor(const LoopKernel &loop,
                                                ArrayRef<bool> isUniform) {
  // What is emitted without its name says whether it is known.
  llvm::Expected<std::string> made =
      emitBody("Body", loop.body, isUniform, loop.positions);
  if (!made)
    return made.takeError();
  auto [it, isNew] = names.try_emplace(std::move(*made));
  if (isNew) {
    it->second = "Body" + std::to_string(names.size() - 1);
    made = emitBody(it->second, loop.body, isUniform, loop.positions);
    if (!made)
      return made.takeError();
    source += *made;
    source += "\n";
  }
  return it->second;
}

StringRef codegen::cudaStorage(runtime::ElementType type) {
  using runtime::ElementType;
  switch (type) {
  case ElementType::F64:
    return "double";
  case ElementType::F32:
    return "float";
  case ElementType::F16:
    return "f16";
  case ElementType::BF16:
    return "bf16";
  case ElementType::F8E4M3:
    return "f8e4m3";
  case ElementType::F8E5M2:
    return "f8e5m2";
  case ElementType::I8:
    return "signed char";
  case ElementType::I16:
    return "short";
  case ElementType::I32:
    return "int";
  case ElementType::I64:
    return "long long";
  case ElementType::U8:
    return "unsigned char";
  case ElementType::U16:
    return "unsigned short";
  case ElementType::U32:
    return "unsigned int";
  case ElementType::U64:
    return "unsigned long long";
  case ElementType::Bool:
    return "bool";
  }
  llvm_unreachable("all types are handled");
}

std::string codegen::cudaKind(runtime::ReduceKind kind) {
  std::string name(runtime::name(kind));
  name[0] = llvm::toUpper(name[0]);
  return "Kind::" + name;
}

CudaText CudaPlaces::address(const runtime::View &view, int of) const {
  const runtime::Buffer &buffer =
      own().buffers[static_cast<size_t>(view.buffer)];
  int64_t offset = view.offset * runtime::sizeInBytes(buffer.type);
  CudaText text;
  // The text is the same on all ranks, also where it means the own memory.
  bool isOwn = of < 0 && view.rank < 0;
  if (of < 0)
    of = view.rank >= 0 ? view.rank : rank;
  switch (buffer.memory) {
  case runtime::Memory::Argument:
    text << "(a.at[";
    if (isOwn) {
      text << Twine(buffer.offset);
    } else {
      auto place = llvm::find(shared, static_cast<int>(buffer.offset));
      text << static_cast<int64_t>(plan.arguments.size() +
                                   static_cast<size_t>(place - shared.begin()) *
                                       plan.ranks.size()) +
                  of;
    }
    text << "] + " << offset << ")";
    break;
  case runtime::Memory::Private:
    text << "(c.privateMemory + " << (buffer.offset + offset) << ")";
    break;
  case runtime::Memory::Symmetric:
    text << "(c.symmetric[" << static_cast<int64_t>(of) << "] + "
         << (buffer.offset + offset) << ")";
    break;
  }
  return text;
}

CudaText CudaPlaces::group(int group) const {
  const std::vector<int> &ranks = members(group);
  CudaText text;
  text << ("Group<" + Twine(ranks.size()) + ">{{");
  for (auto [i, member] : llvm::enumerate(ranks)) {
    text << (i ? ", int(" : "int(") << static_cast<int64_t>(member) << ")";
  }
  text << "}, int("
       << static_cast<int64_t>(std::find(ranks.begin(), ranks.end(), rank) -
                               ranks.begin())
       << ")}";
  return text;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

namespace {

using runtime::Access;
using runtime::LoopOperand;

/// One dimension, with the stride of each operand.
struct Dim {
  int64_t size;
  std::vector<int64_t> strides;
};
using Dims = std::vector<Dim>;

int64_t product(const Dims &dims) {
  int64_t result = 1;
  for (const Dim &dim : dims)
    result *= dim.size;
  return result;
}

/// Dimensions [first, end) of a loop, as few as possible.
Dims collapse(const runtime::Loop &loop, int64_t first, int64_t end) {
  Dims dims;
  for (int64_t d = first; d < end; ++d) {
    Dim dim{loop.sizes[static_cast<size_t>(d)], {}};
    for (const auto *list : {&loop.inputs, &loop.outputs})
      for (const LoopOperand &operand : *list)
        dim.strides.push_back(operand.view.strides[static_cast<size_t>(d)]);
    if (dim.size == 1)
      continue;
    bool merges = !dims.empty();
    if (merges)
      for (size_t i = 0; i < dim.strides.size(); ++i)
        merges &= dims.back().strides[i] == dim.strides[i] * dim.size;
    if (merges) {
      dims.back().size *= dim.size;
      dims.back().strides = std::move(dim.strides);
    } else {
      dims.push_back(std::move(dim));
    }
  }
  return dims;
}

/// Who takes a row.
enum class Team { Thread, Warp, Block, Grid };

StringRef teamType(Team team) {
  switch (team) {
  case Team::Thread:
    return "ThreadTeam";
  case Team::Warp:
    return "WarpTeam";
  case Team::Block:
    return "BlockTeam";
  case Team::Grid:
    break;
  }
  llvm_unreachable("the grid is no team of a block");
}

/// Where the arrays of scratch begin in a team's memory.
struct Scratch {
  /// By number: bytes from the start, and of each row, 0 if a team has one row
  /// at a time.
  std::map<int, std::pair<int64_t, int64_t>> places;
  int64_t bytes = 0;
};

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

class LoopWriter {
public:
  /// `byRows`: dimension 0 is the row that a team takes.
  LoopWriter(CudaPart &part, const runtime::Loop &loop, bool byRows,
             const Scratch &scratch)
      : part(part), loop(loop), byRows(byRows), scratch(scratch),
        kernel(loop.function.empty() ? nullptr
                                     : &part.bodies.loop(loop.function)) {}

  /// Writes the structure.
  llvm::Error write();

  /// The arguments of an index: "r, x0, x1".
  std::string indices(bool withReduced) const {
    std::string text = byRows ? "r" : "";
    auto add = [&](StringRef prefix, size_t count) {
      for (size_t i = 0; i < count; ++i)
        text += (text.empty() ? "" : ", ") + (prefix + Twine(i)).str();
    };
    add("x", kept.size());
    if (withReduced)
      add("y", reduced.size());
    return text;
  }
  std::string name() const { return "L" + std::to_string(number) + "_"; }
  /// Makes the structure, as `l` and the number.
  CudaText construct(StringRef scratchBase) const {
    CudaText text;
    (text << name()).kernelName()
        << (" l" + Twine(number) + "(c, a, n, " + scratchBase + ");\n");
    return text;
  }
  Dims kept, reduced;
  /// How many elements of the last dimension are done at once where addresses
  /// allow.
  int width = 1;
  int number = 0;

private:
  struct Operand {
    const LoopOperand *info;
    size_t index;
    bool isOutput;
    std::string name;
    int size;
    /// Of all members of a group, in the order in which they are accessed.
    std::vector<int> members;
    bool uniform = false;
    /// The stride of the dimension that `width` is about.
    int64_t step = 0;

    bool isPosition() const { return info->access == Access::Index; }
    bool isPointer() const { return !isPosition() && !uniform; }
    StringRef type() const { return cudaStorage(info->type); }
  };

  bool isReduced() const { return loop.reducedDims > 0; }
  int64_t rowStride(const Operand &operand) const {
    if (operand.info->access == Access::Scratch) {
      auto place = scratch.places.find(operand.info->view.buffer);
      return place->second.second / operand.size;
    }
    return operand.info->view.strides.front();
  }
  void prepare();
  void chooseWidth();
  CudaText address(const Operand &operand, int of) const;
  CudaText offset(const Operand &operand, bool withReduced) const;
  std::string parameters(bool withReduced) const;
  void writeConstructor(CudaText &text, StringRef functor);
  void writeElements(CudaText &text);
  void writeSums(CudaText &text);

  CudaPart &part;
  const runtime::Loop &loop;
  bool byRows;
  const Scratch &scratch;
  const LoopKernel *kernel;
  std::vector<Operand> operands;
};

void LoopWriter::prepare() {
  auto dims = static_cast<int64_t>(loop.sizes.size());
  kept = collapse(loop, byRows ? 1 : 0, dims - loop.reducedDims);
  reduced = collapse(loop, dims - loop.reducedDims, dims);
  for (const auto *list : {&loop.inputs, &loop.outputs})
    for (const LoopOperand &info : *list) {
      Operand operand;
      operand.info = &info;
      operand.index = operands.size();
      operand.isOutput = list == &loop.outputs;
      operand.name =
          (operand.isOutput ? "o" : "i") + std::to_string(operand.index);
      operand.size = runtime::sizeInBytes(info.type);
      if (info.access == Access::LoadReduced ||
          info.access == Access::StoreAll) {
        operand.members = part.places.members(info.group);
        // Not all begin with the same.
        if (operand.isOutput)
          std::rotate(operand.members.begin(),
                      std::find(operand.members.begin(), operand.members.end(),
                                part.places.rank),
                      operand.members.end());
      }
      operand.uniform =
          !operand.isOutput && !operand.isPosition() &&
          info.access != Access::Scratch &&
          llvm::all_of(info.view.strides, [](int64_t s) { return s == 0; });
      operands.push_back(std::move(operand));
    }
  chooseWidth();
}

/// Several elements at once: the last dimension is contiguous or repeats in all
/// operands, and whatever else moves them keeps them aligned.
void LoopWriter::chooseWidth() {
  const Dims &dims = isReduced() ? reduced : kept;
  if (dims.empty())
    return;
  const Dim &last = dims.back();
  int smallest = 16;
  bool contiguous = false;
  for (Operand &operand : operands) {
    operand.step = last.strides[operand.index];
    if (!operand.isPointer() || (isReduced() && operand.isOutput))
      continue;
    if (operand.step != 0 && operand.step != 1)
      return;
    if (operand.step == 0 && operand.isOutput)
      return;
    if (operand.step == 1) {
      contiguous = true;
      smallest = std::min(smallest, operand.size);
    }
  }
  int wide = std::min(8, 16 / smallest);
  // Where other dimensions follow, nothing may be left over.
  bool alone = kept.size() + reduced.size() == 1 && !byRows;
  if (!contiguous || wide == 1 || last.size < wide ||
      (!alone && last.size % wide != 0))
    return;
  for (const Operand &operand : operands) {
    if (!operand.isPointer() || operand.step != 1)
      continue;
    int64_t bytes = std::min(16, wide * operand.size);
    for (const Dims *list : {&kept, &reduced})
      for (const Dim &dim : *list)
        if (&dim != &last &&
            dim.strides[operand.index] * operand.size % bytes != 0)
          return;
    if (byRows && rowStride(operand) * operand.size % bytes != 0)
      return;
  }
  width = wide;
}

CudaText LoopWriter::address(const Operand &operand, int of) const {
  CudaText text;
  text << ("reinterpret_cast<" + Twine(operand.isOutput ? "" : "const ") +
           operand.type() + " *>(");
  if (operand.info->access == Access::Scratch) {
    int64_t place = scratch.places.at(operand.info->view.buffer).first +
                    operand.info->view.offset * operand.size;
    text << "scratch + " << place;
  } else {
    text << part.places.address(operand.info->view, of);
  }
  text << ")";
  return text;
}

/// How far an operand's element is from its first.
CudaText LoopWriter::offset(const Operand &operand, bool withReduced) const {
  CudaText text;
  bool any = false;
  auto add = [&](const Twine &index, int64_t stride) {
    if (stride == 0)
      return;
    text << (Twine(any ? " + " : "") + index);
    if (stride != 1)
      text << " * " << stride;
    any = true;
  };
  if (byRows)
    add("r", operand.isPosition() ? operand.info->view.strides.front()
                                  : rowStride(operand));
  for (auto [i, dim] : llvm::enumerate(kept))
    add("x" + Twine(i), dim.strides[operand.index]);
  if (withReduced)
    for (auto [i, dim] : llvm::enumerate(reduced))
      add("y" + Twine(i), dim.strides[operand.index]);
  if (!any)
    text << "0";
  return text;
}

std::string LoopWriter::parameters(bool withReduced) const {
  std::string list = indices(withReduced), text;
  for (llvm::StringRef rest = list; !rest.empty();) {
    auto [name, more] = rest.split(", ");
    text += (text.empty() ? "i64 " : ", i64 ") + name.str();
    rest = more;
  }
  return text;
}

void LoopWriter::writeConstructor(CudaText &text, StringRef functor) {
  for (const Operand &operand : operands) {
    if (!operand.isPointer())
      continue;
    text << ("  " + Twine(operand.isOutput ? "" : "const ") + operand.type() +
             " *" + operand.name);
    if (!operand.members.empty())
      text << ("[" + Twine(operand.members.size()) + "]");
    text << ";\n";
  }
  // Of the kernel's own types.
  CudaText places;
  (places << "const CcnContext &c, const A_").kernelName() << " &a, const N_";
  places.kernelName() << " &n, Byte *scratch";
  // What is combined once, before the body is made.
  for (const Operand &operand : operands) {
    if (!operand.uniform || operand.members.empty())
      continue;
    text << ("  __device__ static " + operand.type() + " " + operand.name + "(")
         << places
         << (") {\n    Vector<" + operand.type() + ", 1> parts[" +
             Twine(operand.members.size()) + "] = {");
    for (int member : operand.members)
      text << "{{*" << address(operand, member) << "}}, ";
    text << ("};\n    return combineAll<" + cudaKind(operand.info->reduction) +
             ">(parts).at[0];\n  }\n");
  }
  (text << "  __device__ " << name()).kernelName()
      << "(" << places << ")\n      : c(c), n(n)";
  if (!functor.empty()) {
    text << ", body(";
    bool first = true;
    for (const Operand &operand : operands) {
      if (!operand.uniform)
        continue;
      text << (first ? "" : ", ");
      first = false;
      if (operand.members.empty())
        text << "*" << address(operand, -1);
      else
        text << (operand.name + "(c, a, n, scratch)");
    }
    text << ")";
  }
  text << " {\n";
  for (const Operand &operand : operands) {
    if (!operand.isPointer())
      continue;
    if (operand.members.empty())
      text << ("    " + operand.name + " = ") << address(operand, -1) << ";\n";
    for (auto [m, member] : llvm::enumerate(operand.members))
      text << ("    " + operand.name + "[" + Twine(m) + "] = ")
           << address(operand, member) << ";\n";
  }
  text << "  }\n";
}

/// Loads, computes, and keeps or stores `V` elements.
void LoopWriter::writeElements(CudaText &text) {
  text << ("  template <int V> __device__ void " +
           Twine(isReduced() ? "accumulate(Sums &sums" : "at("));
  std::string list = parameters(true);
  text << ((isReduced() && !list.empty() ? ", " : "") + list + ") const {\n");
  for (const Operand &operand : operands) {
    if (operand.isOutput || !operand.isPointer())
      continue;
    std::string type(operand.type());
    CudaText at = offset(operand, true);
    bool vector = operand.step == 1 && width > 1;
    std::string count = vector ? "V" : "1";
    std::string value = "v" + std::to_string(operand.index);
    if (operand.members.empty()) {
      text << ("    const Vector<" + type + ", " + count + "> " + value +
               " = load<" + type + ", " + count + ">(" + operand.name + " + ")
           << at << ");\n";
      continue;
    }
    std::string members = std::to_string(operand.members.size());
    text << ("    Vector<" + type + ", " + count + "> p" +
             Twine(operand.index) + "[" + members +
             "];\n#pragma unroll\n    for (int m = 0; m < " + members +
             "; ++m)\n      p" + Twine(operand.index) + "[m] = load<" + type +
             ", " + count + ">(" + operand.name + "[m] + ")
         << at << ");\n"
         << ("    const Vector<" + type + ", " + count + "> " + value +
             " = combineAll<" + cudaKind(operand.info->reduction) + ">(p" +
             Twine(operand.index) + ");\n");
  }
  auto element = [&](const Operand &operand) {
    bool vector = operand.step == 1 && width > 1;
    return "v" + std::to_string(operand.index) + (vector ? ".at[j]" : ".at[0]");
  };
  if (!isReduced())
    for (const Operand &operand : operands)
      if (operand.isOutput)
        text << ("    Vector<" + operand.type() + ", V> w" +
                 Twine(operand.index) + ";\n");
  text << "#pragma unroll\n    for (int j = 0; j < V; ++j) {\n";
  size_t inputs = loop.inputs.size();
  if (kernel) {
    mlir::func::FuncOp function = kernel->body;
    auto results = function.getFunctionType().getResults();
    for (auto [i, type] : llvm::enumerate(results)) {
      bool isFailure = i >= loop.outputs.size();
      text << ("      " + cudaType(type) + (isFailure ? " f" : " r") +
               Twine(i) + (isFailure ? " = false" : "") + ";\n");
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
      if (!operand.isPosition()) {
        text << element(operand);
        continue;
      }
      text << operand.info->view.offset << " + " << offset(operand, true);
      if (width > 1 && operand.step != 0)
        text << " + j * " << operand.step;
    }
    for (size_t i = 0; i < results.size(); ++i) {
      comma();
      text << ((i >= loop.outputs.size() ? "f" : "r") + Twine(i));
    }
    text << ");\n";
    for (size_t i = loop.outputs.size(); i < results.size(); ++i)
      text << ("      if (f" + Twine(i) + ")\n        fail(c, " +
               Twine(kernel->firstFailure +
                     static_cast<int64_t>(i - loop.outputs.size()) + 1) +
               ");\n");
  }
  for (size_t i = 0; i < loop.outputs.size(); ++i) {
    const Operand &operand = operands[inputs + i];
    // Copies have no body.
    std::string value = "r" + std::to_string(i);
    if (!kernel)
      value = element(operands.front());
    if (isReduced())
      text << ("      sums.s" + Twine(i) + ".add(toAccumulator<" +
               operand.type() + ">(" + value + "));\n");
    else
      text << ("      w" + Twine(operand.index) + ".at[j] = static_cast<" +
               operand.type() + ">(" + value + ");\n");
  }
  text << "    }\n";
  if (!isReduced())
    for (const Operand &operand : operands) {
      if (!operand.isOutput)
        continue;
      std::string store = ("store<" + operand.type() + ", V>(" + operand.name +
                           (operand.members.empty() ? "" : "[m]") + " + ")
                              .str();
      if (!operand.members.empty())
        text << ("#pragma unroll\n    for (int m = 0; m < " +
                 Twine(operand.members.size()) + "; ++m)\n  ");
      text << ("    " + store) << offset(operand, true)
           << (", w" + Twine(operand.index) + ");\n");
    }
  text << "  }\n";
}

void LoopWriter::writeSums(CudaText &text) {
  size_t inputs = loop.inputs.size();
  text << "  struct Sums {\n";
  for (size_t i = 0; i < loop.outputs.size(); ++i) {
    auto kind = static_cast<runtime::ReduceKind>(*kernel->outputs[i].reduction);
    text << ("    Sum1<" + operands[inputs + i].type() + ", " + cudaKind(kind) +
             "> s" + Twine(i) + ";\n");
  }
  text << "    __device__ void add(const Sums &other) {\n";
  for (size_t i = 0; i < loop.outputs.size(); ++i)
    text << ("      s" + Twine(i) + ".add(other.s" + Twine(i) + ".value);\n");
  text << "    }\n  };\n  __device__ static void begin(Sums &sums, bool "
          "ofNothing) {\n";
  for (size_t i = 0; i < loop.outputs.size(); ++i) {
    auto [smallest, largest] = extremes(loop.outputs[i].type);
    text << ("    sums.s" + Twine(i) + ".begin(" + smallest + ", " + largest +
             ", ofNothing);\n");
  }
  std::string list = parameters(false);
  text << ("  }\n  __device__ void finish(const Sums &sums" +
           (list.empty() ? "" : ", " + list) + ") const {\n");
  for (size_t i = 0; i < loop.outputs.size(); ++i) {
    const Operand &operand = operands[inputs + i];
    std::string value = "sums.s" + std::to_string(i) + ".value";
    if (*kernel->outputs[i].reduction == ReductionKind::mean) {
      // Exact in the type, as divisors are numbers of elements.
      value = "(" + value + " / " +
              std::to_string(static_cast<int64_t>(kernel->outputs[i].divisor)) +
              ".0";
      value += runtime::sizeInBytes(operand.info->type) < 4 ? "f)" : ")";
    }
    value = "fromAccumulator<" + operand.type().str() + ">(" + value + ")";
    if (operand.members.empty()) {
      text << ("    " + operand.name + "[") << offset(operand, false)
           << ("] = " + value + ";\n");
      continue;
    }
    text << ("    for (int m = 0; m < " + Twine(operand.members.size()) +
             "; ++m)\n      " + operand.name + "[m][")
         << offset(operand, false) << ("] = " + value + ";\n");
  }
  text << "  }\n";
}

llvm::Error LoopWriter::write() {
  prepare();
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
  } else {
    // A copy of one element to many reads it as any other.
    for (Operand &operand : operands)
      operand.uniform = false;
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
  writeElements(text);
  text << "  __device__ bool aligned() const {\n    return true";
  if (width > 1)
    for (const Operand &operand : operands) {
      if (!operand.isPointer() || operand.step != 1 ||
          (isReduced() && operand.isOutput))
        continue;
      std::string bytes = std::to_string(width * operand.size);
      if (operand.members.empty())
        text << (" && isAligned(" + operand.name + ", " + bytes + ")");
      for (size_t m = 0; m < operand.members.size(); ++m)
        text << (" && isAligned(" + operand.name + "[" + Twine(m) + "], " +
                 bytes + ")");
    }
  text << ";\n  }\n};\n";
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

/// Declares the index of each dimension from a running number, `width` elements
/// of the last dimension at once.
CudaText indicesOf(StringRef from, const Dims &dims, StringRef prefix,
                   int width) {
  CudaText text;
  if (dims.empty())
    return text;
  auto scaled = [&](StringRef value) {
    return width == 1 ? value.str()
                      : ("i64(" + value + ") * " + Twine(width)).str();
  };
  if (dims.size() == 1) {
    text << ("const i64 " + prefix + "0 = " + scaled(from) + "; ");
    return text;
  }
  // Divisions of 32 bits take a fraction of the time.
  StringRef type = product(dims) < (int64_t(1) << 31) ? "u32" : "i64";
  text << (type + " " + prefix + "q = " + type + "(" + from + "); ");
  for (size_t i = dims.size(); i-- > 0;) {
    bool isLast = i + 1 == dims.size();
    std::string name = (prefix + Twine(i)).str();
    if (i == 0) {
      text << ("const i64 " + name + " = " + prefix + "q; ");
      break;
    }
    CudaText size;
    size << (type + "(") << (isLast ? dims[i].size / width : dims[i].size)
         << ")";
    std::string rest = (prefix + "q % ").str();
    text << ("const i64 " + name + " = ");
    if (isLast && width > 1)
      text << "i64(" << rest << size << (") * " + Twine(width));
    else
      text << rest << size;
    text << ("; " + prefix + "q /= ") << size << "; ";
  }
  return text;
}

/// for (i = first; i < count; i += step) body
CudaText countedLoop(StringRef index, StringRef first, const CudaText &count,
                     StringRef step, const CudaText &body) {
  CudaText text;
  text << ("for (i64 " + index + " = " + first + "; " + index + " < ") << count
       << ("; " + index + " += " + step + ") {\n") << body << "}\n";
  return text;
}

/// Does `call` for all indices, shared out among threads; `call` of a width.
template <typename Call>
CudaText overIndices(const LoopWriter &loop, const Dims &dims, StringRef prefix,
                     StringRef first, StringRef step, Call call) {
  std::string l = "l" + std::to_string(loop.number);
  auto pass = [&](StringRef first, const CudaText &count, int width) {
    CudaText body;
    body << indicesOf("i", dims, prefix, width) << call(width);
    return countedLoop("i", first, count, step, body);
  };
  CudaText total;
  total << product(dims);
  CudaText scalars = pass(first, total, 1);
  if (loop.width == 1)
    return scalars;
  CudaText text, vectors;
  vectors << product(dims) / loop.width;
  text << ("if (" + l + ".aligned()) {\n") << pass(first, vectors, loop.width);
  // Only one dimension may have a rest.
  if (dims.size() == 1 && product(dims) % loop.width != 0) {
    text << "for (i64 i = " << (product(dims) / loop.width * loop.width)
         << (" + " + first + "; i < ") << total << ("; i += " + step + ") {\n")
         << indicesOf("i", dims, prefix, 1) << call(1) << "}\n";
  }
  text << "} else {\n" << scalars << "}\n";
  return text;
}

/// What one team does of a reduction for one row.
CudaText reduceRow(const LoopWriter &loop) {
  std::string l = "l" + std::to_string(loop.number);
  auto call = [&](int width) {
    CudaText text;
    std::string list = loop.indices(true);
    text << (l + ".template accumulate<" + Twine(width) + ">(sums" +
             (list.empty() ? "" : ", " + list) + ");\n");
    return text;
  };
  std::string list = loop.indices(false);
  std::string sums = ("typename decltype(" + l + ")::Sums sums; ");
  CudaText text, begin;
  begin << (sums + l + ".begin(sums, ") << product(loop.reduced) << " == 0);\n";
  std::string finish =
      l + ".finish(sums" + (list.empty() ? "" : ", " + list) + ");\n";
  if (loop.kept.empty()) {
    text << "{\n"
         << begin
         << overIndices(loop, loop.reduced, "y", "team.lane()", "team.lanes()",
                        call)
         << ("merge(team, sums);\nif (team.lane() == 0)\n  " + finish + "}\n");
    return text;
  }
  CudaText body, count, inner;
  inner << product(loop.reduced);
  CudaText element;
  element << indicesOf("j", loop.reduced, "y", 1) << call(1);
  body << indicesOf("k", loop.kept, "x", 1) << begin
       << countedLoop("j", "0", inner, "1", element) << finish;
  count << product(loop.kept);
  return countedLoop("k", "team.lane()", count, "team.lanes()", body);
}

CudaText elementsOfRow(const LoopWriter &loop, StringRef first,
                       StringRef step) {
  std::string l = "l" + std::to_string(loop.number);
  auto call = [&](int width) {
    CudaText text;
    text << (l + ".template at<" + Twine(width) + ">(" + loop.indices(false) +
             ");\n");
    return text;
  };
  return overIndices(loop, loop.kept, "x", first, step, call);
}

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// The most dynamic shared memory that a part takes of a block.
constexpr int64_t mostShared = 96 * 1024;

class RowsWriter {
public:
  RowsWriter(CudaPart &part, const runtime::RowsPart &rows)
      : part(part), rows(rows) {}

  llvm::Error write();

private:
  void chooseTeam();
  void placeScratch();
  void needBlocks(int64_t blocks) {
    int64_t &most = part.kernel.launch.blocks;
    most = std::max(most, blocks);
  }
  int64_t threads() const { return part.kernel.properties.threads; }
  /// Whether every element is for itself.
  bool isElementwise() const {
    const runtime::Loop &loop = rows.loops.front();
    auto isScratch = [](const LoopOperand &operand) {
      return operand.access == Access::Scratch;
    };
    return rows.loops.size() == 1 && loop.reducedDims == 0 &&
           llvm::none_of(loop.inputs, isScratch) &&
           llvm::none_of(loop.outputs, isScratch);
  }
  bool dependsOnEarlier(size_t loop) const;
  void writeTeams(std::vector<LoopWriter> &loops);
  void writeGrid(std::vector<LoopWriter> &loops);

  CudaPart &part;
  const runtime::RowsPart &rows;
  Team team = Team::Block;
  /// The most elements of a row that a loop has.
  int64_t elements = 1;
  Scratch scratch;
  /// Where the scratch of a team begins, as an expression.
  CudaText scratchBase;
};

void RowsWriter::chooseTeam() {
  for (const runtime::Loop &loop : rows.loops) {
    int64_t size = 1;
    for (size_t dim = 1; dim < loop.sizes.size(); ++dim)
      size *= loop.sizes[dim];
    elements = std::max(elements, size);
  }
  if (elements >= 32768 && rows.rows <= 32)
    team = Team::Grid;
  else if (elements <= 8)
    team = Team::Thread;
  else if (elements <= 1024)
    team = Team::Warp;
}

void RowsWriter::placeScratch() {
  struct Array {
    int64_t rowBytes = 0, firstBytes = 0;
  };
  std::map<int, Array> arrays;
  for (const runtime::Loop &loop : rows.loops)
    for (const auto *list : {&loop.inputs, &loop.outputs})
      for (const LoopOperand &operand : *list) {
        if (operand.access != Access::Scratch)
          continue;
        Array &array = arrays[operand.view.buffer];
        int64_t size = runtime::sizeInBytes(operand.type);
        int64_t last = operand.view.offset;
        for (size_t dim = 1; dim < loop.sizes.size(); ++dim)
          last += std::max<int64_t>(loop.sizes[dim] - 1, 0) *
                  operand.view.strides[dim];
        array.firstBytes = std::max(array.firstBytes, (last + 1) * size);
        array.rowBytes =
            std::max(array.rowBytes, operand.view.strides[0] * size);
      }
  for (const auto &[number, array] : arrays) {
    bool all = team == Team::Grid;
    scratch.places[number] = {scratch.bytes, all ? array.rowBytes : 0};
    int64_t bytes =
        array.firstBytes + (all ? (rows.rows - 1) * array.rowBytes : 0);
    scratch.bytes += (bytes + 15) / 16 * 16;
  }
  if (scratch.bytes == 0) {
    scratchBase << "nullptr";
    return;
  }
  runtime::GpuKernel &properties = part.kernel.properties;
  runtime::GpuLaunch &launch = part.kernel.launch;
  auto rounded = [](int64_t bytes) { return (bytes + 63) / 64 * 64; };
  if (team == Team::Grid) {
    scratchBase << "c.workspace + " << launch.workspaceBytes;
    launch.workspaceBytes += rounded(scratch.bytes);
    return;
  }
  int64_t teams = team == Team::Block  ? 1
                  : team == Team::Warp ? threads() / 32
                                       : threads();
  int64_t bytes = rounded(teams * scratch.bytes);
  CudaText within;
  within << " + team.inBlock() * " << scratch.bytes;
  // Parts of a kernel take the same shared memory, one after the other.
  if (bytes <= mostShared) {
    properties.sharedBytes = std::max(properties.sharedBytes, bytes);
    scratchBase << "sharedMemory" << within;
    return;
  }
  scratchBase << "blockMemory" << within;
  properties.blockBytes = std::max(properties.blockBytes, bytes);
}

/// Whether a loop reads, for all rows, what an earlier one writes: of a part
/// with one row that is the same.
bool RowsWriter::dependsOnEarlier(size_t loop) const {
  for (const LoopOperand &input : rows.loops[loop].inputs) {
    if (input.access != Access::Load && input.access != Access::LoadReduced)
      continue;
    for (size_t earlier = 0; earlier < loop; ++earlier)
      for (const LoopOperand &output : rows.loops[earlier].outputs)
        if (output.access != Access::Scratch &&
            output.view.buffer == input.view.buffer)
          return true;
  }
  return false;
}

void RowsWriter::writeTeams(std::vector<LoopWriter> &loops) {
  CudaText &text = part.kernel.body;
  text << ("const " + teamType(team) + " team;\n");
  CudaText body;
  for (auto [i, loop] : llvm::enumerate(loops)) {
    CudaText made;
    made << loop.name();
    made.kernelName() << (" l" + Twine(loop.number) + "(c, a, n, ")
                      << scratchBase << ");\n";
    bool inside = dependsOnEarlier(i);
    (inside ? body : text) << made;
    body << (rows.loops[i].reducedDims
                 ? reduceRow(loop)
                 : elementsOfRow(loop, "team.lane()", "team.lanes()"))
         << "team.sync();\n";
  }
  CudaText count;
  count << rows.rows;
  text << countedLoop("r", "team.first()", count, "team.count()", body);
  int64_t perBlock = team == Team::Block  ? 1
                     : team == Team::Warp ? threads() / 32
                                          : threads();
  needBlocks(ceilDiv(rows.rows, perBlock));
}

/// Few long rows: all blocks work on each loop, one loop after the other.
void RowsWriter::writeGrid(std::vector<LoopWriter> &loops) {
  CudaText &text = part.kernel.body;
  runtime::GpuLaunch &launch = part.kernel.launch;
  auto barrier = [&] {
    text << "gridBarrier(c);\n";
    part.kernel.properties.waits = true;
  };
  CudaText count;
  count << rows.rows;
  for (auto [i, loop] : llvm::enumerate(loops)) {
    if (i > 0)
      barrier();
    std::string l = "l" + std::to_string(loop.number);
    text << "{\n" << loop.name();
    text.kernelName() << (" " + l + "(c, a, n, ") << scratchBase << ");\n";
    if (rows.loops[i].reducedDims == 0) {
      text << countedLoop(
          "r", "0", count, "1",
          elementsOfRow(loop, "threadInGrid()", "threadsInGrid()"));
      needBlocks(ceilDiv(product(loop.kept), threads() * loop.width));
      text << "}\n";
      continue;
    }
    needBlocks(ceilDiv(product(loop.kept) * product(loop.reduced),
                       threads() * loop.width * 4));
    if (!loop.kept.empty()) {
      // Many sums: each by a warp, or by a thread where they are short.
      StringRef type = product(loop.reduced) >= 32 ? "WarpTeam" : "ThreadTeam";
      std::string list = loop.indices(false);
      auto call = [&](int width) {
        CudaText text;
        text << (l + ".template accumulate<" + Twine(width) + ">(sums, " +
                 loop.indices(true) + ");\n");
        return text;
      };
      CudaText body, many;
      body << indicesOf("k", loop.kept, "x", 1)
           << ("typename decltype(" + l + ")::Sums sums; " + l +
               ".begin(sums, ")
           << product(loop.reduced) << " == 0);\n"
           << overIndices(loop, loop.reduced, "y", "team.lane()",
                          "team.lanes()", call)
           << ("merge(team, sums);\nif (team.lane() == 0)\n  " + l +
               ".finish(sums, " + list + ");\n");
      many << product(loop.kept);
      CudaText perRow =
          countedLoop("k", "team.first()", many, "team.count()", body);
      text << ("const " + type + " team;\n")
           << countedLoop("r", "0", count, "1", perRow) << "}\n";
      continue;
    }
    // Few sums: each block has a part of each, and the parts are summed.
    CudaText place;
    place << ("reinterpret_cast<typename decltype(" + l +
              ")::Sums *>(c.workspace + ")
          << launch.workspaceBytes << ") + r * CCN_MAX_BLOCKS";
    int64_t sumBytes = 8 * static_cast<int64_t>(rows.loops[i].outputs.size());
    launch.workspaceBytes +=
        std::max<int64_t>(rows.rows, 1) * CCN_MAX_BLOCKS * sumBytes;
    auto call = [&](int width) {
      CudaText text;
      text << (l + ".template accumulate<" + Twine(width) + ">(sums, " +
               loop.indices(true) + ");\n");
      return text;
    };
    CudaText begin, partial, whole;
    begin << ("typename decltype(" + l + ")::Sums sums; " + l + ".begin(sums, ")
          << product(loop.reduced) << " == 0);\n";
    partial << begin
            << overIndices(loop, loop.reduced, "y", "threadInGrid()",
                           "threadsInGrid()", call)
            << "merge(BlockTeam(), sums);\nif (threadIdx.x == 0)\n  (" << place
            << ")[blockIdx.x] = sums;\n";
    text << countedLoop("r", "0", count, "1", partial);
    barrier();
    whole << begin
          << "for (u32 b = threadIdx.x; b < gridDim.x; b += blockDim.x)\n  "
             "sums.add(("
          << place
          << (")[b]);\nmerge(BlockTeam(), sums);\nif (threadIdx.x == 0)\n  " +
              l + ".finish(sums, r);\n");
    text << countedLoop("r", "blockIdx.x", count, "gridDim.x", whole) << "}\n";
  }
}

llvm::Error RowsWriter::write() {
  if (isElementwise()) {
    LoopWriter loop(part, rows.loops.front(), false, scratch);
    if (llvm::Error error = loop.write())
      return error;
    part.kernel.body << "{\n"
                     << loop.construct("nullptr")
                     << elementsOfRow(loop, "threadInGrid()", "threadsInGrid()")
                     << "}\n";
    needBlocks(ceilDiv(product(loop.kept), threads() * loop.width));
    return llvm::Error::success();
  }
  chooseTeam();
  placeScratch();
  std::vector<LoopWriter> loops;
  for (const runtime::Loop &loop : rows.loops) {
    loops.emplace_back(part, loop, true, scratch);
    if (llvm::Error error = loops.back().write())
      return error;
  }
  part.kernel.body << "{\n";
  if (team == Team::Grid)
    writeGrid(loops);
  else
    writeTeams(loops);
  part.kernel.body << "}\n";
  return llvm::Error::success();
}

} // namespace

llvm::Error codegen::emitRows(CudaPart &part, const runtime::RowsPart &rows) {
  return RowsWriter(part, rows).write();
}
