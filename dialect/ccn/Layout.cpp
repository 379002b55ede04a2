//===- Layout.cpp - Layouts as values -------------------------------------===//
//
// Taking layouts apart and putting them together, their names in the language,
// and which elements a slice holds.
//
//===----------------------------------------------------------------------===//

#include "dialect/ccn/Layout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace ccn;

Layout Layout::of(RankedTensorType type) {
  Layout layout(type.getRank());
  auto attr = dyn_cast_or_null<LayoutAttr>(type.getEncoding());
  if (!attr)
    return layout;
  layout.mesh = attr.getMesh();
  for (auto [dim, axes] : llvm::enumerate(attr.getDims()))
    for (auto axis : axes.getAsRange<StringAttr>())
      layout.dims[dim].push_back(axis);
  llvm::append_range(layout.partials, attr.getPartials());
  llvm::append_range(layout.locals, attr.getLocals());
  return layout;
}

SmallVector<StringAttr> Layout::getNamedAxes() const {
  SmallVector<StringAttr> axes;
  for (const auto &list : dims)
    llvm::append_range(axes, list);
  for (PartialAxis partial : partials)
    axes.push_back(partial.axis);
  llvm::append_range(axes, locals);
  return axes;
}

AxisState Layout::getState(StringAttr axis) const {
  for (auto [dim, axes] : llvm::enumerate(dims))
    if (llvm::is_contained(axes, axis))
      return {AxisState::Sliced, static_cast<unsigned>(dim), ReduceKind::sum};
  for (PartialAxis partial : partials)
    if (partial.axis == axis)
      return {AxisState::Partial, 0, partial.kind};
  if (llvm::is_contained(locals, axis))
    return {AxisState::Local, 0, ReduceKind::sum};
  return {};
}

bool Layout::isReplicated() const {
  return partials.empty() && locals.empty() &&
         llvm::all_of(dims, [](const auto &axes) { return axes.empty(); });
}

void Layout::setState(StringAttr axis, AxisState state) {
  for (auto &axes : dims)
    llvm::erase(axes, axis);
  llvm::erase_if(partials, [&](PartialAxis p) { return p.axis == axis; });
  llvm::erase(locals, axis);
  switch (state.kind) {
  case AxisState::Replicated:
    break;
  case AxisState::Sliced:
    dims[state.dim].push_back(axis);
    break;
  case AxisState::Partial:
    partials.push_back({axis, state.reduction});
    llvm::sort(partials, [](PartialAxis a, PartialAxis b) {
      return a.axis.getValue() < b.axis.getValue();
    });
    break;
  case AxisState::Local:
    locals.push_back(axis);
    llvm::sort(locals, [](StringAttr a, StringAttr b) {
      return a.getValue() < b.getValue();
    });
    break;
  }
}

void Layout::setAxes(unsigned dim, ArrayRef<StringAttr> axes) {
  dims[dim].assign(axes.begin(), axes.end());
}

RankedTensorType Layout::getType(ArrayRef<int64_t> shape,
                                 Type elementType) const {
  assert(shape.size() == dims.size() && "the layout's rank is the tensor's");
  if (isReplicated())
    return RankedTensorType::get(shape, elementType);
  MLIRContext *context = elementType.getContext();
  SmallVector<ArrayAttr> dimAttrs;
  for (const auto &axes : dims)
    dimAttrs.push_back(ArrayAttr::get(
        context, SmallVector<Attribute>(axes.begin(), axes.end())));
  return RankedTensorType::get(
      shape, elementType,
      LayoutAttr::get(context, mesh, dimAttrs, partials, locals));
}

bool Layout::operator==(const Layout &other) const {
  return dims == other.dims && partials == other.partials &&
         locals == other.locals && (isReplicated() || mesh == other.mesh);
}

std::string Layout::str() const {
  if (isReplicated())
    return "replicated";
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::ListSeparator separator(" ");
  for (auto [dim, axes] : llvm::enumerate(dims))
    for (StringAttr axis : axes)
      os << separator << "sliced(" << dim << ", " << axis.getValue() << ")";
  for (PartialAxis partial : partials)
    os << separator << "partial(" << stringifyReduceKind(partial.kind) << ", "
       << partial.axis.getValue() << ")";
  for (StringAttr axis : locals)
    os << separator << "local(" << axis.getValue() << ")";
  return text;
}

SliceBounds ccn::sliceBounds(int64_t size, ArrayRef<int64_t> axisSizes,
                             ArrayRef<int64_t> coordinates) {
  assert(axisSizes.size() == coordinates.size());
  return cutPiece(size, size, {axisSizes.data(), axisSizes.size()},
                  {coordinates.data(), coordinates.size()});
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

int64_t ccn::elementBytes(Type type) {
  return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

/// None of types that no tensor of ccn has.
static std::optional<runtime::ElementType> findElementType(Type type) {
  using enum runtime::ElementType;
  if (auto integer = dyn_cast<IntegerType>(type)) {
    bool isUnsigned = integer.isUnsigned();
    if (integer.isSigned() || (isUnsigned && integer.getWidth() == 1))
      return std::nullopt;
    switch (integer.getWidth()) {
    case 1:
      return Bool;
    case 8:
      return isUnsigned ? U8 : I8;
    case 16:
      return isUnsigned ? U16 : I16;
    case 32:
      return isUnsigned ? U32 : I32;
    case 64:
      return isUnsigned ? U64 : I64;
    default:
      return std::nullopt;
    }
  }
  return llvm::TypeSwitch<Type, std::optional<runtime::ElementType>>(type)
      .Case([](Float64Type) { return F64; })
      .Case([](Float32Type) { return F32; })
      .Case([](Float16Type) { return F16; })
      .Case([](BFloat16Type) { return BF16; })
      .Case([](Float8E4M3FNType) { return F8E4M3; })
      .Case([](Float8E5M2Type) { return F8E5M2; })
      .Default([](Type) { return std::nullopt; });
}

std::string ccn::elementTypeName(Type type) {
  if (std::optional<runtime::ElementType> found = findElementType(type))
    return std::string(runtime::name(*found));
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

runtime::ElementType ccn::elementTypeOf(Type type) {
  std::optional<runtime::ElementType> found = findElementType(type);
  assert(found && "not an element type of ccn");
  return *found;
}

Type ccn::elementTypeByName(MLIRContext *context, StringRef name) {
  using enum runtime::ElementType;
  std::optional<runtime::ElementType> type = runtime::parseElementType(name);
  if (!type)
    return {};
  auto integer = [&](IntegerType::SignednessSemantics signedness) {
    return IntegerType::get(context, 8 * runtime::sizeInBytes(*type),
                            signedness);
  };
  switch (*type) {
  case F64:
    return Float64Type::get(context);
  case F32:
    return Float32Type::get(context);
  case F16:
    return Float16Type::get(context);
  case BF16:
    return BFloat16Type::get(context);
  case F8E4M3:
    return Float8E4M3FNType::get(context);
  case F8E5M2:
    return Float8E5M2Type::get(context);
  case I8:
  case I16:
  case I32:
  case I64:
    return integer(IntegerType::Signless);
  case U8:
  case U16:
  case U32:
  case U64:
    return integer(IntegerType::Unsigned);
  case Bool:
    return IntegerType::get(context, 1);
  }
  llvm_unreachable("all types are handled");
}

std::string ccn::typeName(RankedTensorType type) {
  std::string text = elementTypeName(type.getElementType());
  llvm::raw_string_ostream os(text);
  if (type.getRank() != 0) {
    os << "[";
    llvm::interleaveComma(type.getShape(), os);
    os << "]";
  }
  Layout layout = Layout::of(type);
  if (!layout.isReplicated())
    os << " " << layout.str();
  return text;
}

std::string ccn::operandName(unsigned index) {
  return "operand #" + std::to_string(index);
}

std::string ccn::pendingError(const Layout &layout, StringAttr axis,
                              StringRef operand) {
  StringRef kind = stringifyReduceKind(layout.getState(axis).reduction);
  return ("layout '" + layout.str() +
          "' has a reduction pending along mesh axis '" + axis.getValue() +
          "', which this operation does not take; repair with 'all_reduce(" +
          kind + ", " + operand + ", " + axis.getValue() +
          ")' on the partial operand")
      .str();
}

bool ccn::isFloat(Type type) { return isa<FloatType>(type); }

bool ccn::isNumber(Type type) {
  return isa<FloatType>(type) || (type.isInteger() && !type.isInteger(1));
}

bool ccn::isElementType(Type type) {
  if (isa<Float8E4M3FNType, Float8E5M2Type, BFloat16Type, Float16Type,
          Float32Type, Float64Type>(type))
    return true;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || integer.isSigned())
    return false;
  unsigned width = integer.getWidth();
  return width == 8 || width == 16 || width == 32 || width == 64 ||
         (width == 1 && integer.isSignless());
}

LogicalResult ccn::checkTensor(Type type, EmitError emitError) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() ||
      !isElementType(tensor.getElementType()))
    return emitError() << "expected a tensor of static shape and a ccn element "
                          "type, found "
                       << type;
  // layout_op_c1
  if (tensor.getEncoding() && !isa<LayoutAttr>(tensor.getEncoding()))
    return emitError() << "expected a ccn layout, found "
                       << tensor.getEncoding();
  // layout_op_c2: sizes of 0 do not count, so that strides fit too.
  std::optional<int64_t> bytes = 8;
  for (int64_t size : tensor.getShape())
    if (bytes && size != 0)
      bytes = llvm::checkedMul(*bytes, size);
  if (!bytes)
    return emitError() << "the size of tensor '" << typeName(tensor)
                       << "' in bytes does not fit 64 bits";
  return success();
}
