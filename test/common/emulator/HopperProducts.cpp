//===- HopperProducts.cpp - Products of warpgroups on the CPU -------------===//
//
// A thread's registers of sums are its array. While products are in progress
// their values are here, and the array has a pattern that shows who touches it.
//
//===----------------------------------------------------------------------===//

#include "test/common/emulator/Hopper.h"

#include <algorithm>
#include <bit>
#include <cstring>

using namespace ccn::emulator;

static constexpr int rows = 64, depthBytes = 32;
/// Not a number, and not one that arithmetic makes.
static constexpr uint32_t inUse = 0x7fc5a5a5;

/// Where the sum `number` of a thread is among all.
size_t Warpgroup::place(int thread, int number, int columns) {
  int row = 16 * (thread / 32) + thread % 32 / 4 + 8 * (number / 2 % 2);
  int column = 8 * (number / 4) + 2 * (thread % 4) + number % 2;
  return index(row * columns + column);
}

static bool isSame(const ProductCall &a, const ProductCall &b) {
  return a.a == b.a && a.b == b.b && a.adds == b.adds &&
         a.columns == b.columns && a.isATransposed == b.isATransposed &&
         a.isBTransposed == b.isBTransposed && a.type.bytes == b.type.bytes &&
         !a.packed == !b.packed;
}

/// The sums in these registers, which are not the thread's until it gets them
/// back.
Warpgroup::Sums *Warpgroup::sumsOf(int thread, float *registers,
                                   Product &product) {
  size_t t = index(thread);
  Sums *sums = product.sums;
  for (Sums &other : allSums)
    if (other.registers[t] == registers) {
      if (sums && sums != &other)
        endWith("threads of a warpgroup multiply into different registers");
      return &other;
    }
  if (!sums) {
    sums = &allSums.emplace_back();
    sums->columns = product.call.columns;
    sums->values.resize(index(rows * sums->columns));
  }
  if (sums->registers[t])
    endWith("threads of a warpgroup multiply into different registers");
  if (!own[t].isFenced)
    endWith("a product begins without beginProducts after its sums were "
            "touched");
  sums->registers[t] = registers;
  ++own[t].registers;
  for (int i = 0; i < sums->columns / 2; ++i) {
    sums->values[place(thread, i, sums->columns)] = registers[i];
    registers[i] = std::bit_cast<float>(inUse);
  }
  return sums;
}

bool Warpgroup::begin(int thread, float *registers, const ProductCall &call) {
  Own &mine = own[index(thread)];
  auto number = static_cast<size_t>(mine.begun++);
  if (number == products.size())
    products.push_back({call});
  Product &product = products[number];
  if (!isSame(product.call, call))
    endWith("threads of a warpgroup begin different products");
  product.sums = sumsOf(thread, registers, product);
  if (product.sums->columns != call.columns)
    endWith("products of different shapes have the same sums");
  product.sums->last[index(thread)] = mine.begun;
  if (call.packed) {
    if (!mine.isFenced)
      endWith("a product begins without beginProducts after its operand in "
              "registers was touched");
    product.packed[index(thread)] = call.packed;
    std::copy_n(call.packed, 4, product.had[index(thread)].begin());
  }
  return ++product.begun == threads;
}

void Warpgroup::commit(int thread) {
  Own &mine = own[index(thread)];
  mine.groups.push_back(mine.begun);
}

/// How many products are done when all but the last `left` groups are.
int64_t Warpgroup::endOf(int thread, int left) const {
  const std::vector<int64_t> &groups = own[index(thread)].groups;
  auto count = static_cast<int>(groups.size());
  return left < count ? groups[index(count - 1 - left)] : 0;
}

bool Warpgroup::canMultiply() const {
  return done < static_cast<int64_t>(products.size()) &&
         products[static_cast<size_t>(done)].begun == threads;
}

bool Warpgroup::canFinish(int thread, int left) const {
  for (int64_t i = done; i < endOf(thread, left); ++i)
    if (products[static_cast<size_t>(i)].begun < threads)
      return false;
  return true;
}

void Warpgroup::finish(int thread, int left) {
  while (done < endOf(thread, left))
    multiply();
  giveBack(thread, endOf(thread, left));
}

void Warpgroup::giveBack(int thread, int64_t end) {
  size_t t = index(thread);
  for (Sums &sums : allSums) {
    float *registers = sums.registers[t];
    if (!registers || sums.last[t] > end)
      continue;
    for (int i = 0; i < sums.columns / 2; ++i) {
      if (std::bit_cast<uint32_t>(registers[i]) != inUse)
        endWith("sums are touched before their products were waited for");
      registers[i] = sums.values[place(thread, i, sums.columns)];
    }
    sums.registers[t] = nullptr;
    --own[t].registers;
    own[t].isFenced = false;
  }
  allSums.remove_if([](const Sums &sums) {
    return std::all_of(sums.registers.begin(), sums.registers.end(),
                       [](float *registers) { return !registers; });
  });
}

/// An operand of `lines` rows or columns, which are elements of `to` one after
/// the other for each k.
static void fetch(const SharedMemory &memory, unsigned long long descriptor,
                  bool isTransposed, const OperandType &type, int lines,
                  float *to) {
  auto field = [&](int bit) { return (descriptor >> bit & 0x3fff) << 4; };
  size_t start = field(0), leading = field(16), stride = field(32);
  if (descriptor >> 62 != 1)
    endWith("an operand of a product is not swizzled by 128 bytes");
  if ((start >> 7 & 7) != 0)
    endWith("an operand of a product does not begin at a multiple of 1024 "
            "bytes, or 32, 64 or 96 bytes further");
  int depth = depthBytes / type.bytes;
  for (int line = 0; line < lines; ++line)
    for (int k = 0; k < depth; ++k) {
      // Rows of 128 bytes: of a line's k, or of a k's lines.
      int row = isTransposed ? k : line, across = isTransposed ? line : k;
      size_t at = start + static_cast<size_t>(row / 8) * stride +
                  static_cast<size_t>(row % 8) * 128;
      int perRow = 128 / type.bytes;
      if (isTransposed)
        at += static_cast<size_t>(across / perRow) * leading +
              static_cast<size_t>(across % perRow * type.bytes);
      else
        at += static_cast<size_t>(across * type.bytes);
      const char *from =
          memory.ofCopies(swizzled(at, 128), static_cast<size_t>(type.bytes));
      unsigned bits = 0;
      std::memcpy(&bits, from, static_cast<size_t>(type.bytes));
      to[k * lines + line] = type.decode(bits);
    }
}

void Warpgroup::fetchPacked(const Product &product, float *to) {
  for (int thread = 0; thread < threads; ++thread)
    for (int i = 0; i < 4; ++i) {
      // Of the pairs, those of 8 further rows come before those of 8 further k.
      unsigned pair = product.packed[index(thread)][i];
      if (pair != product.had[index(thread)][index(i)])
        endWith("an operand in registers is touched before its product was "
                "waited for");
      int row = 16 * (thread / 32) + thread % 32 / 4 + 8 * (i % 2),
          k = 2 * (thread % 4) + 8 * (i / 2);
      for (int e = 0; e < 2; ++e)
        to[(k + e) * rows + row] =
            product.call.type.decode(pair >> 16 * e & 0xffff);
    }
}

void Warpgroup::multiply() {
  Product &product = products[static_cast<size_t>(done++)];
  const ProductCall &call = product.call;
  int columns = call.columns, depth = depthBytes / call.type.bytes;
  std::vector<float> a(index(rows * depth)), b(index(columns * depth));
  if (call.packed)
    fetchPacked(product, a.data());
  else
    fetch(memory, call.a, call.isATransposed, call.type, rows, a.data());
  fetch(memory, call.b, call.isBTransposed, call.type, columns, b.data());
  std::vector<float> &values = product.sums->values;
  if (!call.adds)
    std::fill(values.begin(), values.end(), 0.0f);
  // Sums are in the order of k.
  for (int row = 0; row < rows; ++row) {
    float *sums = values.data() + row * columns;
    for (int k = 0; k < depth; ++k) {
      float left = a[index(k * rows + row)];
      const float *right = b.data() + k * columns;
      for (int column = 0; column < columns; ++column)
        sums[column] += left * right[column];
    }
  }
}
