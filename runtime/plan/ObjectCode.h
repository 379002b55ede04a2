//===- ObjectCode.h - Functions of a shared object in memory ----*- C++ -*-===//
//
// The machine code of a package: an ELF shared object that is loaded from
// memory, without a file.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_PLAN_OBJECTCODE_H
#define CCN_RUNTIME_PLAN_OBJECTCODE_H

#include "runtime/base/File.h"
#include "runtime/plan/Plan.h"

#include <memory>

namespace ccn::runtime {

/// Whether `bytes` are an ELF shared object for this machine that is complete.
/// It is not proven to be well-formed beyond that.
Status checkObjectCode(std::string_view bytes);

/// A loaded shared object; unloaded when this goes, with all its functions.
class ObjectCode {
public:
  /// Loads it into this process. All symbols that it needs must be there. Empty
  /// bytes are an object without functions.
  static Result<std::unique_ptr<ObjectCode>> load(std::string_view bytes);

  ~ObjectCode();
  ObjectCode(const ObjectCode &) = delete;
  ObjectCode &operator=(const ObjectCode &) = delete;

  /// The function of that name; null if there is none. Threads may share this.
  LoopFunction find(std::string_view name) const;

private:
  ObjectCode() = default;

  /// Open as long as the object is loaded: the loader knows it by its number.
  FileDescriptor file;
  void *handle = nullptr;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_PLAN_OBJECTCODE_H
