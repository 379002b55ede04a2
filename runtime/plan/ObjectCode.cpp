//===- ObjectCode.cpp - Functions of a shared object in memory ------------===//
//
// The loader takes files only, so the bytes are written to a file in memory,
// which the loader opens by a path in /proc/self/fd.
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/ObjectCode.h"

#include "runtime/base/File.h"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

namespace ccn::runtime {

namespace {

#if defined(__x86_64__)
constexpr uint16_t ownMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr uint16_t ownMachine = EM_AARCH64;
#else
#error "add this machine's number in ELF files"
#endif

std::string machineName(uint16_t machine) {
  switch (machine) {
  case EM_X86_64:
    return "x86-64";
  case EM_AARCH64:
    return "AArch64";
  case EM_RISCV:
    return "RISC-V";
  case EM_PPC64:
    return "PowerPC64";
  case EM_S390:
    return "s390x";
  default:
    return "machine " + std::to_string(machine);
  }
}

} // namespace

Status checkObjectCode(std::string_view bytes) {
  Elf64_Ehdr header;
  if (!bytes.starts_with(std::string_view(ELFMAG, SELFMAG)))
    return error("expected object code in ELF, found something else");
  if (bytes.size() < sizeof header)
    return error("the object code is truncated");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB)
    return error("expected object code of 64 bits, little-endian, found "
                 "another");
  if (header.e_machine != ownMachine)
    return error("expected object code for ", machineName(ownMachine),
                 ", found it for ", machineName(header.e_machine));
  if (header.e_type != ET_DYN)
    return error("expected a shared object, found ELF of type ", header.e_type);
  // The loader maps what the headers say; the process would die if the file
  // ended before that.
  auto isInside = [&](uint64_t offset, uint64_t size) {
    return offset <= bytes.size() && size <= bytes.size() - offset;
  };
  if (header.e_phentsize != sizeof(Elf64_Phdr) ||
      !isInside(header.e_phoff, uint64_t(header.e_phnum) * sizeof(Elf64_Phdr)))
    return error("the object code is truncated");
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment,
                bytes.data() + header.e_phoff + i * sizeof(Elf64_Phdr),
                sizeof segment);
    if (!isInside(segment.p_offset, segment.p_filesz))
      return error("the object code is truncated");
  }
  // The section table is at the end of the file, so it is missing if the end
  // is.
  if (!isInside(header.e_shoff, uint64_t(header.e_shnum) * header.e_shentsize))
    return error("the object code is truncated");
  return Status();
}

Result<std::unique_ptr<ObjectCode>> ObjectCode::load(std::string_view bytes) {
  std::unique_ptr<ObjectCode> code(new ObjectCode);
  if (bytes.empty())
    return code;
  if (Status status = checkObjectCode(bytes); !status)
    return status;
  FileDescriptor &file = code->file;
  file = FileDescriptor(memfd_create("ccn object code", MFD_CLOEXEC));
  if (file.get() < 0 ||
      !writeAll(file.get(), bytes.data(), static_cast<int64_t>(bytes.size())))
    return error("cannot load the object code: ", systemError());
  std::string path;
  auto open = [&](int mode) {
    path = "/proc/self/fd/" + std::to_string(file.get());
    return dlopen(path.c_str(), mode | RTLD_NOW | RTLD_LOCAL);
  };
  // The loader takes equal paths for the same object. The descriptor of an
  // object that could not be unloaded may be free again, so this one may have
  // the same path. If so, take another descriptor.
  while (void *former = open(RTLD_NOLOAD)) {
    dlclose(former);
    FileDescriptor next(fcntl(file.get(), F_DUPFD_CLOEXEC, file.get() + 1));
    if (next.get() < 0)
      return error("cannot load the object code: ", systemError());
    std::swap(file, next);
  }
  code->handle = open(0);
  if (!code->handle) {
    const char *why = dlerror();
    return error("cannot load the object code: ", why ? why : "unknown cause");
  }
  return code;
}

ObjectCode::~ObjectCode() {
  if (handle)
    dlclose(handle);
}

LoopFunction ObjectCode::find(std::string_view name) const {
  if (!handle)
    return nullptr;
  void *address = dlsym(handle, std::string(name).c_str());
  // dlsym also searches the libraries that the object needs; reject what it
  // finds there.
  link_map *own = nullptr, *found = nullptr;
  Dl_info info;
  if (!address || dlinfo(handle, RTLD_DI_LINKMAP, &own) != 0 ||
      !dladdr1(address, &info, reinterpret_cast<void **>(&found),
               RTLD_DL_LINKMAP) ||
      own != found)
    return nullptr;
  return reinterpret_cast<LoopFunction>(address);
}

} // namespace ccn::runtime
