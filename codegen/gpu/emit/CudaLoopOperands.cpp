//===- CudaLoopOperands.cpp - The operands of a loop in CUDA C++ ----------===//
//
// What the structure of a loop has its operands as, and where their elements
// are.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/emit/CudaLoops.h"

#include <algorithm>
#include <numeric>

using namespace ccn;
using namespace ccn::codegen;
using llvm::StringRef;
using llvm::Twine;
using runtime::Access;
using runtime::LoopOperand;

/// Null if it is no scratch, or not placed yet.
const CudaScratchPlace *LoopWriter::placeOf(const Operand &operand) const {
  if (operand.info->access != Access::Scratch)
    return nullptr;
  auto place = scratch.places.find(operand.info->view.buffer);
  return place == scratch.places.end() ? nullptr : &place->second;
}

int64_t LoopWriter::rowStride(const Operand &operand) const {
  if (operand.info->access == Access::Scratch) {
    const CudaScratchPlace *place = placeOf(operand);
    return place ? place->rowBytes / operand.size : 0;
  }
  return operand.info->view.strides.front();
}

void LoopWriter::addOperands() {
  const LoopDims &dims = widthDims();
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
        // Of slots their numbers.
        if (info.slots != 0)
          std::iota(operand.members.begin(), operand.members.end(), 0);
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
      operand.scattered = !operand.isPosition() &&
                          info.access != Access::Scratch &&
                          part.places.isScattered(info.view);
      if (!dims.empty())
        operand.step = dims.back().strides[operand.index];
      operands.push_back(std::move(operand));
    }
}

CudaText LoopWriter::Operand::declaration() const {
  CudaText text;
  std::string count = std::to_string(members.size());
  if (scattered)
    text << (members.empty()
                 ? "PiecesOf<" + type() + "> " + name
                 : "PiecesOfAll<" + type() + ", " + count + "> " + name);
  else
    text << (Twine(isOutput ? "" : "const ") + type() + " *" + name +
             (members.empty() ? "" : "[" + count + "]"));
  return text;
}

/// Sets what the declaration says, or a member of it.
CudaText LoopWriter::setAddress(const Operand &operand,
                                std::optional<size_t> member, int of) const {
  CudaText text;
  std::string index = member ? std::to_string(*member) : "";
  const runtime::View &view = operand.info->view;
  if (operand.scattered && member)
    text << (operand.name + ".set(" + index + ", ")
         << part.places.argument(view, of) << ", " << view.offset << ")";
  else if (operand.scattered)
    text << (operand.name + " = ") << part.places.elements(view);
  else
    text << (operand.name + (member ? "[" + index + "]" : "") + " = ")
         << address(operand, of);
  return text;
}

static runtime::View slotOf(const LoopOperand &operand, int number) {
  runtime::View view = operand.view;
  view.offset += number * operand.slots;
  return view;
}

CudaText LoopWriter::address(const Operand &operand, int of) const {
  CudaText place;
  if (operand.scattered) {
    place << ("pieceElement<" + operand.type() + ">(")
          << part.places.argument(operand.info->view, of) << ", "
          << operand.info->view.offset << ")";
    return place;
  }
  if (isOwn(operand))
    // Not numbers that may be parameters: it is kept in registers.
    place << ("own + " + Twine(placeOf(operand)->offset));
  else if (const CudaScratchPlace *found = placeOf(operand))
    place << "scratch + "
          << found->offset + operand.info->view.offset * operand.size;
  else if (operand.info->slots != 0)
    place = part.places.address(slotOf(*operand.info, of));
  else
    place = part.places.address(operand.info->view, of);
  return cudaPointer(Twine(operand.isOutput ? "" : "const ") + operand.type(),
                     place);
}

/// How far an operand's element is from its first.
CudaText LoopWriter::offset(const Operand &operand, bool withReduced) const {
  CudaText text;
  if (isOwn(operand)) {
    text << (placeOf(operand)->isPart ? "e" : "0");
    return text;
  }
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

void LoopWriter::writeConstructor(CudaText &text, StringRef functor) {
  for (const Operand &operand : operands) {
    if (operand.isPointer())
      text << "  " << operand.declaration() << ";\n";
  }
  // Of the kernel's own types.
  CudaText places;
  (places << "const CcnContext &c, const A_").kernelName() << " &a, const N_";
  places.kernelName() << " &n, Byte *scratch, Byte *own";
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
        text << (operand.name + "(c, a, n, scratch, own)");
    }
    text << ")";
  }
  text << " {\n";
  for (const Operand &operand : operands) {
    if (!operand.isPointer())
      continue;
    if (operand.members.empty())
      text << "    " << setAddress(operand, std::nullopt, -1) << ";\n";
    for (auto [m, member] : llvm::enumerate(operand.members))
      text << "    " << setAddress(operand, m, member) << ";\n";
  }
  text << "  }\n";
}
