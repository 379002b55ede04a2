//===- Xml.h - Located errors for XML input ---------------------*- C++ -*-===//
//
// Thin helpers over pugixml: parsing with the line in errors, and attributes
// that must be there and mean something. Errors are thrown as XmlError inside
// the readers and turned into Result at their public entry.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_INTEROP_XML_H
#define CCN_SYNTH_INTEROP_XML_H

#include <pugixml.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ccn::synth {

struct XmlError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class XmlReader {
public:
  XmlReader(std::string_view text, std::string_view where)
      : text(text), where(where) {}

  /// "where:line: message".
  std::string at(ptrdiff_t offset, const std::string &message) const {
    size_t end =
        std::clamp<ptrdiff_t>(offset, 0, static_cast<ptrdiff_t>(text.size()));
    size_t line =
        1 + std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(end),
                       '\n');
    return std::string(where) + ":" + std::to_string(line) + ": " + message;
  }
  /// Where a node begins; text, where its first word does.
  ptrdiff_t beginOf(pugi::xml_node node) const {
    ptrdiff_t offset = node.offset_debug();
    if (node.type() == pugi::node_element || offset < 0)
      return offset;
    size_t word =
        text.find_first_not_of(" \t\r\n", static_cast<size_t>(offset));
    return word == std::string_view::npos ? offset
                                          : static_cast<ptrdiff_t>(word);
  }
  [[noreturn]] void fail(ptrdiff_t offset, const std::string &message) const {
    throw XmlError(at(offset, message));
  }
  /// Parses the text; the root must be `name`, and alone. Elements are within
  /// each other only so far that recursion over them does not overflow the
  /// stack.
  pugi::xml_node root(const char *name) {
    // The parser takes a zero byte for the end.
    if (size_t zero = text.find('\0'); zero != std::string_view::npos)
      fail(static_cast<ptrdiff_t>(zero), "not valid XML: found a zero byte");
    pugi::xml_parse_result parsed = document.load_buffer(
        text.data(), text.size(), pugi::parse_default | pugi::parse_fragment);
    if (!parsed) {
      std::string what = parsed.description();
      what[0] = static_cast<char>(std::tolower(what[0]));
      fail(parsed.offset, "not valid XML: " + what);
    }
    pugi::xml_node node = document.document_element();
    if (std::string_view(node.name()) != name)
      fail(node.offset_debug(),
           std::string("expected <") + name + ">, found <" + node.name() + ">");
    for (pugi::xml_node other : document.children())
      if (other != node)
        fail(beginOf(other),
             std::string("expected <") + name + "> alone, found " +
                 (other.type() == pugi::node_element
                      ? std::string("another element, <") + other.name() + ">"
                      : "text outside it"));
    Depth depth;
    document.traverse(depth);
    if (depth.tooDeep)
      fail(depth.tooDeep.offset_debug(),
           "expected at most " + std::to_string(maxDepth) +
               " elements within each other, found more");
    return node;
  }
  std::string attribute(pugi::xml_node node, const char *name) const {
    pugi::xml_attribute a = node.attribute(name);
    if (!a)
      fail(node.offset_debug(), std::string("<") + node.name() +
                                    ">: expected the attribute \"" + name +
                                    "\", found none");
    for (pugi::xml_attribute b = a.next_attribute(); b; b = b.next_attribute())
      if (std::string_view(b.name()) == name)
        fail(node.offset_debug(), std::string("<") + node.name() +
                                      ">: expected one attribute \"" + name +
                                      "\", found two");
    return a.value();
  }
  int64_t number(pugi::xml_node node, const char *name, int64_t lo,
                 int64_t hi) const {
    std::string value = attribute(node, name);
    int64_t result = 0;
    auto [end, ec] =
        std::from_chars(value.data(), value.data() + value.size(), result);
    if (ec != std::errc() || end != value.data() + value.size() ||
        result < lo || result > hi)
      fail(node.offset_debug(),
           std::string("<") + node.name() + " " + name +
               ">: expected an integer from " + std::to_string(lo) + " to " +
               std::to_string(hi) + ", found \"" + value + "\"");
    return result;
  }

protected:
  std::string_view text, where;

private:
  static constexpr int maxDepth = 100;

  /// Stops at the first element that is too deep; goes without recursion.
  struct Depth : pugi::xml_tree_walker {
    bool for_each(pugi::xml_node &node) override {
      if (depth() >= maxDepth && node.type() == pugi::node_element)
        tooDeep = node;
      return !tooDeep;
    }
    pugi::xml_node tooDeep;
  };

  pugi::xml_document document;
};

} // namespace ccn::synth

#endif // CCN_SYNTH_INTEROP_XML_H
