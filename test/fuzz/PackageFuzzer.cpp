//===- PackageFuzzer.cpp - Reads any bytes as a package -------------------===//
//
// As they are, and as the JSON of a package whose header is right. What is read
// must be written and read again to the same bytes.
//
//===----------------------------------------------------------------------===//

#include "runtime/base/Hash.h"
#include "runtime/plan/Package.h"

#include <cstdlib>
#include <cstring>

using namespace ccn;
using namespace ccn::runtime;

static void read(std::string_view bytes) {
  Result<Package> package = decodePackage(bytes);
  if (!package)
    return;
  (void)checkTarget(*package);
  (void)checkMachine(*package);
  Result<std::string> first = encodePackage(*package);
  if (!first)
    abort();
  Result<Package> again = decodePackage(*first);
  if (!again || *encodePackage(*again) != *first)
    abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char *>(data), size);
  read(bytes);
  std::string sealed = encodePackage(Package())->substr(0, 64);
  sealed += bytes;
  sealed.resize((sealed.size() + 63) / 64 * 64);
  uint64_t total = sealed.size(), json = size;
  std::memcpy(sealed.data() + 16, &total, 8);
  std::memcpy(sealed.data() + 24, &json, 8);
  std::string hash = sha256({std::string_view(sealed).substr(0, 32),
                             std::string_view(sealed).substr(64)});
  std::memcpy(sealed.data() + 32, hash.data(), 32);
  read(sealed);
  return 0;
}
