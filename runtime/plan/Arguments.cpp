//===- Arguments.cpp - Checks the arguments of a run ----------------------===//
//
// A scattered argument is checked piece by piece.
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/Arguments.h"

namespace ccn::runtime {

Status checkBuffer(const void *buffer, int64_t bytes, ElementType type,
                   const char *operation, const char *what) {
  if (bytes == 0)
    return Status();
  if (!buffer)
    return error(operation, ": the ", what, " is null");
  if (reinterpret_cast<uintptr_t>(buffer) %
      static_cast<unsigned>(sizeInBytes(type)))
    return error(operation, ": the ", what, " is not aligned for ", name(type));
  return Status();
}

Status checkArguments(const RankPlan &plan, const std::vector<bool> &scattered,
                      std::span<void *const> arguments) {
  if (arguments.size() != scattered.size())
    return error("expected ", scattered.size(), " arguments, found ",
                 arguments.size());
  for (const Buffer &buffer : plan.buffers) {
    if (buffer.memory != Memory::Argument)
      continue;
    auto number = static_cast<size_t>(buffer.offset);
    if (!scattered[number]) {
      std::string what = "argument " + std::to_string(number);
      if (Status status = checkBuffer(arguments[number],
                                      buffer.count * sizeInBytes(buffer.type),
                                      buffer.type, "the plan", what.c_str());
          !status)
        return status;
      continue;
    }
    if (Status status = checkPieces(
            piecesAt(arguments[number]), buffer.count, buffer.type,
            [](size_t piece) { return "buffer " + std::to_string(piece); });
        !status)
      return error("the plan: argument ", number, ": ", status.message());
  }
  return Status();
}

std::vector<bool> scatteredArguments(const Plan &plan) {
  std::vector<bool> scattered;
  for (const Argument &argument : plan.arguments)
    scattered.push_back(argument.scattered);
  return scattered;
}

} // namespace ccn::runtime
