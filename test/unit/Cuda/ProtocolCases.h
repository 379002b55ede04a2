//===- ProtocolCases.h - A kernel for each protocol -------------*- C++ -*-===//
//
// Plans whose kernels wait for each other in each of the ways that the files of
// codegen/gpu/device have, small enough to run many times.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_CUDA_PROTOCOLCASES_H
#define CCN_TEST_UNIT_CUDA_PROTOCOLCASES_H

#include "test/unit/Cuda/WeakTeam.h"

namespace ccn::test {

/// Every one has another name.
const std::vector<ProtocolCase> &protocolCases();
const ProtocolCase &protocolCase(const std::string &name);

} // namespace ccn::test

#endif // CCN_TEST_UNIT_CUDA_PROTOCOLCASES_H
