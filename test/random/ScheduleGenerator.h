//===- ScheduleGenerator.h - Random lines of schedules ----------*- C++ -*-===//
//
// Proposes the next line of a schedule from what the lines before it made of
// the program: mostly lines that are likely to be legal, as those of the
// examples are, and some that are not.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_RANDOM_SCHEDULEGENERATOR_H
#define CCN_TEST_RANDOM_SCHEDULEGENERATOR_H

#include "Random.h"

#include "lib/Transforms/Rewrites.h"

namespace ccn::random {

class ScheduleGenerator {
public:
  /// `schedules` is the folder of the synthesizer's schedules that lines name.
  ScheduleGenerator(Random &random, std::string schedules)
      : random(random), schedules(std::move(schedules)) {}

  std::string next(ProgramOp program);
  /// Tells whether the last line was accepted.
  void tell(bool accepted);

private:
  /// What a name stands for.
  struct Named {
    std::string name;
    OpSet ops;
    /// The operations of the program's block that hold `ops`.
    OpSet tops;
    /// The one operation that communicates, or null.
    mlir::Operation *communicating = nullptr;
    bool isInout = false;
  };
  using Line = std::optional<std::string>;
  using Names = std::vector<std::string>;

  void look(ProgramOp program);
  /// The names that a test holds for.
  std::vector<const Named *>
  where(llvm::function_ref<bool(const Named &)> test) const;
  /// The names of what uses the results of a name, or depends on it.
  std::vector<const Named *> usersOf(const Named &named) const;
  std::vector<const Named *> below(const Named &named) const;
  /// Gives the results of a line names.
  std::string results(const Names &stems);
  std::string anyName();
  Names anyNames(int64_t least, int64_t most);

  Line split();
  Line reorder();
  Line sliceState();
  Line fuse();
  Line overlap();
  Line bucket();
  Line order();
  Line choose();
  /// A line of any primitive, of any names.
  std::string anyLine();
  std::string illegal();
  /// A kernel, or a pipeline, of what the last split and reorder made.
  Line fuseParts();
  Line overlapParts();

  Names sameCollectives();
  std::string chunks();

  Random &random;
  std::string schedules;
  std::vector<Named> names;
  unsigned lines = 0;
  /// What the last line would make, and what the last split and reorder that
  /// were accepted made.
  Names proposed, parts;
};

/// The primitive that a line applies.
std::string primitiveOf(llvm::StringRef line);

} // namespace ccn::random

#endif // CCN_TEST_RANDOM_SCHEDULEGENERATOR_H
