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
using runtime::LoopOperand;

CudaText LoopWriter::declarationOf(const Operand &operand) {
  CudaText text;
  std::string count = std::to_string(operand.members.size());
  if (operand.scattered)
    text << (operand.members.empty()
                 ? "PiecesOf<" + typeOf(operand) + "> " + nameOf(operand)
                 : "PiecesOfAll<" + typeOf(operand) + ", " + count + "> " +
                       nameOf(operand));
  else
    text << (Twine(operand.isOutput ? "" : "const ") + typeOf(operand) + " *" +
             nameOf(operand) +
             (operand.members.empty() ? "" : "[" + count + "]"));
  return text;
}

/// Sets what the declaration says, or a member of it.
CudaText LoopWriter::setAddress(const Operand &operand,
                                std::optional<size_t> member, int of) const {
  CudaText text;
  std::string index = member ? std::to_string(*member) : "";
  const runtime::View &view = operand.info->view;
  if (operand.scattered && member)
    text << (nameOf(operand) + ".set(" + index + ", ")
         << part.places.argument(view, of) << ", " << view.offset << ")";
  else if (operand.scattered)
    text << (nameOf(operand) + " = ") << part.places.elements(view);
  else
    text << (nameOf(operand) + (member ? "[" + index + "]" : "") + " = ")
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
    place << ("pieceElement<" + typeOf(operand) + ">(")
          << part.places.argument(operand.info->view, of) << ", "
          << operand.info->view.offset << ")";
    return place;
  }
  if (isOwn(operand))
    // Not numbers that may be parameters: it is kept in registers.
    place << ("own + " + Twine(placeOf(operand)->offset));
  else if (const ScratchPlace *found = placeOf(operand))
    place << "scratch + "
          << found->offset + operand.info->view.offset * operand.size;
  else if (operand.info->slots != 0)
    place = part.places.address(slotOf(*operand.info, of));
  else
    place = part.places.address(operand.info->view, of);
  return cudaPointer(Twine(operand.isOutput ? "" : "const ") + typeOf(operand),
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
      text << "  " << declarationOf(operand) << ";\n";
  }
  // Of the kernel's own types.
  CudaText places;
  (places << "const CcnContext &c, const A_").kernelName() << " &a, const N_";
  places.kernelName() << " &n, Byte *scratch, Byte *own";
  // What is combined once, before the body is made.
  for (const Operand &operand : operands) {
    if (!operand.uniform || operand.members.empty())
      continue;
    text << ("  __device__ static " + typeOf(operand) + " " + nameOf(operand) +
             "(")
         << places
         << (") {\n    Vector<" + typeOf(operand) + ", 1> parts[" +
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
        text << (nameOf(operand) + "(c, a, n, scratch, own)");
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
