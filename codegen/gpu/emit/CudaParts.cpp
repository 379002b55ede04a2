//===- CudaParts.cpp - The parts of kernels in CUDA C++ -------------------===//
//
// The text of a place is the same on all ranks; what differs is a number.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/emit/CudaParts.h"

#include "codegen/gpu/emit/CudaScalars.h"

#include "llvm/Support/Error.h"

#include <algorithm>

using namespace ccn;
using namespace ccn::codegen;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

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

CudaText codegen::cudaPointer(const Twine &type, const CudaText &address) {
  CudaText text;
  text << ("reinterpret_cast<" + type + " *>(") << address << ")";
  return text;
}

CudaText CudaPlaces::argument(const runtime::View &view, int of) const {
  int64_t number = buffer(view).offset;
  CudaText text;
  text << "a.at[";
  // The text is the same on all ranks, also where it means the own memory.
  if (of < 0 && view.rank < 0) {
    text << Twine(number);
  } else {
    auto place = llvm::find(shared, static_cast<int>(number));
    text << static_cast<int64_t>(plan.arguments.size() +
                                 static_cast<size_t>(place - shared.begin()) *
                                     plan.ranks.size()) +
                (of < 0 ? view.rank : of);
  }
  text << "]";
  return text;
}

CudaText CudaPlaces::address(const runtime::View &view, int of) const {
  const runtime::Buffer &viewed = buffer(view);
  int64_t offset = view.offset * runtime::sizeInBytes(viewed.type);
  CudaText text;
  if (isWorkspace(view)) {
    text << "(c.workspace + " << (viewed.offset + offset) << ")";
    return text;
  }
  switch (viewed.memory) {
  case runtime::Memory::Argument:
    text << "(" << argument(view, of) << " + " << offset << ")";
    break;
  case runtime::Memory::Private:
    text << "(c.privateMemory + " << (viewed.offset + offset) << ")";
    break;
  case runtime::Memory::Symmetric:
    if (of < 0)
      of = view.rank >= 0 ? view.rank : rank;
    text << "(c.symmetric[" << static_cast<int64_t>(of) << "] + "
         << (viewed.offset + offset) << ")";
    break;
  }
  return text;
}

CudaText CudaPlaces::elements(const runtime::View &view,
                              StringRef qualifier) const {
  if (!isScattered(view))
    return cudaPointer(Twine(qualifier) + cudaStorage(type(view)),
                       address(view));
  CudaText text;
  text << ("PiecesOf<" + cudaStorage(type(view)) + ">(") << argument(view)
       << ", " << view.offset << ")";
  return text;
}

CudaText CudaPlaces::group(int group) const {
  const std::vector<int> &ranks = members(group);
  CudaText text;
  text << ("Group<" + Twine(ranks.size()) + ">{{");
  for (auto [i, member] : llvm::enumerate(ranks)) {
    text << (i ? ", int(" : "int(") << static_cast<int64_t>(member) << ")";
  }
  text << "}, int(" << static_cast<int64_t>(position(group)) << ")}";
  return text;
}
