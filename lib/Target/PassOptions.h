//===- PassOptions.h - Targets and machines as options of passes *- C++ -*-===//
//
// Lets options of passes be targets and machines, so that the driver can pass
// these on unchanged. In pipelines they are written as on the command line of
// cccompile.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_TARGET_PASSOPTIONS_H
#define CCN_LIB_TARGET_PASSOPTIONS_H

#include "lib/Target/Machine.h"

#include "llvm/Support/CommandLine.h"

namespace ccn {

/// Reads values of type T by a function, and writes them by their name.
template <typename T, Result<T> parseText(std::string_view)>
class PassOptionParser : public llvm::cl::basic_parser<T> {
public:
  explicit PassOptionParser(llvm::cl::Option &option)
      : llvm::cl::basic_parser<T>(option) {}

  /// Returns true on failure, as LLVM's parsers do. A value without a name,
  /// such as no machine, is written as an empty text.
  bool parse(llvm::cl::Option &option, llvm::StringRef, llvm::StringRef text,
             T &value) {
    Result<T> parsed = text.empty() ? T() : parseText(text);
    if (!parsed)
      return option.error(parsed.message());
    value = *std::move(parsed);
    return false;
  }
  static void print(llvm::raw_ostream &os, const T &value) {
    os << textOf(value);
  }
  void printOptionDiff(const llvm::cl::Option &option, const T &,
                       const llvm::cl::OptionValue<T> &, size_t width) const {
    this->printOptionNoValue(option, width);
  }
  void anchor() override {}

private:
  static llvm::StringRef textOf(const Target &target) { return target.name(); }
  static llvm::StringRef textOf(const Machine &machine) { return machine.name; }
};

} // namespace ccn

namespace llvm::cl {

template <>
class parser<ccn::Target>
    : public ccn::PassOptionParser<ccn::Target, ccn::parseTarget> {
public:
  using PassOptionParser::PassOptionParser;
  StringRef getValueName() const override { return "target"; }
};

template <>
class parser<ccn::Machine>
    : public ccn::PassOptionParser<ccn::Machine, ccn::loadMachine> {
public:
  using PassOptionParser::PassOptionParser;
  StringRef getValueName() const override { return "machine"; }
};

} // namespace llvm::cl

#endif // CCN_LIB_TARGET_PASSOPTIONS_H
