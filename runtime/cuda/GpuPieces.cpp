//===- GpuPieces.cpp - Lists of buffers on GPUs ---------------------------===//
//
// Kernels find the pieces of a scattered argument by a table in device memory
// (GpuAbi.h). Binding buffers writes their table. A run with other buffers has
// its own table, which a kernel on the run's stream writes from its parameters.
// So nothing on the host must outlive the call, and a captured graph keeps the
// table's content.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/GpuState.h"

#include <algorithm>

namespace ccn::runtime {

namespace {

/// The most pieces of an argument that a run may get without binding them.
constexpr size_t maxUnbound = 4095;

size_t tableWordsOf(size_t pieces) { return 2 + 2 * pieces; }

/// The list without empty pieces.
std::vector<Piece> withoutEmpty(PieceSpan pieces) {
  std::vector<Piece> result;
  for (const Piece &piece : pieces)
    if (piece.count > 0)
      result.push_back(piece);
  return result;
}

bool overlap(const Piece &a, int sizeOfA, const Piece &b, int sizeOfB) {
  auto *beginOfA = static_cast<std::byte *>(a.data),
       *beginOfB = static_cast<std::byte *>(b.data);
  return a.count > 0 && b.count > 0 &&
         beginOfA < beginOfB + b.count * sizeOfB &&
         beginOfB < beginOfA + a.count * sizeOfA;
}

/// Whether these are the pieces of a list that has no empty ones.
bool isSame(PieceSpan pieces, const std::vector<Piece> &known) {
  size_t next = 0;
  for (const Piece &piece : pieces) {
    if (piece.count == 0)
      continue;
    if (next == known.size() || !(piece == known[next]))
      return false;
    ++next;
  }
  return next == known.size();
}

} // namespace

Status GpuExecutor::State::prepareScattered(const Plan &whole,
                                            const GpuProgram &program) {
  if (program.tableKernel < 0)
    return Status();
  const GpuKernel &kernel =
      program.kernels[static_cast<size_t>(program.tableKernel)];
  tableWriter.function = kernels.kernel(program.tableKernel).function;
  tableWriter.threads = static_cast<unsigned>(kernel.threads);
  tableWriter.numbers.resize(static_cast<size_t>(kernel.numbers));
  tableWriter.context.rank = rank;
  tableWriter.context.launch = -1;
  for (size_t i = 0; i < whole.arguments.size(); ++i) {
    const Argument &argument = whole.arguments[i];
    bool isShared =
        std::any_of(shared.begin(), shared.end(),
                    [&](const SharedArgument &s) { return s.number == i; });
    if (!argument.scattered || isShared)
      continue;
    OwnScattered own{i, sizeInBytes(argument.type), {}, 0, {}};
    Result<DeviceMemory> taken = allocateMemory(
        *device, static_cast<int64_t>(tableWordsOf(maxUnbound) * 8),
        "a table of buffers");
    if (!taken)
      return taken.status();
    own.runTable = *std::move(taken);
    scattered.push_back(std::move(own));
  }
  tableWords.reserve(tableWordsOf(maxUnbound));
  return Status();
}

Status GpuExecutor::State::writeTable(CUdeviceptr place, PieceSpan pieces,
                                      CUstream stream) {
  tableWords.assign(1, 0);
  int64_t sum = 0;
  for (const Piece &piece : pieces)
    if (piece.count > 0) {
      ++tableWords[0];
      tableWords.push_back(sum);
      tableWords.push_back(reinterpret_cast<int64_t>(piece.data));
      sum += piece.count;
    }
  tableWords.push_back(sum);

  tableWriter.context.workspace = reinterpret_cast<unsigned char *>(place);
  std::vector<int64_t> &numbers = tableWriter.numbers;
  size_t most = numbers.size() - 2;
  for (size_t first = 0; first < tableWords.size(); first += most) {
    size_t count = std::min(most, tableWords.size() - first);
    numbers[0] = static_cast<int64_t>(count);
    numbers[1] = static_cast<int64_t>(first);
    std::copy_n(tableWords.begin() + static_cast<std::ptrdiff_t>(first), count,
                numbers.begin() + 2);
    if (Status status = launchKernel(tableWriter, stream); !status)
      return error("a table of buffers: ", status.message());
  }
  return Status();
}

Result<CUdeviceptr> GpuExecutor::State::tableOf(PieceSpan given) {
  for (const Table &table : tables)
    if (isSame(given, table.pieces))
      return table.memory.get();
  std::vector<Piece> pieces = withoutEmpty(given);
  Result<DeviceMemory> taken = allocateMemory(
      *device, static_cast<int64_t>(tableWordsOf(pieces.size()) * 8),
      "a table of buffers");
  Result<CUstream> stream = device->setupStream();
  if (!taken || !stream)
    return taken ? stream.status() : taken.status();
  Status status = writeTable(taken->get(), pieces, *stream);
  if (status)
    status = awaitStream(*device, *stream);
  if (!status) {
    device->endSetup();
    return status;
  }
  tables.push_back({std::move(pieces), *std::move(taken)});
  return tables.back().memory.get();
}

void GpuExecutor::State::forgetTables() {
  tables.erase(tables.begin() + static_cast<std::ptrdiff_t>(stagedTables),
               tables.end());
  for (OwnScattered &argument : scattered)
    argument.boundTable = 0;
}

Status GpuExecutor::State::bindScattered(OwnScattered &argument, void *given) {
  PieceSpan pieces = piecesAt(given);
  Result<CUdeviceptr> table = tableOf(pieces);
  if (!table)
    return table.status();
  argument.bound = withoutEmpty(pieces);
  argument.boundTable = *table;
  return Status();
}

void GpuExecutor::State::findScattered() {
  for (const OwnScattered &argument : scattered) {
    bool isBound = argument.boundTable &&
                   isSame(piecesAt(given[argument.number]), argument.bound);
    arguments[argument.number] = reinterpret_cast<void *>(
        isBound ? argument.boundTable : argument.runTable.get());
  }
}

Status GpuExecutor::State::checkUnbound(const OwnScattered &argument,
                                        PieceSpan pieces) const {
  auto count =
      std::count_if(pieces.begin(), pieces.end(),
                    [](const Piece &piece) { return piece.count > 0; });
  if (static_cast<size_t>(count) <= maxUnbound)
    return Status();
  return error("argument '", argumentNames[argument.number], "' has ", count,
               " buffers, expected at most ", maxUnbound,
               " of one that was not bound to them");
}

Status GpuExecutor::State::checkRun(std::span<void *const> addresses) const {
  auto wholeOf = [&](size_t number) {
    return Piece{addresses[number], argumentCounts[number]};
  };
  for (const OwnScattered &argument : scattered) {
    PieceSpan pieces = piecesAt(addresses[argument.number]);
    bool isBound = argument.boundTable && isSame(pieces, argument.bound);
    if (Status status = isBound ? Status() : checkUnbound(argument, pieces);
        !status)
      return status;
  }
  if (Status status = checkTensorAddresses(addresses); !status)
    return status;
  // A run that is given something else than was bound copies it there.
  for (const SharedArgument &argument : shared) {
    Piece whole = wholeOf(argument.number);
    PieceSpan pieces = argument.isScattered
                           ? piecesAt(addresses[argument.number])
                           : PieceSpan(&whole, 1);
    if (!argument.bound || isSame(pieces, argument.bound->own))
      continue;
    for (size_t other = 0; other < argumentCount; ++other) {
      Piece one = wholeOf(other);
      PieceSpan others =
          isScattered[other] ? piecesAt(addresses[other]) : PieceSpan(&one, 1);
      for (const Piece &piece : others)
        for (const Piece &bound : argument.bound->own)
          if (overlap(piece, elementSizes[other], bound, argument.size))
            return error("argument '", argumentNames[argument.number],
                         "' is elsewhere than it was bound, which the run "
                         "overwrites, and argument '",
                         argumentNames[other], "' overlaps that");
    }
  }
  return Status();
}

Status GpuExecutor::State::placeTables(CUstream stream) {
  for (const OwnScattered &argument : scattered) {
    CUdeviceptr table = argument.runTable.get();
    if (arguments[argument.number] != reinterpret_cast<void *>(table))
      continue;
    PieceSpan pieces = piecesAt(given[argument.number]);
    if (Status status = checkUnbound(argument, pieces); !status)
      return status;
    if (Status status = writeTable(table, pieces, stream); !status)
      return status;
  }
  return Status();
}

Result<std::optional<SharedPlaces>>
GpuExecutor::State::shareIfPossible(const SharedArgument &argument,
                                    void *given) {
  std::optional<SharedPlaces> places(std::in_place);
  places->own = argument.isScattered
                    ? withoutEmpty(piecesAt(given))
                    : std::vector{Piece{given, argument.count}};
  // Of pieces of other sizes no kernel makes sense of. All look at them alike.
  struct Sizes {
    uint64_t count, hash;
    bool operator==(const Sizes &) const = default;
  };
  if (argument.isScattered) {
    Sizes sizes{places->own.size(), 0xcbf29ce484222325};
    for (const Piece &piece : places->own)
      sizes.hash =
          (sizes.hash ^ static_cast<uint64_t>(piece.count)) * 0x100000001b3 ^
          sizes.hash >> 29;
    Result<std::vector<Sizes>> all = exchange->gather(sizes);
    if (!all)
      return all.status();
    for (const Sizes &others : *all)
      if (!(others == all->front()))
        return std::optional<SharedPlaces>();
  }
  // By rank.
  std::vector<std::vector<Piece>> reached(
      static_cast<size_t>(transport.ranks()));
  for (const Piece &piece : places->own) {
    Result<std::optional<PeerMemory>> memory = team->shareIfPossible(
        *exchange, reinterpret_cast<CUdeviceptr>(piece.data),
        piece.count * argument.size);
    if (!memory)
      return memory.status();
    if (!*memory)
      return std::optional<SharedPlaces>();
    for (size_t other = 0; other < reached.size(); ++other)
      reached[other].push_back(
          {reinterpret_cast<void *>((*memory)->addresses()[other]),
           piece.count});
    places->memory.push_back(**std::move(memory));
  }
  // All ranks see the same: pages are mapped as a whole.
  if (argument.isInTensorMaps)
    for (const std::vector<Piece> &pieces : reached)
      if (!isTensorAligned(pieces.front().data))
        return std::optional<SharedPlaces>();
  for (const std::vector<Piece> &pieces : reached) {
    if (!argument.isScattered) {
      places->addresses.push_back(
          reinterpret_cast<CUdeviceptr>(pieces.front().data));
      continue;
    }
    Result<CUdeviceptr> table = tableOf(pieces);
    if (!table)
      return table.status();
    places->addresses.push_back(*table);
  }
  return places;
}

} // namespace ccn::runtime
