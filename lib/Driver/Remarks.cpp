//===- Remarks.cpp - Shows remarks among diagnostics ----------------------===//
//
// Writes the parts of a remark in one line.
//
//===----------------------------------------------------------------------===//

#include "lib/Driver/Remarks.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace ccn;

namespace {

/// Reports each remark at its place.
class DiagnosticsStreamer : public remark::detail::MLIRRemarkStreamerBase {
public:
  explicit DiagnosticsStreamer(Diagnostics &diagnostics)
      : diagnostics(diagnostics) {}

  void streamOptimizationRemark(const remark::detail::Remark &remark) override;

private:
  Diagnostics &diagnostics;
};

void DiagnosticsStreamer::streamOptimizationRemark(
    const remark::detail::Remark &remark) {
  std::string text;
  llvm::raw_string_ostream os(text);
  switch (remark.getRemarkType()) {
  case llvm::remarks::Type::Passed:
    os << "applied " << remark.getRemarkName() << ": ";
    break;
  case llvm::remarks::Type::Missed:
    os << "missed " << remark.getRemarkName() << ": ";
    break;
  default:
    break;
  }
  for (const remark::detail::Remark::Arg &arg : remark.getArgs()) {
    if (arg.key == "Reason")
      os << ", because " << arg.val;
    else if (arg.key == "Suggestion")
      os << "; " << arg.val;
    else if (arg.key == "Remark")
      os << arg.val;
    else
      os << ", " << arg.key << " " << arg.val;
  }
  if (auto loc = remark.getLocation()->findInstanceOf<FileLineColLoc>())
    diagnostics.report(Severity::Remark, loc.getFilename().getValue(),
                       loc.getLine(), loc.getColumn(), text);
  else
    diagnostics.report(Severity::Remark, text);
}

} // namespace

LogicalResult ccn::enableRemarks(MLIRContext &context,
                                 Diagnostics &diagnostics) {
  remark::RemarkCategories categories;
  categories.passed = categories.missed = categories.analysis = "schedule";
  return remark::enableOptimizationRemarks(
      context, std::make_unique<DiagnosticsStreamer>(diagnostics),
      std::make_unique<remark::RemarkEmittingPolicyAll>(), categories);
}
