//===- MachineRates.cpp - How fast a machine is ---------------------------===//

#include "lib/Target/MachineRates.h"

#include "lib/Target/MachineJson.h"
#include "runtime/tensor/ElementType.h"

using namespace ccn;
using synth::JsonAt;

static std::map<std::string, double, std::less<>> readByType(const JsonAt &at) {
  std::map<std::string, double, std::less<>> rates;
  if (!at.json().is_object())
    at.fail("expected an object with a number for each type, found " +
            synth::shortJson(at.json()));
  for (const auto &field : at.json().items()) {
    if (!runtime::parseElementType(field.key()))
      at.fail("expected names of element types, found '" + field.key() + "'");
    rates[field.key()] = readPositive(at.at(field.key().c_str()));
  }
  if (!rates.contains("f32"))
    at.fail("expected a field 'f32', found none");
  return rates;
}

MachineRates ccn::readRates(const JsonAt &at) {
  MachineRates rates;
  const std::pair<const char *, double MachineRates::*> numbers[] = {
      {"memory_read_gbps", &MachineRates::readGBps},
      {"memory_write_gbps", &MachineRates::writeGBps},
      {"memory_us", &MachineRates::memoryUs},
      {"core_gbps", &MachineRates::coreGBps},
      {"cache_gbps", &MachineRates::cacheGBps},
      {"link_store_gbps", &MachineRates::linkGBps},
      {"link_load_gbps", &MachineRates::loadGBps},
      {"link_us", &MachineRates::linkUs},
      {"core_link_gbps", &MachineRates::coreLinkGBps},
      {"run_us", &MachineRates::runUs},
      {"graph_launch_us", &MachineRates::graphLaunchUs},
      {"stream_launch_us", &MachineRates::streamLaunchUs},
      {"barrier_us", &MachineRates::barrierUs},
      {"grid_us", &MachineRates::gridUs},
      {"cluster_us", &MachineRates::clusterUs},
      {"block_us", &MachineRates::blockUs},
      {"event_us", &MachineRates::eventUs},
      {"f64_gops", &MachineRates::f64Gops},
      {"other_gops", &MachineRates::otherGops},
      {"operation_us", &MachineRates::operationUs},
      {"convolution_tflops", &MachineRates::convolutionTflops},
      {"padded_gbps", &MachineRates::paddedGBps}};
  std::vector<std::string_view> known = {
      "on",          "shared",         "cores",        "node",
      "cache_bytes", "library_tflops", "kernel_tflops"};
  for (auto [name, number] : numbers)
    known.emplace_back(name);
  at.onlyKeys(known);
  rates.on = readFilled(at.at("on"));
  rates.isShared = at.has("shared") && at.at("shared").boolean();
  rates.cores = at.at("cores").integer(1, 65536);
  constexpr int64_t most = int64_t(1) << 40;
  rates.cacheBytes = static_cast<double>(at.at("cache_bytes").integer(1, most));
  for (auto [name, number] : numbers)
    rates.*number = readPositive(at.at(name));
  rates.libraryTflops = readByType(at.at("library_tflops"));
  if (at.has("node")) {
    JsonAt node = at.at("node");
    node.onlyKeys({"ranks", "network_gbps", "network_us", "message_us"});
    rates.node = {node.at("ranks").integer(1, 65536),
                  readPositive(node.at("network_gbps")),
                  readPositive(node.at("network_us")),
                  readPositive(node.at("message_us"))};
  }
  rates.kernelTflops = readByType(at.at("kernel_tflops"));
  return rates;
}
