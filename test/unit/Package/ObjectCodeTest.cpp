//===- ObjectCodeTest.cpp - Shared objects in memory ----------------------===//

#include "runtime/plan/ObjectCode.h"
#include "SamplePackages.h"

#include <gtest/gtest.h>

#include <cstring>
#include <elf.h>

using namespace ccn;
using namespace ccn::runtime;

namespace {

std::string whyNot(std::string_view bytes) {
  return ObjectCode::load(bytes).message();
}

float addOnce(const ObjectCode &code) {
  LoopFunction add = code.find("add_scaled");
  if (!add)
    return -1;
  float y = 1, scale = 2, x = 3, out = 0;
  void *data[] = {&y, &scale, &x, &out};
  int64_t sizes[] = {1}, strides[] = {1, 1, 1, 1}, status = 0;
  add(sizes, data, strides, &status);
  return out;
}

} // namespace

TEST(ObjectCode, LoadsAndFinds) {
  std::string bytes = sampleObjectCode();
  Result<std::unique_ptr<ObjectCode>> code = ObjectCode::load(bytes);
  ASSERT_TRUE(code.ok()) << code.message();
  EXPECT_EQ(addOnce(**code), 7);
  EXPECT_EQ((*code)->find("no_such_function"), nullptr);
  // What is in the C library is not in the object.
  EXPECT_EQ((*code)->find("nanosleep"), nullptr);
  EXPECT_EQ((*code)->find(""), nullptr);
}

TEST(ObjectCode, EachLoadIsItsOwn) {
  std::string bytes = sampleObjectCode();
  std::vector<std::unique_ptr<ObjectCode>> all;
  for (int i = 0; i < 3; ++i)
    all.push_back(*ObjectCode::load(bytes));
  EXPECT_NE(all[0]->find("add_scaled"), all[1]->find("add_scaled"));
  // A file's number is used again after it is closed.
  all.erase(all.begin());
  all.push_back(*ObjectCode::load(bytes));
  for (const auto &code : all)
    EXPECT_EQ(addOnce(*code), 7);
}

TEST(ObjectCode, EmptyHasNone) {
  Result<std::unique_ptr<ObjectCode>> code = ObjectCode::load("");
  ASSERT_TRUE(code.ok());
  EXPECT_EQ((*code)->find("add_scaled"), nullptr);
}

TEST(ObjectCode, RefusesWhatIsNone) {
  EXPECT_EQ(whyNot("garbage"),
            "expected object code in ELF, found something else");
  std::string bytes = sampleObjectCode();
  auto with = [&](size_t offset, auto value) {
    std::string changed = bytes;
    std::memcpy(changed.data() + offset, &value, sizeof value);
    return whyNot(changed);
  };
  EXPECT_EQ(with(EI_CLASS, uint8_t(ELFCLASS32)),
            "expected object code of 64 bits, little-endian, found another");
  std::string foreign =
      with(offsetof(Elf64_Ehdr, e_machine), uint16_t(EM_RISCV));
  EXPECT_NE(foreign.find("found it for RISC-V"), foreign.npos) << foreign;
  EXPECT_EQ(with(offsetof(Elf64_Ehdr, e_type), uint16_t(ET_REL)),
            "expected a shared object, found ELF of type 1");
  EXPECT_EQ(with(offsetof(Elf64_Ehdr, e_phoff), uint64_t(1) << 60),
            "the object code is truncated");
  EXPECT_EQ(with(offsetof(Elf64_Ehdr, e_phnum), uint16_t(65535)),
            "the object code is truncated");
}

TEST(ObjectCode, RefusesWhatIsCutOff) {
  std::string bytes = sampleObjectCode();
  for (size_t size = 1; size < bytes.size(); size += size < 256 ? 1 : 97)
    EXPECT_NE(whyNot(std::string_view(bytes).substr(0, size)), "") << size;
}
