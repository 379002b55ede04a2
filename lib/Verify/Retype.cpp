//===- Retype.cpp - Programs in f64 ---------------------------------------===//
//
// Changes types in place in a clone, which is possible because layouts do not
// depend on element types.
//
//===----------------------------------------------------------------------===//

#include "lib/Verify/Retype.h"

#include "lib/Interpreter/Elementwise.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace ccn;
using namespace ccn::verify;

Type verify::toF64(Type elementType) {
  return isFloat(elementType) ? Float64Type::get(elementType.getContext())
                              : elementType;
}

RankedTensorType verify::toF64(RankedTensorType type) {
  return type.clone(toF64(type.getElementType()));
}

void verify::toF64(Operation *op) {
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
      constant.setValueAttr(FloatAttr::get(Float64Type::get(op->getContext()),
                                           number.getValueAsDouble()));
  } else if (auto cast = dyn_cast<CastOp>(op)) {
    cast.setElementType(toF64(cast.getElementType()));
  }
}

OwningOpRef<ModuleOp> verify::cloneAlone(ProgramOp program) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(program.getLoc());
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  for (Operation &op : *program->getBlock())
    if (isa<MeshOp, AlgorithmOp>(op))
      builder.clone(op);
  builder.clone(*program);
  return module;
}

OwningOpRef<ModuleOp> verify::cloneInF64(ProgramOp program) {
  OwningOpRef<ModuleOp> module = cloneAlone(program);
  ProgramOp clone = onlyProgram(*module);
  Builder builder(program.getContext());
  auto retype = [](Value value) {
    value.setType(toF64(cast<RankedTensorType>(value.getType())));
  };
  llvm::for_each(clone.getArguments(), retype);
  clone.getBody().walk([&](Operation *op) {
    toF64(op);
    llvm::for_each(op->getResults(), retype);
  });
  auto retypeAll = [](ArrayRef<Type> types) {
    return llvm::map_to_vector(types, [](Type type) -> Type {
      return toF64(cast<RankedTensorType>(type));
    });
  };
  clone.setType(builder.getFunctionType(retypeAll(clone.getArgumentTypes()),
                                        retypeAll(clone.getResultTypes())));
  return module;
}

ProgramOp verify::onlyProgram(ModuleOp module) {
  return *module.getOps<ProgramOp>().begin();
}

Result<interp::NamedTensors> verify::toF64(const interp::NamedTensors &inputs) {
  interp::NamedTensors wide;
  for (const auto &[name, tensor] : inputs) {
    if (!runtime::isFloat(tensor.type())) {
      wide.emplace(name, tensor);
      continue;
    }
    Result<runtime::HostTensor> converted =
        interp::cast(tensor, runtime::ElementType::F64);
    if (!converted)
      return converted.status();
    wide.emplace(name, *std::move(converted));
  }
  return wide;
}
