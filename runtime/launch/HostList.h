//===- HostList.h - Lists of hosts as Slurm writes them ---------*- C++ -*-===//
//
// Slurm writes the hosts of a job in short: "gpu[01-03,07],login".
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_LAUNCH_HOSTLIST_H
#define CCN_RUNTIME_LAUNCH_HOSTLIST_H

#include "runtime/base/Status.h"

#include <string>
#include <string_view>
#include <vector>

namespace ccn::runtime {

/// The hosts in their order, as `scontrol show hostnames` has them: names that
/// are separated by commas, each with any number of brackets, which hold
/// numbers and ranges of them. Numbers have as many digits as the first of
/// their range. If a name has several brackets the last runs fastest. An error
/// says at which character what was expected. At most 65536 hosts.
Result<std::vector<std::string>> expandHostList(std::string_view text);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_LAUNCH_HOSTLIST_H
