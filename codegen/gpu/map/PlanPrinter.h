//===- PlanPrinter.h - Kernel plans as text ---------------------*- C++ -*-===//
//
// Prints kernel plans for readers and tests: a line for each kernel, part and
// loop. Properties are words of the form name(value) and are left out if they
// have their usual value.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_MAP_PLANPRINTER_H
#define CCN_CODEGEN_GPU_MAP_PLANPRINTER_H

#include "codegen/gpu/map/KernelPlan.h"
#include "codegen/gpu/map/RowsPlan.h"

#include "llvm/Support/raw_ostream.h"

namespace ccn::codegen {

/// Prints " name(value)" if the value is not 0.
inline void printNumber(llvm::raw_ostream &os, llvm::StringRef name,
                        int64_t value) {
  if (value != 0)
    os << ' ' << name << '(' << value << ')';
}
/// Prints " name" if `holds` is true.
inline void printWord(llvm::raw_ostream &os, llvm::StringRef name, bool holds) {
  if (holds)
    os << ' ' << name;
}

void printTeam(llvm::raw_ostream &os, Team team);
/// Prints a loop, without the end of its line; and rows with all their loops.
void printLoop(llvm::raw_ostream &os, const LoopPlan &loop,
               const runtime::Loop &info, unsigned depth);
void printRows(llvm::raw_ostream &os, const RowsPlan &rows, unsigned depth);
/// "0-3, 5"
std::string rangesOf(llvm::ArrayRef<size_t> numbers);
/// Prints a kernel, beginning with its properties.
void printKernel(llvm::raw_ostream &os, const KernelPlan &kernel);
/// Prints a part, with its prefetches and waits.
void printPart(llvm::raw_ostream &os, const PartPlan &part, unsigned depth);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_MAP_PLANPRINTER_H
