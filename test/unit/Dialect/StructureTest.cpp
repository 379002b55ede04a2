//===- StructureTest.cpp - Mesh and program -------------------------------===//
//
// Ranks and their coordinates and groups; what a program knows of its
// arguments.
//
//===----------------------------------------------------------------------===//

#include "TestUtil.h"

using namespace mlir;
using namespace ccn;
using namespace ccn::test;

namespace {

using MeshTest = DialectTest;

TEST_F(MeshTest, AxesAndRanks) {
  auto module = parse(R"(ccn.mesh @m ["a" = 2, "b" = 3, "c" = 4])");
  auto op = first<MeshOp>(*module);
  EXPECT_EQ(op.getNumRanks(), 24);
  EXPECT_EQ(op.getAxisIndex("a"), 0u);
  EXPECT_EQ(op.getAxisIndex("c"), 2u);
  EXPECT_EQ(op.getAxisIndex("d"), std::nullopt);
  EXPECT_EQ(op.getAxisSize("b"), 3);
  EXPECT_EQ(getMesh(*module), op);
  EXPECT_EQ(getMesh(op), op);
}

TEST_F(MeshTest, TheLastAxisIsFastest) {
  auto module = parse(R"(ccn.mesh @m ["a" = 2, "b" = 3, "c" = 4])");
  auto op = first<MeshOp>(*module);
  EXPECT_EQ(op.getCoordinates(0), (SmallVector<int64_t>{0, 0, 0}));
  EXPECT_EQ(op.getCoordinates(1), (SmallVector<int64_t>{0, 0, 1}));
  EXPECT_EQ(op.getCoordinates(4), (SmallVector<int64_t>{0, 1, 0}));
  EXPECT_EQ(op.getCoordinates(12), (SmallVector<int64_t>{1, 0, 0}));
  EXPECT_EQ(op.getCoordinates(23), (SmallVector<int64_t>{1, 2, 3}));
}

TEST_F(MeshTest, GroupsDifferAlongTheirAxesOnly) {
  auto module = parse(R"(ccn.mesh @m ["a" = 2, "b" = 3, "c" = 4])");
  auto op = first<MeshOp>(*module);
  SmallVector<SmallVector<StringAttr>> choices = {
      {},
      {axis("a")},
      {axis("b")},
      {axis("c")},
      {axis("a"), axis("b")},
      {axis("b"), axis("a")},
      {axis("c"), axis("a")},
      {axis("a"), axis("b"), axis("c")},
      {axis("c"), axis("b"), axis("a")}};
  for (ArrayRef<StringAttr> axes : choices) {
    int64_t size = 1;
    for (StringAttr name : axes)
      size *= op.getAxisSize(name);
    for (int64_t rank = 0; rank < op.getNumRanks(); ++rank) {
      SmallVector<int64_t> group = op.getGroup(rank, axes);
      EXPECT_EQ(static_cast<int64_t>(group.size()), size);
      EXPECT_TRUE(llvm::is_contained(group, rank));
      SmallVector<int64_t> at = op.getCoordinates(rank);
      for (auto [position, member] : llvm::enumerate(group)) {
        // Member `position` has the coordinates of that number, the last of the
        // axes fastest, and on all other axes those of `rank`.
        SmallVector<int64_t> expected = at;
        int64_t rest = position;
        for (StringAttr name : llvm::reverse(axes)) {
          expected[*op.getAxisIndex(name)] = rest % op.getAxisSize(name);
          rest /= op.getAxisSize(name);
        }
        EXPECT_EQ(op.getCoordinates(member), expected);
        // The group is the same for each of its members.
        EXPECT_EQ(op.getGroup(member, axes), group);
      }
    }
  }
}

TEST_F(MeshTest, NestedModulesHaveTheirOwn) {
  auto module = parse(R"(
    ccn.mesh @m ["a" = 2]
    module {
      ccn.mesh @n ["a" = 3]
      ccn.program @p() { ccn.return }
    }
    module {
      ccn.program @q() { ccn.return }
    }
  )");
  SmallVector<ProgramOp> programs;
  module->walk([&](ProgramOp op) { programs.push_back(op); });
  ASSERT_EQ(programs.size(), 2u);
  EXPECT_EQ(programs[0].getMesh().getSymName(), "n");
  EXPECT_FALSE(programs[1].getMesh());
}

using ProgramTest = DialectTest;

TEST_F(ProgramTest, Accessors) {
  auto module = parse(R"(
    ccn.mesh @m ["a" = 2]
    ccn.program @p(%x: tensor<8xf32> {ccn.name = "x", ccn.scattered},
                   %y: tensor<8xf32> {ccn.name = "y", ccn.inout},
                   %z: tensor<f32> {ccn.name = "z", ccn.inout})
        -> (tensor<8xf32> {ccn.name = "r"}) {
      %0 = ccn.update %y with %x : tensor<8xf32>
      %1 = ccn.neg %0 : (tensor<8xf32>) -> tensor<8xf32>
      %2 = ccn.update %0 with %y : tensor<8xf32>
      ccn.return %1 : tensor<8xf32>
    }
  )");
  auto program = first<ProgramOp>(*module);
  EXPECT_EQ(program.getMesh(), first<MeshOp>(*module));
  EXPECT_EQ(program.getArgName(0), "x");
  EXPECT_EQ(program.getArgName(2), "z");
  EXPECT_EQ(program.getResultName(0), "r");
  EXPECT_FALSE(program.isInout(0));
  EXPECT_TRUE(program.isInout(1));
  EXPECT_TRUE(program.isScattered(0));
  EXPECT_FALSE(program.isScattered(1));
  EXPECT_EQ(program.getArgumentTypes().size(), 3u);
  EXPECT_EQ(program.getResultTypes().size(), 1u);
  // An argument without updates ends as it began; an update may read what an
  // earlier one replaced.
  EXPECT_EQ(program.getFinalValue(0), program.getArgument(0));
  EXPECT_EQ(program.getFinalValue(2), program.getArgument(2));
  UpdateOp last;
  program.walk([&](UpdateOp op) { last = op; });
  EXPECT_EQ(program.getFinalValue(1), last.getResult());
}

TEST_F(ProgramTest, Builder) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  OpBuilder b = OpBuilder::atBlockEnd(module->getBody());
  RankedTensorType tensor = type("8xf32");
  auto program = ProgramOp::create(b, b.getUnknownLoc(), b.getStringAttr("p"),
                                   b.getFunctionType({tensor}, {}));
  Block &block = program.getBody().emplaceBlock();
  block.addArgument(tensor, b.getUnknownLoc());
  program.setArgAttr(0, kNameAttr, b.getStringAttr("x"));
  b.setInsertionPointToEnd(&block);
  ReturnOp::create(b, b.getUnknownLoc(), ValueRange());
  EXPECT_TRUE(succeeded(verify(*module)));
  EXPECT_EQ(program.getArgName(0), "x");
}

} // namespace
