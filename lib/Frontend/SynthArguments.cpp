//===- SynthArguments.cpp - `synth(...)` in schedules ---------------------===//
//
// Reads the arguments of `synth(...)`: a topology, then an objective or the
// numbers of chunks, steps and rounds.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/Lowering.h"

#include "llvm/Support/Path.h"

using namespace mlir;
using namespace ccn;
using namespace ccn::frontend;

std::string FileLowering::resolvePath(StringRef path) const {
  SmallString<128> resolved;
  if (!llvm::sys::path::is_absolute(path))
    resolved = llvm::sys::path::parent_path(source->getName());
  llvm::sys::path::append(resolved, path);
  return resolved.str().str();
}

DictionaryAttr
FileLowering::readSynthArgs(const ast::AlgorithmClause &algorithm) {
  NamedAttrList attrs;
  bool ok = true;
  auto report = [&](SourceRange range, const Twine &message) {
    error(range, message);
    ok = false;
  };
  static constexpr StringRef known[] = {"topology", "objective", "chunks",
                                        "steps",    "rounds",    "seconds"};
  for (auto [index, arg] : llvm::enumerate(algorithm.synthArgs)) {
    StringRef key;
    if (arg.key)
      key = arg.key->text;
    else if (index < 2)
      key = known[index];
    if (key.empty()) {
      report(arg.range, "expected 'name = value' after topology and objective");
      continue;
    }
    if (!llvm::is_contained(known, key)) {
      report(arg.key->range, "unknown argument '" + key +
                                 "' of synth, expected 'topology', "
                                 "'objective', 'chunks', 'steps', 'rounds' or "
                                 "'seconds'" +
                                 didYouMean(key, known));
      continue;
    }
    if (attrs.get(key)) {
      report(arg.range, "'" + key + "' is given twice");
      continue;
    }
    auto *name = dyn_cast_or_null<ast::NameExpr>(arg.value);
    if (key == "topology" || key == "objective") {
      if (!arg.string && !name) {
        report(arg.range, "expected a name or a string as " + key);
        continue;
      }
      std::string text =
          arg.string ? arg.string->value.str() : name->name.str();
      if (key == "objective" && text != "latency" && text != "bandwidth")
        report(arg.range,
               "expected objective 'latency' or 'bandwidth', found '" + text +
                   "'");
      bool isFile = llvm::any_of(
          ArrayRef<StringRef>{".json", ".xml", ".txt"},
          [&](StringRef end) { return StringRef(text).ends_with(end); });
      if (key == "topology" && isFile)
        text = resolvePath(text);
      attrs.set(key, builder.getStringAttr(text));
      continue;
    }
    if (arg.string) {
      report(arg.range, "expected a number as " + key + ", found a string");
      continue;
    }
    std::optional<int64_t> value = evaluateInteger(arg.value, key);
    if (!value)
      ok = false;
    else if (*value < 1 || *value > std::numeric_limits<int32_t>::max())
      report(arg.range, "expected from 1 to 2147483647 as " + key + ", found " +
                            Twine(*value));
    else
      attrs.set(key, builder.getI64IntegerAttr(*value));
  }
  if (ok && !attrs.get("topology"))
    report(algorithm.range, "expected a topology, as in synth(dgx1, "
                            "latency)");
  if (!ok)
    return {};
  bool numbers =
      attrs.get("chunks") && attrs.get("steps") && attrs.get("rounds");
  bool some = attrs.get("chunks") || attrs.get("steps") || attrs.get("rounds");
  if (numbers != some || numbers == (attrs.get("objective") != nullptr))
    report(algorithm.range, "expected either an objective ('latency' or "
                            "'bandwidth') or 'chunks', 'steps' and "
                            "'rounds'");
  return ok ? attrs.getDictionary(context) : DictionaryAttr();
}
