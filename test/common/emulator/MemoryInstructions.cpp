//===- MemoryInstructions.cpp - What PTX says of memory -------------------===//

#include "test/common/emulator/MemoryInstructions.h"

#include <algorithm>
#include <regex>
#include <vector>

using namespace ccn;
using namespace ccn::emulator;

static std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts(1);
  for (char c : text)
    if (c == at)
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

MemoryInstruction emulator::readInstruction(std::string_view opcode) {
  MemoryInstruction result;
  int count = 1, bits = 32;
  for (const std::string &part : split(opcode, '.')) {
    if (part == "acquire")
      result.order = Order::Acquire;
    else if (part == "release")
      result.order = Order::Release;
    else if (part == "sys")
      result.scope = Scope::System;
    else if (part == "gpu" || part == "cluster")
      result.scope = Scope::Device;
    else if (part == "v2" || part == "v4")
      count = part[1] - '0';
    else if (part.size() > 1 &&
             std::string_view("usbf").find(part[0]) != std::string_view::npos &&
             std::all_of(part.begin() + 1, part.end(),
                         [](char c) { return c >= '0' && c <= '9'; }))
      bits = std::stoi(part.substr(1));
  }
  result.bytes = count * bits / 8;
  return result;
}

/// The instructions in the body of a function, each as far as its operands.
static Result<std::vector<std::string>>
instructionsOf(const std::string &source, const std::string &function) {
  size_t begin = 0;
  do
    begin = source.find(function + "(", begin + 1);
  while (begin != source.npos && source[begin - 1] != ' ' &&
         source[begin - 1] != '*');
  if (begin == source.npos)
    return error("the text has no function '", function, "'");
  size_t at = source.find("{", begin);
  std::string body = source.substr(at, source.find("\n}", at) - at);
  // The strings that an instruction begins with; after these come constraints.
  static const std::regex code(
      "\\basm\\s*(?:volatile)?\\s*\\(((?:\\s*\"[^\"]*\")+)");
  std::vector<std::string> found;
  std::string text;
  for (std::sregex_iterator it(body.begin(), body.end(), code), end; it != end;
       ++it)
    text += (*it)[1].str() + ";";
  std::erase(text, '"');
  for (std::string &line : split(text, ';')) {
    size_t first = line.find_first_not_of(" \n\t");
    if (first != line.npos)
      found.push_back(line.substr(first, line.find(' ', first) - first));
  }
  return found;
}

Result<MemoryInstructions>
emulator::readInstructions(const std::string &source) {
  MemoryInstructions result;
  struct Access {
    const char *function;
    MemoryInstruction *to;
  };
  // Kernels have no text for what they do not use.
  auto isThere = [&](const char *function) {
    return source.find(std::string(" ") + function + "(") != source.npos;
  };
  for (auto [function, to] : {Access{"loadAcquire", &result.flagLoad},
                              Access{"loadAcquireOwn", &result.ownLoad},
                              Access{"storeRelease", &result.flagStore},
                              Access{"loadPacket", &result.packetLoad},
                              Access{"storePacket", &result.packetStore}}) {
    if (!isThere(function))
      continue;
    Result<std::vector<std::string>> found = instructionsOf(source, function);
    if (!found)
      return found.status();
    if (found->empty())
      return error("the function '", function, "' has no instruction");
    *to = readInstruction(found->front());
  }
  struct Barrier {
    const char *function;
    Order *to;
  };
  for (auto [function, to] :
       {Barrier{"arriveInCluster", &result.arriveInCluster},
        Barrier{"awaitCluster", &result.awaitCluster}}) {
    if (!isThere(function))
      continue;
    Result<std::vector<std::string>> found = instructionsOf(source, function);
    if (!found)
      return found.status();
    if (found->empty() || found->front().find("relaxed") != std::string::npos)
      *to = Order::Relaxed;
  }
  if (!isThere("awaitCopies"))
    return result;
  Result<std::vector<std::string>> copies =
      instructionsOf(source, "awaitCopies");
  if (!copies)
    return copies.status();
  result.awaitsCopies = std::find(copies->begin(), copies->end(),
                                  "cp.async.wait_all") != copies->end();
  return result;
}
