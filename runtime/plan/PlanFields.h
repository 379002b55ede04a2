//===- PlanFields.h - The fields of plans, by name --------------*- C++ -*-===//
//
// The names of the fields, enumerators and kinds of parts of a plan and of its
// GPU program. fields(archive, struct) calls archive(name, field) for each
// field; the same list serves to write and to read.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_PLAN_PLANFIELDS_H
#define CCN_RUNTIME_PLAN_PLANFIELDS_H

#include "runtime/plan/GpuProgram.h"
#include "runtime/plan/Plan.h"

#include <array>
#include <concepts>

namespace ccn::runtime {

/// T or const T.
template <typename S, typename T>
concept Is = std::same_as<std::remove_const_t<S>, T>;

//===----------------------------------------------------------------------===//
// Enumerators, in their order
//===----------------------------------------------------------------------===//

template <typename E> inline constexpr std::array<std::string_view, 0> names{};

/// The names that name() gives the enumerators up to `last`.
template <auto last> auto namesUpTo() {
  std::array<std::string_view, static_cast<size_t>(last) + 1> found;
  for (size_t i = 0; i < found.size(); ++i)
    found[i] = name(static_cast<decltype(last)>(i));
  return found;
}
template <> inline const auto names<ReduceKind> = namesUpTo<ReduceKind::Mean>();
template <>
inline const auto names<ElementType> = namesUpTo<ElementType::Bool>();

template <>
inline constexpr std::array<std::string_view, 3> names<Memory>{
    "argument", "private", "symmetric"};
template <>
inline constexpr std::array<std::string_view, 6> names<Access>{
    "load", "store", "load_reduced", "store_all", "scratch", "index"};
template <>
inline constexpr std::array<std::string_view, 3> names<Exchange>{
    "ll", "lamport", "schedule"};
template <>
inline constexpr std::array<std::string_view, 3> names<ArgumentKind>{
    "input", "inout", "result"};
template <>
inline constexpr std::array<std::string_view, 3> names<TransferOp>{
    "copy", "reduce", "stash"};
template <>
inline constexpr std::array<std::string_view, 3> names<TensorMemory>{
    "buffer", "symmetric", "workspace"};
/// The kinds of parts.
template <>
inline constexpr std::array<std::string_view, std::variant_size_v<Part>>
    names<Part>{"rows",         "copy",     "barrier", "signal",
                "await",        "matmul",   "conv2d",  "gather_rows",
                "scatter_rows", "exchange", "gather"};

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

void fields(auto &a, Is<Buffer> auto &v) {
  a("memory", v.memory);
  a("type", v.type);
  a("count", v.count);
  a("offset", v.offset);
}

void fields(auto &a, Is<View> auto &v) {
  a("buffer", v.buffer);
  a("offset", v.offset);
  a("strides", v.strides);
  a("rank", v.rank);
}

void fields(auto &a, Is<LoopOperand> auto &v) {
  a("access", v.access);
  a("view", v.view);
  a("type", v.type);
  a("group", v.group);
  a("reduction", v.reduction);
  a("slots", v.slots);
}

void fields(auto &a, Is<Loop> auto &v) {
  a("function", v.function);
  a("sizes", v.sizes);
  a("reducedDims", v.reducedDims);
  a("inputs", v.inputs);
  a("outputs", v.outputs);
}

void fields(auto &a, Is<RowsPart> auto &v) {
  a("rows", v.rows);
  a("loops", v.loops);
}

void fields(auto &a, Is<CopyPart> auto &v) {
  a("sizes", v.sizes);
  a("from", v.from);
  a("to", v.to);
}

void fields(auto &a, Is<PieceDim> auto &v) {
  a("count", v.count);
  a("memberStep", v.memberStep);
  a("fromStep", v.fromStep);
  a("toStep", v.toStep);
}

void fields(auto &a, Is<GatherPart> auto &v) {
  a("group", v.group);
  a("firstMember", v.firstMember);
  a("grid", v.grid);
  a("sizes", v.sizes);
  a("from", v.from);
  a("to", v.to);
}

void fields(auto &a, Is<BarrierPart> auto &v) {
  a("group", v.group);
  a("flags", v.flags);
}

void fields(auto &a, Is<SignalPart> auto &v) {
  a("rank", v.rank);
  a("flag", v.flag);
}

void fields(auto &a, Is<AwaitPart> auto &v) {
  a("rank", v.rank);
  a("flag", v.flag);
}

void fields(auto &a, Is<MatmulPart> auto &v) {
  a("batch", v.batch);
  a("m", v.m);
  a("n", v.n);
  a("k", v.k);
  a("a", v.a);
  a("b", v.b);
  a("c", v.c);
}

void fields(auto &a, Is<Conv2dPart> auto &v) {
  a("xShape", v.xShape);
  a("wShape", v.wShape);
  a("yShape", v.yShape);
  a("stride", v.stride);
  a("padding", v.padding);
  a("x", v.x);
  a("w", v.w);
  a("y", v.y);
}

void fields(auto &a, Is<GatherRowsPart> auto &v) {
  a("tableRows", v.tableRows);
  a("rowSize", v.rowSize);
  a("count", v.count);
  a("table", v.table);
  a("indices", v.indices);
  a("to", v.to);
}

void fields(auto &a, Is<ScatterRowsPart> auto &v) {
  a("tableRows", v.tableRows);
  a("rowSize", v.rowSize);
  a("count", v.count);
  a("table", v.table);
  a("indices", v.indices);
  a("rows", v.rows);
  a("to", v.to);
}

void fields(auto &a, Is<ExchangePart> auto &v) {
  a("exchange", v.exchange);
  a("group", v.group);
  a("reduction", v.reduction);
  a("inputCount", v.inputCount);
  a("outputCount", v.outputCount);
  a("largestCount", v.largestCount);
  a("from", v.from);
  a("to", v.to);
  a("schedule", v.schedule);
}

void fields(auto &a, Is<Launch> auto &v) {
  a("name", v.name);
  a("stream", v.stream);
  a("waits", v.waits);
  a("parts", v.parts);
}

void fields(auto &a, Is<Placement> auto &v) {
  a("offsets", v.offsets);
  a("sizes", v.sizes);
}

/// Ranks share buffers and launches: an archive stores indices into tables.
void fields(auto &a, Is<RankPlan> auto &v) {
  a.shared("buffers", v.buffers);
  a("privateBytes", v.privateBytes);
  a("symmetricBytes", v.symmetricBytes);
  a("flags", v.flags);
  a("streams", v.streams);
  a.sharedEach("launches", v.launches);
  a("placements", v.placements);
}

void fields(auto &a, Is<Transfer> auto &v) {
  a("chunk", v.chunk);
  a("source", v.source);
  a("destination", v.destination);
  a("op", v.op);
  a("sums", v.sums);
}

void fields(auto &a, Is<Chunk> auto &v) {
  a("sources", v.sources);
  a("destinations", v.destinations);
  a("inputFirst", v.inputFirst);
  a("outputFirst", v.outputFirst);
  a("count", v.count);
}

void fields(auto &a, Is<ChunkSchedule> auto &v) {
  a("name", v.name);
  a("members", v.members);
  a("combining", v.combining);
  a("chunks", v.chunks);
  a("steps", v.steps);
}

void fields(auto &a, Is<MeshAxis> auto &v) {
  a("name", v.name);
  a("size", v.size);
}

void fields(auto &a, Is<Argument> auto &v) {
  a("name", v.name);
  a("kind", v.kind);
  a("type", v.type);
  a("shape", v.shape);
  a("leadingDims", v.leadingDims);
  a("replicated", v.replicated);
  a("typeName", v.typeName);
  a("scattered", v.scattered);
}

void fields(auto &a, Is<Plan> auto &v) {
  a("mesh", v.mesh);
  a("arguments", v.arguments);
  a("groups", v.groups);
  a("schedules", v.schedules);
  a("failures", v.failures);
  a.sharedEach("ranks", v.ranks);
}

void fields(auto &a, Is<GpuKernel> auto &v) {
  a("name", v.name);
  a("threads", v.threads);
  a("sharedBytes", v.sharedBytes);
  a("blockBytes", v.blockBytes);
  a("waits", v.waits);
  a("numbers", v.numbers);
  a("clusters", v.clusters);
  a("tensorMaps", v.tensorMaps);
  a("isOfAllRanks", v.isOfAllRanks);
}

void fields(auto &a, Is<GpuProduct> auto &v) {
  a("part", v.part);
  a("isAll", v.isAll);
}

void fields(auto &a, Is<GpuTensorMap> auto &v) {
  a("memory", v.memory);
  a("buffer", v.buffer);
  a("rank", v.rank);
  a("offset", v.offset);
  a("type", v.type);
  a("sizes", v.sizes);
  a("strides", v.strides);
  a("box", v.box);
  a("swizzle", v.swizzle);
}

void fields(auto &a, Is<GpuLaunch> auto &v) {
  a("kernel", v.kernel);
  a("blocks", v.blocks);
  a("workspaceBytes", v.workspaceBytes);
  a("numbers", v.numbers);
  a("product", v.product);
  a("tensorMaps", v.tensorMaps);
  a("preferred", v.preferred);
}

void fields(auto &a, Is<GpuFill> auto &v) {
  a("offset", v.offset);
  a("bytes", v.bytes);
  a("value", v.value);
}

void fields(auto &a, Is<GpuMessage> auto &v) {
  a("from", v.from);
  a("to", v.to);
  a("isWrite", v.isWrite);
  a("argument", v.argument);
  a("offset", v.offset);
  a("bytes", v.bytes);
  a("counts", v.counts);
  a("strides", v.strides);
}

void fields(auto &a, Is<GpuSegments> auto &v) {
  a("count", v.count);
  a("messages", v.messages);
  a("waits", v.waits);
}

void fields(auto &a, Is<GpuProgram> auto &v) {
  a("sharedArguments", v.sharedArguments);
  a("source", v.source);
  a("peerSource", v.peerSource);
  a("messageSource", v.messageSource);
  a("kernels", v.kernels);
  a("tableKernel", v.tableKernel);
  a("launches", v.launches);
  a("symmetricBytes", v.symmetricBytes);
  a("flags", v.flags);
  a("fills", v.fills);
  a("segments", v.segments);
}

} // namespace ccn::runtime

#endif // CCN_RUNTIME_PLAN_PLANFIELDS_H
