//===- LinkShared.cpp - From object files to a shared object --------------===//
//
// LLD reads and writes files, so they are in a temporary directory, which is
// removed when the link is done.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/LinkShared.h"

#include "codegen/cpu/EmitObject.h"

#include "lld/Common/Driver.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <dlfcn.h>
#include <link.h>
#include <mutex>

LLD_HAS_DRIVER(elf)

namespace ccn::codegen {

namespace {

llvm::Error failed(const llvm::Twine &what, std::error_code code) {
  return llvm::createStringError(code, what + ": " + code.message());
}

/// The path of the libm that this process uses, so that the object requires the
/// same versions of its functions.
llvm::Expected<std::string> findLibm() {
  void *libm = dlopen("libm.so.6", RTLD_LAZY);
  if (!libm)
    return llvm::createStringError("cannot link code for this CPU: there is no "
                                   "libm.so.6");
  link_map *map = nullptr;
  dlinfo(libm, RTLD_DI_LINKMAP, static_cast<void *>(&map));
  std::string path = map ? map->l_name : "";
  dlclose(libm);
  if (path.empty())
    return llvm::createStringError("cannot link code for this CPU: the path of "
                                   "libm.so.6 is not known");
  return path;
}

llvm::Error writeFile(const std::string &path, llvm::StringRef content) {
  std::error_code code;
  llvm::raw_fd_ostream stream(path, code);
  if (!code) {
    stream << content;
    stream.close();
    code = stream.error();
    stream.clear_error();
  }
  if (code)
    return failed("cannot write " + path, code);
  return llvm::Error::success();
}

} // namespace

llvm::Expected<std::string> linkShared(llvm::ArrayRef<std::string> objects) {
  // LLD keeps its state in global variables.
  static std::mutex mutex;
  static bool usable = true;
  std::lock_guard<std::mutex> lock(mutex);
  if (!usable)
    return llvm::createStringError("the linker failed before and cannot be "
                                   "used again");

  llvm::Expected<std::string> libm = findLibm();
  if (!libm)
    return libm.takeError();
  llvm::SmallString<128> directory;
  if (std::error_code code =
          llvm::sys::fs::createUniqueDirectory("ccn-link", directory))
    return failed("cannot make a temporary directory", code);
  llvm::scope_exit remove(
      [&] { llvm::sys::fs::remove_directories(directory); });
  auto pathOf = [&](const llvm::Twine &name) {
    llvm::SmallString<128> path = directory;
    llvm::sys::path::append(path, name);
    return path.str().str();
  };
  std::vector<std::string> inputs;
  for (const std::string &object : objects) {
    inputs.push_back(pathOf(llvm::Twine(inputs.size()) + ".o"));
    if (llvm::Error error = writeFile(inputs.back(), object))
      return error;
  }

  std::string output = pathOf("loops.so");
  std::vector<const char *> arguments = {"ld.lld",           "-shared",
                                         "--threads=1",      "--strip-all",
                                         "--no-undefined",   "--no-as-needed",
                                         "--hash-style=gnu", "-z",
                                         "noexecstack",      "-o",
                                         output.c_str(),     libm->c_str()};
  for (const std::string &input : inputs)
    arguments.push_back(input.c_str());
  std::string text;
  llvm::raw_string_ostream messages(text);
  lld::Result result = [&] {
    KeepOptions options;
    return lld::lldMain(arguments, messages, messages,
                        {{lld::Gnu, &lld::elf::link}});
  }();
  usable = result.canRunAgain;
  if (result.retCode != 0)
    return llvm::createStringError("cannot link compiled loops: " + text);
  auto buffer = llvm::MemoryBuffer::getFile(output, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false,
                                            /*IsVolatile=*/true);
  if (!buffer)
    return failed("cannot read " + output, buffer.getError());
  return (*buffer)->getBuffer().str();
}

} // namespace ccn::codegen
