//===- SourceTest.cpp - Lines, columns and reading files ------------------===//

#include "TestUtils.h"
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace ccn;
using namespace ccn::frontend;

TEST(SourceTest, LinesAndColumnsCountFromOne) {
  SourceFile file("f", "ab\n\ncd");
  EXPECT_EQ(file.getNumLines(), 3u);
  EXPECT_EQ(file.getLineColumn(0), (LineColumn{1, 1}));
  EXPECT_EQ(file.getLineColumn(2), (LineColumn{1, 3}));
  EXPECT_EQ(file.getLineColumn(3), (LineColumn{2, 1}));
  EXPECT_EQ(file.getLineColumn(4), (LineColumn{3, 1}));
  EXPECT_EQ(file.getLineColumn(6), (LineColumn{3, 3}));
}

TEST(SourceTest, OffsetsPastTheEndAreTheEnd) {
  SourceFile file("f", "ab");
  EXPECT_EQ(file.getLineColumn(100), (LineColumn{1, 3}));
}

TEST(SourceTest, EmptyFileHasOneLine) {
  SourceFile file("f", "");
  EXPECT_EQ(file.getNumLines(), 1u);
  EXPECT_EQ(file.getLineColumn(0), (LineColumn{1, 1}));
  EXPECT_EQ(file.getLine(1), "");
}

TEST(SourceTest, LinesComeWithoutTheirEnds) {
  SourceFile file("f", "ab\r\n\r\nc\rd\n");
  EXPECT_EQ(file.getLine(1), "ab");
  EXPECT_EQ(file.getLine(2), "");
  EXPECT_EQ(file.getLine(3), "c\rd");
  EXPECT_EQ(file.getLine(4), "");
  EXPECT_EQ(file.getLine(5), "");
  EXPECT_EQ(file.getLine(0), "");
}

TEST(SourceTest, ColumnsCountBytes) {
  SourceFile file("f", "\xC3\xA9x");
  EXPECT_EQ(file.getLineColumn(2), (LineColumn{1, 3}));
}

TEST(SourceTest, OffsetOfAPlace) {
  SourceFile file("f", "ab\ncd\n");
  EXPECT_EQ(file.getOffset({2, 2}), 4u);
  EXPECT_EQ(file.getOffset({1, 99}), 2u);
  EXPECT_EQ(file.getOffset({99, 1}), 6u);
  EXPECT_EQ(file.getOffset({0, 0}), 0u);
}

TEST(SourceTest, ReadsAFile) {
  std::string path = testing::TempDir() + "source_test.ccn";
  std::ofstream(path, std::ios::binary) << "mesh m (a = 1)\r\n";
  Diagnostics diagnostics;
  std::unique_ptr<SourceFile> file = readSource(path, diagnostics);
  ASSERT_TRUE(file);
  EXPECT_EQ(file->getText(), "mesh m (a = 1)\r\n");
  EXPECT_EQ(file->getName(), path);
}

TEST(SourceTest, ReportsAFileThatCannotBeRead) {
  Diagnostics diagnostics;
  EXPECT_FALSE(readSource("/does/not/exist.ccn", diagnostics));
  std::string text;
  llvm::raw_string_ostream os(text);
  diagnostics.renderText(os);
  EXPECT_EQ(text, "error: cannot read '/does/not/exist.ccn': No such file or "
                  "directory\n");
}

TEST(SourceTest, DoesNotReadWithoutEnd) {
  // A file that is one hole.
  std::string path = testing::TempDir() + "source_test_hole.ccn";
  std::ofstream(path).close();
  std::filesystem::resize_file(path, uint64_t(1) << 40);
  std::string text;
  Diagnostics diagnostics;
  EXPECT_FALSE(readSource(path, diagnostics));
  llvm::raw_string_ostream os(text);
  diagnostics.renderText(os);
  EXPECT_EQ(text, "error: '" + path + "' is larger than 2 GiB\n");
  std::filesystem::remove(path);
}

TEST(SourceTest, ReportsADirectory) {
  Diagnostics diagnostics;
  EXPECT_FALSE(readSource(testing::TempDir(), diagnostics));
  EXPECT_EQ(diagnostics.getNumErrors(), 1u);
}
