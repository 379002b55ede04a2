//===- MessageRecord.h - The records that messages consist of ---*- C++ -*-===//
//
// A message is a sequence of records; each record is this header, then its
// data. The threads of a rank append records, and the progress thread applies
// those of other ranks. All hosts are assumed to have the same byte order.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_TEAM_MESSAGERECORD_H
#define CCN_RUNTIME_TEAM_MESSAGERECORD_H

#include "runtime/team/MessageTransport.h"

namespace ccn::runtime {

struct MessageTransport::Record {
  enum Kind : uint32_t {
    Put,      ///< store the data at `offset`
    Word,     ///< store the 8 bytes of `value` at `offset`
    Flag,     ///< store the 4 bytes of `value` at `offset`, after all before
    Read,     ///< answer request `value` with as many bytes from `offset`
    Reply,    ///< the data of request `value`
    Allocate, ///< allocation number `offset` is of `value` bytes
    Fail,     ///< the team has failed; the data is the text
    Leave,    ///< the sender takes part no longer
    Beat,     ///< the sender lives and waits for rank `offset`, -1 for nobody
  };

  uint32_t kind;
  /// The bytes of data that follow or, for Read, that are requested.
  uint32_t bytes;
  int64_t offset;
  uint64_t value;

  size_t dataBytes() const { return kind == Read ? 0 : bytes; }
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_TEAM_MESSAGERECORD_H
