//===- TopologyImport.cpp - Machines as their tools show them -------------===//
//
// Tells the formats apart, and files from names.
//
//===----------------------------------------------------------------------===//

#include "synth/interop/TopologyImport.h"

using namespace ccn;
using namespace ccn::synth;

Result<Topology> ccn::synth::parseAnyTopology(std::string_view text,
                                              std::string_view where,
                                              const ImportOptions &options) {
  size_t at = text.find_first_not_of(" \t\r\n");
  char first = at == std::string_view::npos ? '{' : text[at];
  if (first == '{')
    return parseTopology(text, where);
  return first == '<' ? parseNcclTopology(text, where, options)
                      : parseNvidiaSmi(text, where, options);
}

Result<Topology> ccn::synth::loadTopology(const std::string &nameOrFile,
                                          const ImportOptions &options) {
  bool isFile = nameOrFile == "-" ||
                nameOrFile.find('/') != std::string::npos ||
                nameOrFile.ends_with(".json") || nameOrFile.ends_with(".xml") ||
                nameOrFile.ends_with(".txt");
  if (!isFile)
    return buildTopology(nameOrFile);
  Result<std::string> text = readFile(nameOrFile);
  if (!text)
    return text.status();
  return parseAnyTopology(*text, nameOrFile == "-" ? "<stdin>" : nameOrFile,
                          options);
}
