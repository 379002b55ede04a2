//===- CollectivesTest.cpp - Collectives against the interpreter ----------===//
//
// Every collective, element type and kind of reduction, with sizes that divide
// the ranks and do not. Reductions are compared with the reference
// interpreter's combine, bit for bit; movements with the index of each element.
//
//===----------------------------------------------------------------------===//

#include "TeamUtil.h"
#include "lib/Interpreter/Reduce.h"
#include "runtime/SliceBounds.h"

#include <cstring>

using namespace ccn;
using namespace ccn::runtime;
using interp::HostTensor;

namespace {

constexpr int64_t heapBytes = 8 << 20;

/// Random elements of `type`, with NaNs, infinities, zeros and all-ones bits.
HostTensor randomTensor(ElementType type, int64_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint8_t> bytes(static_cast<size_t>(count * sizeInBytes(type)));
  for (uint8_t &byte : bytes)
    byte = random() % 8 == 0 ? 0xff : static_cast<uint8_t>(random());
  if (type == ElementType::Bool)
    for (uint8_t &byte : bytes)
      byte &= 1;
  // Moderate values too, or sums of floats would rarely be ordinary.
  HostTensor raw = *HostTensor::fromBytes(type, {count}, bytes.data(),
                                          static_cast<int64_t>(bytes.size()));
  if (!isFloat(type))
    return raw;
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(random() % 4 == 0
                         ? raw.doubleAt(i)
                         : static_cast<double>(random() % 2000) / 64 - 15);
  HostTensor tensor = *HostTensor::fromDoubles(type, {count}, values);
  std::vector<std::byte> data(tensor.data(),
                              tensor.data() + tensor.byteCount());
  int size = sizeInBytes(type);
  for (int64_t i = 3; i < count; i += 17)
    std::memset(&data[static_cast<size_t>(i * size)], 0xff,
                static_cast<size_t>(size));
  return *HostTensor::fromBytes(type, {count}, data.data(), tensor.byteCount());
}

HostTensor expectedSum(ElementType type, ReduceKind kind, int ranks,
                       int64_t count, uint64_t seed) {
  std::vector<HostTensor> inputs;
  for (int rank = 0; rank < ranks; ++rank)
    inputs.push_back(
        randomTensor(type, count, seed + static_cast<uint64_t>(rank)));
  return *interp::combine(kind, inputs);
}

::testing::AssertionResult sameBits(const HostTensor &expected,
                                    const std::vector<uint64_t> &found,
                                    int64_t firstElement = 0) {
  HostTensor tensor =
      *HostTensor::fromBytes(expected.type(), expected.shape(),
                             reinterpret_cast<const std::byte *>(found.data()) +
                                 firstElement * sizeInBytes(expected.type()),
                             expected.byteCount());
  auto at = interp::firstDifference(expected, tensor);
  if (!at)
    return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << "element " << *at << ": expected " << expected.textAt(*at)
         << ", found " << tensor.textAt(*at);
}

std::vector<uint64_t> storage(int64_t bytes) {
  return std::vector<uint64_t>(static_cast<size_t>(bytes) / 8 + 1);
}

bool isDefined(ReduceKind kind, ElementType type) {
  return checkReduction(kind, type, "").ok();
}

constexpr ReduceKind kinds[] = {ReduceKind::Sum, ReduceKind::Prod,
                                ReduceKind::Max, ReduceKind::Min};

} // namespace

class AllReduceTest : public ::testing::TestWithParam<Protocol> {};

TEST_P(AllReduceTest, EqualsTheInterpreterOnAllTypes) {
  for (int ranks : {1, 2, 3, 4})
    for (int64_t count : {0, 1, 3, 37, 2500})
      expectTeam(ranks, heapBytes, [&](RankMemory &memory) {
        for (ElementType type : allElementTypes) {
          if (GetParam() == Protocol::Lamport && isInteger(type))
            continue;
          for (ReduceKind kind : kinds) {
            if (!isDefined(kind, type) ||
                (count == 2500 && kind != kinds[0] && type != ElementType::F16))
              continue;
            auto reduce = makeAllReduce(memory, allRanks(ranks), type, kind,
                                        count, GetParam());
            if (!reduce)
              return reduce.status();
            // More calls than buffers, so that each is used again.
            for (uint64_t call = 0; call < 4; ++call) {
              uint64_t seed = call * 100;
              HostTensor input = randomTensor(
                  type, count, seed + static_cast<uint64_t>(memory.rank()));
              std::vector<uint64_t> out = storage(input.byteCount());
              if (Status status = (*reduce)->run(input.data(), out.data());
                  !status)
                return status;
              EXPECT_TRUE(
                  sameBits(expectedSum(type, kind, ranks, count, seed), out))
                  << name(type) << " " << name(kind) << " count " << count
                  << " ranks " << ranks << " call " << call;
            }
          }
        }
        return Status();
      });
}

INSTANTIATE_TEST_SUITE_P(All, AllReduceTest,
                         ::testing::Values(Protocol::LL, Protocol::Lamport,
                                           Protocol::TwoShot),
                         [](const auto &info) {
                           return info.param == Protocol::LL        ? "LL"
                                  : info.param == Protocol::Lamport ? "Lamport"
                                                                    : "TwoShot";
                         });

TEST(AllReduce, GroupsAlongAxesAndInPlace) {
  // A mesh of 2 x 3: groups along the first axis have two ranks, along the
  // second three, in an order of their own.
  expectTeam(6, heapBytes, [](RankMemory &memory) {
    int row = memory.rank() / 3, column = memory.rank() % 3;
    Group alongFirst{{column, column + 3}};
    Group alongSecond{{3 * row + 2, 3 * row, 3 * row + 1}};
    for (const Group &group : {alongFirst, alongSecond}) {
      auto reduce = makeAllReduce(memory, group, ElementType::I32,
                                  ReduceKind::Sum, 5, Protocol::LL);
      if (!reduce)
        return reduce.status();
      std::vector<int32_t> values(5, 1 << memory.rank());
      if (Status status = (*reduce)->run(values.data(), values.data()); !status)
        return status;
      int32_t expected = 0;
      for (int rank : group.ranks)
        expected |= 1 << rank;
      EXPECT_EQ(values, std::vector<int32_t>(5, expected));
    }
    return Status();
  });
}

TEST(AllReduce, RefusesWhatIsWrong) {
  auto message = [](auto make) {
    auto heap = SymmetricHeap::create(2, heapBytes);
    RankMemory memory(**heap, 0, 0.1);
    return make(memory).message();
  };
  EXPECT_EQ(message([](RankMemory &memory) {
              return makeAllReduce(memory, {{0, 2}}, ElementType::F32,
                                   ReduceKind::Sum, 1, Protocol::LL);
            }),
            "rank 0: all_reduce: expected ranks below 2, found 2");
  EXPECT_EQ(message([](RankMemory &memory) {
              return makeAllReduce(memory, {{0, 0}}, ElementType::F32,
                                   ReduceKind::Sum, 1, Protocol::TwoShot);
            }),
            "rank 0: all_reduce: rank 0 is in the group twice");
  EXPECT_EQ(message([](RankMemory &memory) {
              return makeAllReduce(memory, {{1}}, ElementType::F32,
                                   ReduceKind::Sum, 1, Protocol::TwoShot);
            }),
            "rank 0: all_reduce: rank 0 is not in its group");
  EXPECT_EQ(message([](RankMemory &memory) {
              return makeAllReduce(memory, {{0, 1}}, ElementType::I32,
                                   ReduceKind::Sum, 1, Protocol::Lamport);
            }),
            "rank 0: all_reduce: protocol lamport takes floats and bool, which "
            "have a value to spare, found i32");
  EXPECT_EQ(message([](RankMemory &memory) {
              return makeAllReduce(memory, {{0, 1}}, ElementType::F32,
                                   ReduceKind::Sum, -1, Protocol::LL);
            }),
            "rank 0: all_reduce: expected sizes of at least 0, found -1");
  EXPECT_EQ(message([](RankMemory &memory) {
              return makeBroadcast(memory, {{0, 1}}, ElementType::F32, {4}, 2);
            }),
            "rank 0: broadcast: expected a root from 0 to 1, found 2");
  EXPECT_EQ(message([](RankMemory &memory) {
              return makeAllGather(memory, {{0, 1}}, ElementType::F32, {4},
                                   {1});
            }),
            "rank 0: all_gather: expected a dimension below 1 to cut, found 1");
  auto heap = SymmetricHeap::create(1, heapBytes);
  RankMemory memory(**heap, 0, 1);
  auto reduce = makeAllReduce(memory, {{0}}, ElementType::F32, ReduceKind::Sum,
                              2, Protocol::TwoShot);
  ASSERT_TRUE(reduce.ok());
  float values[3] = {};
  EXPECT_EQ((*reduce)
                ->run(reinterpret_cast<std::byte *>(values) + 1, values)
                .message(),
            "rank 0: all_reduce: the input is not aligned for f32");
}

TEST(ReduceBodyGather, BodySeesSumsOnceAndOutputsReachAll) {
  constexpr int ranks = 3;
  for (int64_t rows : {0, 1, 2, 7, 1000})
    for (int64_t rowSize : {1, 5, 3000}) {
      if (rows * rowSize > 10000)
        continue;
      int64_t count = rows * rowSize;
      expectTeam(ranks, heapBytes, [&](RankMemory &memory) {
        auto fused = makeReduceBodyGather(
            memory, allRanks(ranks), ElementType::F16, ReduceKind::Sum, rows,
            rowSize, {ElementType::F32, ElementType::I64});
        if (!fused)
          return fused.status();
        SliceBounds slice = [&] {
          int64_t n = ranks, own = memory.rank();
          return cutPiece(rows, rows, {&n, 1}, {&own, 1});
        }();
        for (uint64_t call = 0; call < 3; ++call) {
          HostTensor input =
              randomTensor(ElementType::F16, count,
                           10 * call + static_cast<uint64_t>(memory.rank()));
          std::vector<float> doubled(static_cast<size_t>(count));
          std::vector<int64_t> owner(static_cast<size_t>(count), -1);
          int64_t next = slice.offset * rowSize;
          void *outputs[] = {doubled.data(), owner.data()};
          Status status = (*fused)->run(
              input.data(), outputs,
              [&](int64_t first, int64_t n, const std::byte *sums,
                  std::span<std::byte *const> results) {
                EXPECT_EQ(first, next);
                EXPECT_EQ(n % rowSize, 0);
                next += n;
                float values[8192];
                load(ElementType::F16, sums, 0, n, values);
                for (int64_t i = 0; i < n; ++i)
                  reinterpret_cast<float *>(results[0])[i] = 2 * values[i];
                for (int64_t i = 0; i < n; ++i)
                  reinterpret_cast<int64_t *>(results[1])[i] = memory.rank();
              });
          if (!status)
            return status;
          EXPECT_EQ(next, (slice.offset + slice.size) * rowSize);
          HostTensor sums = expectedSum(ElementType::F16, ReduceKind::Sum,
                                        ranks, count, 10 * call);
          int64_t sliceRows = (rows + ranks - 1) / ranks;
          for (int64_t i = 0; i < count; ++i) {
            float expected = 2 * static_cast<float>(sums.doubleAt(i));
            float found = doubled[static_cast<size_t>(i)];
            EXPECT_TRUE(found == expected ||
                        (found != found && expected != expected))
                << i;
            EXPECT_EQ(owner[static_cast<size_t>(i)], i / rowSize / sliceRows);
          }
        }
        return Status();
      });
    }
}

//===----------------------------------------------------------------------===//
// By dimension
//===----------------------------------------------------------------------===//

namespace {

/// The value of an element of the whole tensor: its row-major index.
std::vector<int32_t> valuesOf(const std::vector<int64_t> &shape, const Box &box,
                              int32_t add) {
  std::vector<int32_t> values;
  std::vector<int64_t> index(shape.size());
  for (int64_t i = 0; i < box.count(); ++i) {
    int64_t rest = i, linear = 0;
    for (size_t dim = shape.size(); dim-- > 0;) {
      index[dim] = box.offsets[dim] + rest % box.sizes[dim];
      rest /= box.sizes[dim];
    }
    for (size_t dim = 0; dim < shape.size(); ++dim)
      linear = linear * shape[dim] + index[dim];
    values.push_back(static_cast<int32_t>(linear) + add);
  }
  return values;
}

Box sliceOf(const std::vector<int64_t> &shape, int64_t dim, int64_t ranks,
            int64_t position) {
  Box box = Box::whole(shape);
  auto d = static_cast<size_t>(dim);
  int64_t piece = (shape[d] + ranks - 1) / ranks;
  box.offsets[d] = std::min(shape[d], piece * position);
  box.sizes[d] = std::min(piece, shape[d] - box.offsets[d]);
  return box;
}

/// Runs a collective three times and compares its results.
Status check(Collective &collective, const std::vector<int32_t> &input,
             const std::vector<int32_t> &expected, const std::string &what) {
  for (int call = 0; call < 3; ++call) {
    std::vector<int32_t> in = input, out(expected.size(), -7);
    for (int32_t &value : in)
      value += call;
    if (Status status = collective.run(in.data(), out.data()); !status)
      return status;
    std::vector<int32_t> wanted = expected;
    for (int32_t &value : wanted)
      value += call;
    EXPECT_EQ(out, wanted) << what << " call " << call;
  }
  return Status();
}

} // namespace

TEST(Movement, AllCollectivesOnRaggedShapes) {
  for (int ranks : {1, 2, 3, 4})
    for (const std::vector<int64_t> &shape : std::vector<std::vector<int64_t>>{
             {7}, {4, 6}, {3, 5, 2}, {2, 9, 3}, {5, 0}, {1, 4}})
      expectTeam(ranks, heapBytes, [&](RankMemory &memory) {
        Group group = allRanks(ranks);
        int rank = memory.rank(), root = ranks - 1;
        ElementType type = ElementType::I32;
        auto dims = static_cast<int64_t>(shape.size());
        std::vector<int32_t> whole = valuesOf(shape, Box::whole(shape), 0);
        for (int64_t dim = 0; dim < dims; ++dim) {
          std::vector<int32_t> slice =
              valuesOf(shape, sliceOf(shape, dim, ranks, rank), 0);
          auto gather = makeAllGather(memory, group, type, shape, {dim});
          if (!gather)
            return gather.status();
          if (Status s = check(**gather, slice, whole, "all_gather"); !s)
            return s;
          for (int64_t to = 0; to < dims; ++to) {
            auto exchange =
                makeAllToAll(memory, group, type, shape, {dim}, {to});
            if (!exchange)
              return exchange.status();
            if (Status s =
                    check(**exchange, slice,
                          valuesOf(shape, sliceOf(shape, to, ranks, rank), 0),
                          "all_to_all");
                !s)
              return s;
          }
          auto toRoot = makeGather(memory, group, type, shape, {dim}, root);
          if (!toRoot)
            return toRoot.status();
          std::vector<int32_t> in = slice, out(whole.size(), -7);
          if (Status s = (*toRoot)->run(in.data(), out.data()); !s)
            return s;
          EXPECT_EQ(out, rank == root ? whole
                                      : std::vector<int32_t>(whole.size(), 0));
          auto scatter = makeScatter(memory, group, type, shape, {dim}, root);
          if (!scatter)
            return scatter.status();
          // Only the root's input counts.
          std::vector<int32_t> given = whole;
          if (rank != root)
            given.assign(whole.size(), 999);
          if (Status s = check(**scatter, given, slice, "scatter"); !s)
            return s;
          auto reduce = makeReduceScatter(memory, group, type, ReduceKind::Sum,
                                          shape, {dim});
          if (!reduce)
            return reduce.status();
          std::vector<int32_t> sums = slice;
          for (int32_t &value : sums)
            value = value * ranks + ranks * (ranks - 1) / 2;
          std::vector<int32_t> sumOut(sums.size());
          std::vector<int32_t> addend =
              valuesOf(shape, Box::whole(shape), rank);
          for (int call = 0; call < 3; ++call) {
            if (Status s = (*reduce)->run(addend.data(), sumOut.data()); !s)
              return s;
            EXPECT_EQ(sumOut, sums) << "reduce_scatter";
          }
        }
        std::vector<int32_t> own =
            valuesOf(shape, Box::whole(shape), 100 * rank);
        auto broadcast = makeBroadcast(memory, group, type, shape, root);
        if (!broadcast)
          return broadcast.status();
        if (Status s = check(**broadcast, own,
                             valuesOf(shape, Box::whole(shape), 100 * root),
                             "broadcast");
            !s)
          return s;
        for (int64_t shift :
             {int64_t(1), int64_t(-1), int64_t(2), int64_t(0), INT64_MIN}) {
          auto send = makeSend(memory, group, type, shape, shift);
          if (!send)
            return send.status();
          int from = shift == INT64_MIN ? rank : rank - static_cast<int>(shift);
          if (from < 0 || from >= ranks)
            from = rank;
          if (Status s =
                  check(**send, own,
                        valuesOf(shape, Box::whole(shape), 100 * from), "send");
              !s)
            return s;
        }
        auto reduce =
            makeReduce(memory, group, type, ReduceKind::Max, shape, root);
        if (!reduce)
          return reduce.status();
        return check(**reduce, own,
                     valuesOf(shape, Box::whole(shape),
                              100 * (rank == root ? ranks - 1 : rank)),
                     "reduce");
      });
}

TEST(Movement, SlicesOfSlicesAndOfTwoAxes) {
  // 10 elements cut by an outer axis of 2 (full pieces of 5) and an inner axis
  // of 3 (full pieces of 2: 2, 2, 1), gathered along the inner axis; then along
  // both axes at once.
  expectTeam(6, heapBytes, [](RankMemory &memory) {
    int row = memory.rank() / 3, column = memory.rank() % 3;
    int64_t size = 9; // the outer pieces hold 5 and 4
    int64_t held = row == 0 ? 5 : 4, start = 5 * row;
    int64_t offset = std::min<int64_t>(2 * column, held);
    int64_t count = std::min<int64_t>(2, held - offset);
    std::vector<int32_t> slice, group, whole;
    for (int64_t i = 0; i < count; ++i)
      slice.push_back(static_cast<int32_t>(start + offset + i));
    for (int64_t i = 0; i < held; ++i)
      group.push_back(static_cast<int32_t>(start + i));
    for (int64_t i = 0; i < size; ++i)
      whole.push_back(static_cast<int32_t>(i));
    Group inner{{3 * row, 3 * row + 1, 3 * row + 2}, {}, 5};
    auto gather =
        makeAllGather(memory, inner, ElementType::I32, {held}, {0, 5});
    if (!gather)
      return gather.status();
    if (Status status = check(**gather, slice, group, "inner axis"); !status)
      return status;
    Group both = allRanks(6);
    both.axisSizes = {2, 3};
    auto all = makeAllGather(memory, both, ElementType::I32, {size}, {0});
    if (!all)
      return all.status();
    return check(**all, slice, whole, "both axes");
  });
}
