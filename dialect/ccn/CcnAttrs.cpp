//===- CcnAttrs.cpp - Attributes of the ccn dialect -----------------------===//
//
// Text form and constraints of mesh axes and layouts.
//
//===----------------------------------------------------------------------===//

#include "dialect/ccn/Ccn.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ccn;

#include "dialect/ccn/CcnEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/ccn/CcnAttrs.cpp.inc"

void CcnDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/ccn/CcnAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// AxesAttr
//===----------------------------------------------------------------------===//

static ParseResult parseNames(AsmParser &parser, AsmParser::Delimiter delimiter,
                              SmallVectorImpl<StringAttr> &names) {
  return parser.parseCommaSeparatedList(
      delimiter, [&]() { return parser.parseAttribute(names.emplace_back()); });
}

// axes ::= `<` mesh `,` `[` string* `]` `>`
Attribute AxesAttr::parse(AsmParser &parser, Type) {
  FlatSymbolRefAttr mesh;
  SmallVector<StringAttr> names;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseAttribute(mesh) ||
      parser.parseComma() ||
      parseNames(parser, AsmParser::Delimiter::Square, names) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<AxesAttr>(loc, parser.getContext(), mesh,
                                     ArrayRef<StringAttr>(names));
}

void AxesAttr::print(AsmPrinter &printer) const {
  printer << "<" << getMesh() << ", [";
  llvm::interleaveComma(getNames(), printer);
  printer << "]>";
}

LogicalResult
AxesAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                 FlatSymbolRefAttr mesh, ArrayRef<StringAttr> names) {
  // axes_c1
  if (names.empty())
    return emitError() << "expected at least one mesh axis";
  // axes_c2
  llvm::SmallDenseSet<StringAttr> seen;
  for (StringAttr name : names)
    if (!seen.insert(name).second)
      return emitError() << "mesh axis '" << name.getValue()
                         << "' is named twice";
  return success();
}

//===----------------------------------------------------------------------===//
// LayoutAttr
//===----------------------------------------------------------------------===//

// layout ::= `<` mesh `,` `[` dim-axes* `]` (`,` group)* `>`
// dim-axes ::= `{` string* `}`
// group ::= (`partial` `<` kind `>` | `local`) `=` `{` string* `}`

static ParseResult parseAxisSet(AsmParser &parser,
                                SmallVectorImpl<StringAttr> &axes) {
  return parseNames(parser, AsmParser::Delimiter::Braces, axes);
}

static void printAxisSet(AsmPrinter &printer, ArrayRef<StringAttr> axes) {
  printer << "{";
  llvm::interleaveComma(axes, printer);
  printer << "}";
}

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  MLIRContext *context = parser.getContext();
  FlatSymbolRefAttr mesh;
  SmallVector<ArrayAttr> dims;
  SmallVector<PartialAxis> partials;
  SmallVector<StringAttr> locals;
  SMLoc loc = parser.getCurrentLocation();

  auto parseDim = [&]() -> ParseResult {
    SmallVector<StringAttr> axes;
    if (parseAxisSet(parser, axes))
      return failure();
    dims.push_back(ArrayAttr::get(
        context, SmallVector<Attribute>(axes.begin(), axes.end())));
    return success();
  };
  if (parser.parseLess() || parser.parseAttribute(mesh) ||
      parser.parseComma() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseDim))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    SmallVector<StringAttr> axes;
    if (succeeded(parser.parseOptionalKeyword("local"))) {
      if (parser.parseEqual() || parseAxisSet(parser, locals))
        return {};
      continue;
    }
    StringRef word;
    SMLoc kindLoc;
    if (parser.parseKeyword("partial", " or 'local'") || parser.parseLess())
      return {};
    kindLoc = parser.getCurrentLocation();
    if (parser.parseKeyword(&word))
      return {};
    std::optional<ReduceKind> kind = symbolizeReduceKind(word);
    if (!kind)
      return parser.emitError(kindLoc)
                 << "expected 'sum', 'prod', 'max' or 'min', found '" << word
                 << "'",
             Attribute();
    if (parser.parseGreater() || parser.parseEqual() ||
        parseAxisSet(parser, axes))
      return {};
    for (StringAttr axis : axes)
      partials.push_back({axis, *kind});
  }
  if (parser.parseGreater())
    return {};
  // Sorted by name, so that equal layouts are equal attributes.
  llvm::sort(partials, [](PartialAxis a, PartialAxis b) {
    return a.axis.getValue() < b.axis.getValue();
  });
  llvm::sort(locals, [](StringAttr a, StringAttr b) {
    return a.getValue() < b.getValue();
  });
  return parser.getChecked<LayoutAttr>(
      loc, context, mesh, ArrayRef<ArrayAttr>(dims),
      ArrayRef<PartialAxis>(partials), ArrayRef<StringAttr>(locals));
}

void LayoutAttr::print(AsmPrinter &printer) const {
  printer << "<" << getMesh() << ", [";
  llvm::interleaveComma(getDims(), printer, [&](ArrayAttr axes) {
    printAxisSet(printer, llvm::to_vector(axes.getAsRange<StringAttr>()));
  });
  printer << "]";
  for (uint32_t i = 0; i <= getMaxEnumValForReduceKind(); ++i) {
    SmallVector<StringAttr> axes;
    for (PartialAxis partial : getPartials())
      if (partial.kind == static_cast<ReduceKind>(i))
        axes.push_back(partial.axis);
    if (axes.empty())
      continue;
    printer << ", partial<" << stringifyReduceKind(static_cast<ReduceKind>(i))
            << "> = ";
    printAxisSet(printer, axes);
  }
  if (!getLocals().empty()) {
    printer << ", local = ";
    printAxisSet(printer, getLocals());
  }
  printer << ">";
}

LogicalResult
LayoutAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                   FlatSymbolRefAttr mesh, ArrayRef<ArrayAttr> dims,
                   ArrayRef<PartialAxis> partials,
                   ArrayRef<StringAttr> locals) {
  // layout_c2
  llvm::SmallDenseSet<Attribute> seen;
  auto once = [&](Attribute axis) -> LogicalResult {
    if (!isa<StringAttr>(axis))
      return emitError() << "expected the name of a mesh axis, found " << axis;
    if (!seen.insert(axis).second)
      return emitError() << "mesh axis '" << cast<StringAttr>(axis).getValue()
                         << "' is named twice";
    return success();
  };
  for (ArrayAttr axes : dims)
    for (Attribute axis : axes)
      if (failed(once(axis)))
        return failure();
  for (PartialAxis partial : partials)
    if (failed(once(partial.axis)))
      return failure();
  for (StringAttr axis : locals)
    if (failed(once(axis)))
      return failure();
  // layout_c3
  if (seen.empty())
    return emitError() << "expected at least one mesh axis; a tensor that is "
                          "replicated along every axis has no layout";
  // layout_c4
  for (PartialAxis partial : partials)
    if (partial.kind != partials.front().kind)
      return emitError() << "expected pending reductions of one kind, found '"
                         << stringifyReduceKind(partials.front().kind)
                         << "' and '" << stringifyReduceKind(partial.kind)
                         << "'";
  return success();
}

LogicalResult
ChunkedAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                    int64_t dim, int64_t offset, int64_t extent,
                    ArrayAttr axes) {
  // chunked_c1
  if (dim < 0 || offset < 0 || offset > extent)
    return emitError() << "expected a dimension of at least 0 and an offset "
                          "from 0 to the extent, found "
                       << dim << ", " << offset << " and extent " << extent;
  // chunked_c2
  for (Attribute axis : axes)
    if (!isa<StringAttr>(axis))
      return emitError() << "expected the name of a mesh axis, found " << axis;
  return success();
}

LogicalResult LayoutAttr::verifyEncoding(
    ArrayRef<int64_t> shape, Type,
    llvm::function_ref<InFlightDiagnostic()> emitError) const {
  // layout_c1
  if (getDims().size() != shape.size())
    return emitError() << "expected a list of axes for each of " << shape.size()
                       << " dimensions, found " << getDims().size();
  return success();
}
