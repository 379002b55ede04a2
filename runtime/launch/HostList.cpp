//===- HostList.cpp - Lists of hosts as Slurm writes them -----------------===//
//
// A parser that multiplies out: each bracket appends its numbers to every name
// that the text before it stands for.
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/HostList.h"

#include <charconv>
#include <cstdint>

namespace ccn::runtime {

namespace {

constexpr size_t maxHosts = 65536;
/// So that a number fits 64 bits.
constexpr size_t maxDigits = 18;

class Parser {
public:
  explicit Parser(std::string_view text) : text(text) {}

  Result<std::vector<std::string>> parse() {
    std::vector<std::string> hosts;
    do {
      std::vector<std::string> names = {""};
      size_t begin = at;
      while (at < text.size() && text[at] != ',') {
        Status status = text[at] == '[' ? bracket(names) : letter(names);
        if (!status)
          return status;
      }
      if (at == begin)
        return expected("a host");
      if (hosts.size() + names.size() > maxHosts)
        return tooMany();
      hosts.insert(hosts.end(), names.begin(), names.end());
    } while (take(','));
    return hosts;
  }

private:
  struct Number {
    uint64_t value;
    size_t digits;
  };

  Status expected(const char *what) const {
    if (at >= text.size())
      return error("expected ", what, " at its end");
    return error("expected ", what, " at character ", at + 1, ", found '",
                 text[at], "'");
  }
  static Status tooMany() {
    return error("expected at most ", maxHosts, " hosts");
  }

  bool take(char c) {
    if (at >= text.size() || text[at] != c)
      return false;
    ++at;
    return true;
  }

  Status letter(std::vector<std::string> &names) {
    char c = text[at];
    // What no host's name has: control characters, and ] with no [ before it.
    if (c == ']' || static_cast<unsigned char>(c) <= ' ' || c == 0x7f)
      return expected("a host's name");
    for (std::string &name : names)
      name += c;
    ++at;
    return Status();
  }

  Result<Number> number() {
    size_t begin = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9')
      ++at;
    if (at == begin)
      return expected("a number");
    Number result{0, at - begin};
    if (result.digits > maxDigits)
      return error("expected at most ", maxDigits,
                   " digits in the number at character ", begin + 1);
    std::from_chars(text.data() + begin, text.data() + at, result.value);
    return result;
  }

  Status bracket(std::vector<std::string> &names) {
    ++at;
    std::vector<std::string> numbers;
    do {
      size_t begin = at;
      Result<Number> first = number();
      if (!first)
        return first.status();
      Result<Number> last = take('-') ? number() : first;
      if (!last)
        return last.status();
      if (last->value < first->value)
        return error("expected a range that does not go down, found '",
                     text.substr(begin, at - begin), "' at character ",
                     begin + 1);
      uint64_t count = last->value - first->value;
      if (count >= maxHosts || numbers.size() + count + 1 > maxHosts)
        return tooMany();
      for (uint64_t i = first->value; i <= last->value; ++i) {
        std::string digits = std::to_string(i);
        if (digits.size() < first->digits)
          digits.insert(0, first->digits - digits.size(), '0');
        numbers.push_back(std::move(digits));
      }
    } while (take(','));
    if (!take(']'))
      return expected("',', '-' or ']'");
    if (names.size() * numbers.size() > maxHosts)
      return tooMany();
    std::vector<std::string> product;
    for (const std::string &name : names)
      for (const std::string &number : numbers)
        product.push_back(name + number);
    names = std::move(product);
    return Status();
  }

  std::string_view text;
  size_t at = 0;
};

} // namespace

Result<std::vector<std::string>> expandHostList(std::string_view text) {
  return Parser(text).parse();
}

} // namespace ccn::runtime
