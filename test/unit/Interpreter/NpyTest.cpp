//===- NpyTest.cpp - .npy files -------------------------------------------===//
//
// Round trips and every way in which a file can be wrong. Exchange with NumPy
// itself is in npy_interop.py.
//
//===----------------------------------------------------------------------===//

#include "runtime/tensor/NpyTensor.h"

#include "TestUtil.h"

#include <dirent.h>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

using namespace ccn;
using namespace ccn::interp;

namespace {

using enum ElementType;

class NpyTest : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/ccn-npy-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder = pattern;
  }
  void TearDown() override {
    for (const std::string &file : files())
      std::remove((folder + "/" + file).c_str());
    rmdir(folder.c_str());
  }

  std::string path(const std::string &file = "a.npy") const {
    return folder + "/" + file;
  }

  std::vector<std::string> files() const {
    std::vector<std::string> names;
    DIR *dir = opendir(folder.c_str());
    while (dirent *entry = readdir(dir))
      if (entry->d_name[0] != '.')
        names.push_back(entry->d_name);
    closedir(dir);
    return names;
  }

  /// A file of version 1 with the given header and elements.
  std::string make(const std::string &header, size_t bytes,
                   int major = 1) const {
    std::string text = "\x93NUMPY";
    text += char(major);
    text += '\0';
    for (int i = 0; i < (major == 1 ? 2 : 4); ++i)
      text += char(header.size() >> (8 * i));
    text += header;
    for (size_t i = 0; i < bytes; ++i)
      text += char(i);
    write(text);
    return path();
  }

  void write(const std::string &text) const {
    std::ofstream(path(), std::ios::binary) << text;
  }

  std::string read() const {
    std::ifstream in(path(), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }

  std::string folder;
};

TEST_F(NpyTest, RoundTripsEveryTypeAndShape) {
  for (ElementType type : allElementTypes)
    for (const Shape &shape :
         {Shape{}, Shape{1}, Shape{7}, Shape{0}, Shape{2, 3}, Shape{0, 5},
          Shape{2, 1, 3, 1, 2}}) {
      HostTensor x = randomTensor(type, shape, 1);
      Status saved = saveNpy(path(), x);
      ASSERT_TRUE(saved.ok()) << saved.message();
      EXPECT_TRUE(same(get(loadNpy(path(), type, shape)), x)) << x.describe();
      // Elements begin at a multiple of 64 bytes.
      EXPECT_EQ((read().size() - size_t(x.byteCount())) % 64, 0u);
    }
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(NpyTest, LongHeadersUseVersion2) {
  Shape shape(30000, 1);
  HostTensor x = get(HostTensor::splat(F32, shape, 5));
  ASSERT_TRUE(saveNpy(path(), x).ok());
  EXPECT_EQ(read()[6], 2);
  EXPECT_TRUE(same(get(loadNpy(path(), F32, shape)), x));
}

TEST_F(NpyTest, ReadsEveryVersionAndSpelling) {
  const char *headers[] = {
      "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }          \n",
      "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3)}",
      "{\"shape\":(2,3,),\"fortran_order\":False,\"descr\":\"<i4\"}",
      " { 'shape' : ( 2L , 3L ) , 'descr' : '<i4' , 'fortran_order' : False } ",
  };
  for (const char *header : headers)
    for (int major : {1, 2, 3}) {
      make(header, 24, major);
      HostTensor x = get(loadNpy(path(), I32, {2, 3}));
      EXPECT_EQ(x.integerAt(1), 0x07060504) << header;
    }
  make("{'descr': '<V2', 'fortran_order': False, 'shape': (3,)}", 6);
  EXPECT_TRUE(loadNpy(path(), BF16, {3}).ok());
  make("{'descr': '<u1', 'fortran_order': False, 'shape': ()}", 1);
  EXPECT_TRUE(loadNpy(path(), U8, {}).ok());
  make("{'descr': '|b1', 'fortran_order': False, 'shape': (3,)}", 3);
  EXPECT_EQ(integers(get(loadNpy(path(), Bool, {3}))),
            (std::vector<int64_t>{0, 1, 1}));
}

TEST_F(NpyTest, TransposesFortranOrder) {
  make("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 4)}", 24);
  HostTensor x = get(loadNpy(path(), U8, {2, 3, 4}));
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t j = 0; j < 3; ++j)
      for (int64_t k = 0; k < 4; ++k)
        EXPECT_EQ(x.integerAt((i * 3 + j) * 4 + k), i + 2 * j + 6 * k);
  make("{'descr': '|u1', 'fortran_order': True, 'shape': (0, 3)}", 0);
  EXPECT_TRUE(loadNpy(path(), U8, {0, 3}).ok());
  make("{'descr': '|u1', 'fortran_order': True, 'shape': ()}", 1);
  EXPECT_TRUE(loadNpy(path(), U8, {}).ok());
}

TEST_F(NpyTest, WrongTypeOrShape) {
  ASSERT_TRUE(saveNpy(path(), iota(F32, {2, 3})).ok());
  expectError(loadNpy(path(), F64, {2, 3}), path(), "expected f64", "'<f8'",
              "found '<f4'");
  expectError(loadNpy(path(), F32, {3, 2}), path(),
              "expected f32[3, 2], found f32[2, 3]");
  expectError(loadNpy(path(), F32, {6}), "expected f32[6]");
  expectError(loadNpy(path(), BF16, {2, 3}), "expected bf16", "'|V2'");
  ASSERT_TRUE(saveNpy(path(), iota(F8E4M3, {2})).ok());
  // Both 8-bit floats are raw bytes.
  EXPECT_TRUE(loadNpy(path(), F8E5M2, {2}).ok());
}

TEST_F(NpyTest, WrongHeaders) {
  const std::string good =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}";
  auto with = [](const std::string &descr, const std::string &order,
                 const std::string &shape) {
    return "{'descr': " + descr + ", 'fortran_order': " + order +
           ", 'shape': " + shape + "}";
  };
  const std::pair<std::string, std::string> cases[] = {
      {"", "expected a dictionary in the header, found its end"},
      {"[]", "expected a dictionary in the header, found '[]'"},
      {"{", "expected a key in quotes"},
      {"{}", "no key 'descr'"},
      {"{'descr'", "expected ':'"},
      {"{'descr", "expected a key in quotes"},
      {"{'descr': '<f4', 'shape': (2,)}", "no key 'fortran_order'"},
      {"{'descr': '<f4', 'fortran_order': False}", "no key 'shape'"},
      {"{'descr': '<f4' 'fortran_order': False}", "expected ',' or '}'"},
      {"{'descr': '<f4', 'descr': '<f4'}", "two keys 'descr'"},
      {"{'shape': (), 'shape': ()}", "two keys 'shape'"},
      {"{'fortran_order': True, 'fortran_order': True}",
       "two keys 'fortran_order'"},
      {"{'kind': 3}", "found 'kind'"},
      {good + "x", "expected the end of the header"},
      {with("'<f4'", "0", "(2,)"), "expected True or False"},
      {with("'<f4'", "False", "2"), "expected a tuple for 'shape'"},
      {with("'<f4'", "False", "(2)"), "the number 2 in parentheses"},
      {with("'<f4'", "False", "(2 3)"), "expected ',' or ')'"},
      {with("'<f4'", "False", "(,)"), "expected a size"},
      {with("'<f4'", "False", "(2.0,)"), "expected ',' or ')'"},
      {with("'<f4'", "False", "('2',)"), "expected a size"},
      {with("'<f4'", "False", "(-2,)"), "at least 0, found -2"},
      {with("'<f4'", "False", "(99999999999999999999,)"),
       "does not fit 64 bits"},
      {with("'<f4'", "False", "(9223372036854775807, 2)"), "too large"},
      {with("'<f4'", "False", "(0, 4611686018427387904, 4)"), "too large"},
      {with("'<f4'", "False", "(2,"), "expected a size"},
      {with("'>f4'", "False", "(2,)"), "big-endian"},
      {with("'|f4'", "False", "(2,)"), "byte order is missing"},
      {with("'=f4'", "False", "(2,)"), "'=f4'"},
      {with("'f4'", "False", "(2,)"), "'f4'"},
      {with("'|O'", "False", "(2,)"), "Python objects"},
      {with("'<c8'", "False", "(2,)"), "'<c8'"},
      {with("'<U4'", "False", "(2,)"), "'<U4'"},
      {with("'|S4'", "False", "(2,)"), "'|S4'"},
      {with("'<M8[ns]'", "False", "(2,)"), "'<M8[ns]'"},
      {with("'<f16'", "False", "(2,)"), "'<f16'"},
      {with("'<f3'", "False", "(2,)"), "'<f3'"},
      {with("'|V4'", "False", "(2,)"), "'|V4'"},
      {with("'|b2'", "False", "(2,)"), "'|b2'"},
      {with("'<'", "False", "(2,)"), "'<'"},
      {with("''", "False", "(2,)"), "''"},
      {with("[('a', '<f4')]", "False", "(2,)"), "structured"},
      {with("('<f4', (2,))", "False", "(2,)"), "structured"},
      {with("3", "False", "(2,)"), "in quotes for 'descr'"},
      {std::string("{\0}", 3), "\\x00"},
  };
  for (const auto &[header, message] : cases) {
    make(header, 8);
    auto result = loadNpy(path(), F32, {2});
    SCOPED_TRACE(header);
    expectError(result, path(), message);
  }
  make(good, 8);
  EXPECT_TRUE(loadNpy(path(), F32, {2}).ok());
}

TEST_F(NpyTest, WrongBytes) {
  write("");
  expectError(loadNpy(path(), F32, {}), "not a .npy file", "found ''");
  write("PK\x03\x04 and so on");
  expectError(loadNpy(path(), F32, {}),
              "not a .npy file: expected it to begin with '\\x93NUMPY', found "
              "'PK\\x03\\x04 a'");
  const std::string good =
      make("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 8);
  std::string bytes = read();
  // Every truncation is an error, none a crash.
  for (size_t size = 0; size < bytes.size(); ++size) {
    write(bytes.substr(0, size));
    expectError(loadNpy(path(), F32, {2}), path());
  }
  write(bytes.substr(0, 9));
  expectError(loadNpy(path(), F32, {2}),
              "truncated: expected at least 10 bytes, found 9");
  write(bytes.substr(0, 30));
  expectError(loadNpy(path(), F32, {2}),
              "truncated: expected a header of 55 bytes, found 20");
  write(bytes.substr(0, bytes.size() - 1));
  expectError(
      loadNpy(path(), F32, {2}),
      "truncated: expected 8 bytes for <f4 elements of shape (2,), found 7");
  write(bytes + "x");
  expectError(loadNpy(path(), F32, {2}), "too long: expected 8 bytes",
              "found 9");
  for (auto [major, minor] :
       {std::pair(0, 0), std::pair(4, 0), std::pair(1, 1)}) {
    std::string other = bytes;
    other[6] = char(major);
    other[7] = char(minor);
    write(other);
    expectError(loadNpy(path(), F32, {2}),
                "version 1.0, 2.0 or 3.0, found " + std::to_string(major));
  }
  // A header that claims four gigabytes.
  write(std::string("\x93NUMPY\x02\0\xff\xff\xff\xff{", 13));
  expectError(loadNpy(path(), F32, {2}), "header of at most", "4294967295");
  // A shape that claims far more than there is.
  make("{'descr': '<f8', 'fortran_order': True, 'shape': (1000000, 1000000)}",
       8);
  expectError(loadNpy(path(), F64, {1000000, 1000000}), "truncated",
              "8000000000000");
}

TEST_F(NpyTest, RandomDamageNeverCrashes) {
  make("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 24);
  std::string bytes = read();
  std::mt19937_64 random(1);
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = bytes;
    for (uint64_t n = random() % 3 + 1; n; --n)
      damaged[random() % damaged.size()] = char(random());
    write(damaged);
    auto result = NpyFile::open(path());
    if (result.ok()) {
      std::vector<char> data(size_t(result->byteCount()));
      EXPECT_TRUE(result->read(data.data()).ok());
    } else {
      EXPECT_NE(result.message().find(path()), std::string::npos);
    }
  }
}

TEST_F(NpyTest, NotAFile) {
  expectError(loadNpy(path("none.npy"), F32, {}), "none.npy", "cannot open",
              "No such file");
  expectError(loadNpy(folder, F32, {}), folder, "found a directory");
  expectError(loadNpy("/dev/null", F32, {}), "special file");
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  expectError(loadNpy(path("pipe"), F32, {}), "special file");
  expectError(saveNpy(path("pipe"), HostTensor()), "special file");
  expectError(saveNpy(folder, HostTensor()), "found a directory");
  expectError(saveNpy("/dev/null", HostTensor()), "special file");
  expectError(saveNpy(path("no/such/folder.npy"), HostTensor()),
              "cannot create", "No such file");
  expectError(writeNpy(path(), {'c', 8}, {}, nullptr), "'" + path() + "'",
              "<c8");
  expectError(writeNpy(path(), {'f', 4}, {-1}, nullptr), "(-1,)");
  EXPECT_EQ(files(), std::vector<std::string>{"pipe"});
}

TEST_F(NpyTest, ReplacesOnlyWhenComplete) {
  ASSERT_TRUE(saveNpy(path(), iota(I32, {3})).ok());
  ASSERT_EQ(chmod(path().c_str(), 0640), 0);
  // Writing from memory that cannot be read fails with EFAULT.
  long page = sysconf(_SC_PAGESIZE);
  expectError(writeNpy(path(), {'u', 1}, {page}, reinterpret_cast<void *>(8)),
              path(), "cannot write");
  EXPECT_TRUE(same(get(loadNpy(path(), I32, {3})), iota(I32, {3})));
  EXPECT_EQ(files().size(), 1u);
  ASSERT_TRUE(saveNpy(path(), iota(F32, {2})).ok());
  EXPECT_TRUE(same(get(loadNpy(path(), F32, {2})), iota(F32, {2})));
  struct stat info;
  ASSERT_EQ(stat(path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
}

TEST_F(NpyTest, FollowsSymbolicLinks) {
  ASSERT_TRUE(saveNpy(path(), iota(I32, {3})).ok());
  ASSERT_EQ(symlink("a.npy", path("link").c_str()), 0);
  ASSERT_TRUE(saveNpy(path("link"), iota(I32, {4})).ok());
  EXPECT_TRUE(loadNpy(path(), I32, {4}).ok());
  struct stat info;
  ASSERT_EQ(lstat(path("link").c_str(), &info), 0);
  EXPECT_TRUE(S_ISLNK(info.st_mode));
  ASSERT_EQ(symlink("gone.npy", path("dangling").c_str()), 0);
  expectError(saveNpy(path("dangling"), HostTensor()), "symbolic link");
}

TEST_F(NpyTest, FileIsMovableAndReadTwice) {
  ASSERT_TRUE(saveNpy(path(), iota(I32, {3})).ok());
  NpyFile file = *NpyFile::open(path());
  NpyFile moved = std::move(file);
  int32_t data[3] = {};
  for (int i = 0; i < 2; ++i) {
    std::fill(data, data + 3, -1);
    ASSERT_TRUE(moved.read(data).ok());
    EXPECT_EQ(data[2], 2);
  }
  EXPECT_EQ(moved.type().descr(), "<i4");
}

TEST_F(NpyTest, NoticesAFileThatShrinks) {
  ASSERT_TRUE(saveNpy(path(), iota(I32, {3})).ok());
  NpyFile file = *NpyFile::open(path());
  ASSERT_EQ(truncate(path().c_str(), 130), 0);
  int32_t data[3];
  expectError(file.read(data), path(), "expected 12 bytes, found 2");
}

} // namespace
