//===- Primitives.cpp - The primitives of schedules -----------------------===//
//
// The table of primitives.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/Primitives.h"

#include "llvm/ADT/STLExtras.h"

using namespace ccn::frontend::ast;
using Targets = Primitive::Targets;
using Clause = Primitive::Clause;

static constexpr llvm::StringLiteral splitForms[] = {
    "rs_ag", "reduce_broadcast", "hierarchical"};
static constexpr llvm::StringLiteral protocols[] = {"simple", "ll", "lamport",
                                                    "push"};
static constexpr int64_t chunkCounts[] = {1, 2, 4, 8, 16};
static constexpr int64_t smCounts[] = {4, 8, 16, 32, 64};
static constexpr int64_t bucketSizes[] = {1 << 20, 1 << 22, 1 << 24, 1 << 26};

static constexpr Primitive primitives[] = {
    {.name = "split",
     .targets = Targets::One,
     .clause = Clause::Word,
     .keyword = "as",
     .isOptional = true,
     .numResults = 2,
     .largerWord = "hierarchical",
     .words = splitForms,
     .attribute = "form"},
    {.name = "reorder",
     .targets = Targets::One,
     .clause = Clause::Names,
     .keyword = "after",
     .numResults = 2},
    {.name = "slice_state", .targets = Targets::InoutArguments},
    {.name = "fuse", .targets = Targets::List, .numResults = 1},
    {.name = "recompute",
     .targets = Targets::One,
     .clause = Clause::Names,
     .keyword = "at",
     .numResults = 1},
    {.name = "overlap",
     .targets = Targets::List,
     .clause = Clause::Number,
     .keyword = "chunks",
     .isOptional = true,
     .numResults = 1,
     .what = "number of chunks",
     .options = chunkCounts,
     // The same as for transform scripts (defaultChunks in
     // lib/Transforms/Rewrites.h).
     .number = 4},
    {.name = "algorithm",
     .targets = Targets::One,
     .clause = Clause::Algorithm,
     .keyword = "="},
    {.name = "protocol",
     .targets = Targets::One,
     .clause = Clause::Choice,
     .keyword = "=",
     .words = protocols},
    {.name = "sms",
     .targets = Targets::One,
     .clause = Clause::Number,
     .keyword = "=",
     .what = "number of SMs",
     .options = smCounts},
    {.name = "bucket",
     .targets = Targets::List,
     .clause = Clause::Number,
     .keyword = "size",
     .numResults = 1,
     .what = "size of a bucket",
     .options = bucketSizes},
    {.name = "order", .targets = Targets::List},
};

llvm::ArrayRef<Primitive> ccn::frontend::ast::getPrimitives() {
  return primitives;
}

const Primitive *ccn::frontend::ast::findPrimitive(llvm::StringRef name) {
  const auto *found = llvm::find_if(
      primitives, [&](const Primitive &p) { return p.name == name; });
  return found == std::end(primitives) ? nullptr : found;
}
