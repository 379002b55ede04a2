//===- DescriptorExchange.h - Files passed between processes ----*- C++ -*-===//
//
// Descriptors of open files that ranks pass to ranks in other processes of the
// host, when they set up.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_CUDA_DESCRIPTOREXCHANGE_H
#define CCN_RUNTIME_CUDA_DESCRIPTOREXCHANGE_H

#include "runtime/base/File.h"
#include "runtime/cuda/HostExchange.h"

#include <functional>

namespace ccn::runtime {

/// A descriptor, and what its receiver must know about it.
struct PassedDescriptor {
  FileDescriptor file;
  uint64_t about = 0;
};

/// What a rank gives and gets.
struct DescriptorTraffic {
  /// How many it gives to each of `receivers`.
  size_t given = 0;
  std::vector<int> receivers;
  /// Makes descriptor `index`, for one receiver.
  std::function<Result<PassedDescriptor>(size_t index)> give;
  /// How many it gets, by rank.
  std::vector<size_t> expected;
  /// Takes the next of a rank, in the order in which it gives them.
  std::function<Status(int rank, PassedDescriptor)> take;
};

/// All ranks call this at the same point. An error if something that this rank
/// gives or expects was not received, or if the team has failed. It comes after
/// half of the exchange's time limit, so that no rank waits for another longer
/// than that limit.
Status passDescriptors(HostExchange &exchange,
                       const DescriptorTraffic &traffic);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_CUDA_DESCRIPTOREXCHANGE_H
