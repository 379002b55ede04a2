//===- Error.cpp - Statuses and the version of the C API ------------------===//
//
// Each thread has memory for its last error from the start, so that it can
// report a lack of memory.
//
//===----------------------------------------------------------------------===//

#include "runtime/api/Handles.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>

using namespace ccn;
using namespace ccn::runtime::api;

static thread_local char lastError[2048];

ccn_status ccn::runtime::api::fail(ccn_status status, std::string_view text) {
  size_t size = std::min(text.size(), sizeof lastError - 1);
  // Do not cut a UTF-8 character.
  if (size < text.size())
    while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80)
      --size;
  std::memmove(lastError, text.data(), size);
  lastError[size] = 0;
  return status;
}

ccn_status ccn::runtime::api::failByException() {
  try {
    throw;
  } catch (const std::bad_alloc &) {
    return fail(CCN_ERROR_MACHINE, "out of memory");
  } catch (const std::exception &failure) {
    return fail(CCN_ERROR_MACHINE, failure.what());
  } catch (...) {
    return fail(CCN_ERROR_MACHINE, "an unknown failure of the C++ library");
  }
}

const char *ccn_version(void) { return CCN_VERSION_STRING; }

const char *ccn_last_error(void) { return lastError; }

const char *ccn_status_name(ccn_status status) {
  switch (numberOf(status)) {
  case CCN_OK:
    return "CCN_OK";
  case CCN_ERROR_PACKAGE:
    return "CCN_ERROR_PACKAGE";
  case CCN_ERROR_ARGUMENT:
    return "CCN_ERROR_ARGUMENT";
  case CCN_ERROR_MACHINE:
    return "CCN_ERROR_MACHINE";
  case CCN_ERROR_TEAM:
    return "CCN_ERROR_TEAM";
  }
  return "unknown";
}
