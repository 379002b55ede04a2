//===- EmitLibrary.cpp - Packages as libraries ----------------------------===//
//
// Constants of an LLVM module, so that nobody needs a compiler or an assembler
// to link a program.
//
//===----------------------------------------------------------------------===//

#include "codegen/package/EmitLibrary.h"

#include "codegen/cpu/EmitObject.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/MemoryBuffer.h"

namespace ccn::codegen {

llvm::Expected<std::string> emitLibrary(llvm::StringRef prefix,
                                        llvm::StringRef tag,
                                        llvm::StringRef package) {
  auto machine = makeTargetMachine(Target(), /*isRare=*/false);
  if (!machine)
    return machine.takeError();
  llvm::LLVMContext context;
  llvm::Module module("package", context);
  module.setTargetTriple((*machine)->getTargetTriple());
  module.setDataLayout((*machine)->createDataLayout());
  auto define = [&](llvm::Constant *value, const llvm::Twine &suffix) {
    auto *variable = new llvm::GlobalVariable(
        module, value->getType(), /*isConstant=*/true,
        llvm::GlobalValue::ExternalLinkage, value, prefix + suffix);
    variable->setAlignment(llvm::Align(64));
  };
  define(llvm::ConstantDataArray::getString(context, package,
                                            /*AddNull=*/false),
         "_package");
  define(
      llvm::ConstantInt::get(llvm::Type::getInt64Ty(context), package.size()),
      "_package_size_" + tag);
  std::string object = emitObject(module, **machine);
  if (object.empty())
    return llvm::createStringError("cannot generate object files for this CPU");

  std::string name = (prefix + "_package.o").str();
  std::vector<llvm::NewArchiveMember> members;
  members.emplace_back(llvm::MemoryBufferRef(object, name));
  auto archive = llvm::writeArchiveToBuffer(
      members, llvm::SymtabWritingMode::NormalSymtab,
      llvm::object::Archive::K_GNU, /*Deterministic=*/true, /*Thin=*/false);
  if (!archive)
    return archive.takeError();
  return (*archive)->getBuffer().str();
}

} // namespace ccn::codegen
