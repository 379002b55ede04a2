//===- ObjectCode.h - Functions of a shared object in memory ----*- C++ -*-===//
//
// The machine code of a package: an ELF shared object that is loaded from
// memory, without a file on disk.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_PLAN_OBJECTCODE_H
#define CCN_RUNTIME_PLAN_OBJECTCODE_H

#include "runtime/base/File.h"
#include "runtime/plan/Plan.h"

#include <memory>

namespace ccn::runtime {

/// An error unless `bytes` are a complete ELF shared object for this machine.
/// Does not check more than that.
Status checkObjectCode(std::string_view bytes);

/// A loaded shared object. The destructor unloads it with all its functions.
class ObjectCode {
public:
  /// Loads the object code into this process, where all symbols that it needs
  /// must exist. Empty bytes are object code without functions.
  static Result<std::unique_ptr<ObjectCode>> load(std::string_view bytes);

  ~ObjectCode();
  ObjectCode(const ObjectCode &) = delete;
  ObjectCode &operator=(const ObjectCode &) = delete;

  /// The function of that name; null if there is none. Several threads may call
  /// this.
  LoopFunction find(std::string_view name) const;

private:
  ObjectCode() = default;

  /// Open as long as the object is loaded, since the loader identifies the
  /// object by this descriptor's path.
  FileDescriptor file;
  void *handle = nullptr;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_PLAN_OBJECTCODE_H
