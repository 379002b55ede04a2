//===- TunedVariant.cpp - Which variant of a package is fastest -----------===//
//
// A record is a small JSON file for one package and machine.
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/TunedVariant.h"

#include "runtime/base/CacheFolder.h"
#include "runtime/base/Hash.h"

#include <nlohmann/json.hpp>

#include <fstream>
#include <unistd.h>

namespace ccn::runtime {

using Json = nlohmann::json;

/// The path of a record; empty if there is no cache folder.
static std::string tunedPath(const Package &package,
                             const std::string &machine) {
  std::string folder = cacheFolder();
  if (folder.empty())
    return "";
  return folder + "/tuned/" + toHex(sha256({package.hash, machine})) + ".json";
}

std::string cpuMachine() {
  std::string model = "unknown CPU";
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) {
      size_t colon = line.find(':');
      model = colon == std::string::npos || colon + 2 > line.size()
                  ? model
                  : line.substr(colon + 2);
      break;
    }
  return std::to_string(sysconf(_SC_NPROCESSORS_ONLN)) + " x " + model;
}

Result<std::string> keepTuned(const Package &package,
                              const std::string &machine, size_t number,
                              const std::vector<double> &seconds) {
  std::string path = tunedPath(package, machine);
  if (path.empty())
    return error("there is no cache folder; CCN_CACHE_DIR can name one");
  Json json = {{"program", package.program},
               {"hash", package.hash},
               {"machine", machine},
               {"variant", number}};
  for (size_t i = 0; i < seconds.size(); ++i)
    json["measured"].push_back(
        {{"name", i ? package.variants[i - 1].name : package.variant},
         {"schedule", i ? package.variants[i - 1].schedule : package.schedule},
         {"seconds", seconds[i]}});
  std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace);
  if (Status status = writeCached(path, {text, "\n"}); !status)
    return status;
  return path;
}

size_t findTuned(const Package &package, const std::string &machine) {
  std::string path = tunedPath(package, machine);
  if (package.variants.empty() || path.empty())
    return 0;
  constexpr int64_t maxBytes = int64_t(1) << 24;
  std::string text = readCached(path, maxBytes).value_or("");
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || json.value("hash", Json()) != package.hash)
    return 0;
  Json number = json.value("variant", Json());
  if (!number.is_number_unsigned() ||
      number.get<uint64_t>() > package.variants.size())
    return 0;
  return number.get<size_t>();
}

} // namespace ccn::runtime
