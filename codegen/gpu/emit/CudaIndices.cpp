//===- CudaIndices.cpp - Loops over indices as CUDA C++ -------------------===//

#include "codegen/gpu/emit/CudaIndices.h"

using namespace ccn;
using namespace ccn::codegen;
using llvm::StringRef;
using llvm::Twine;

CudaText codegen::indicesOf(StringRef from, const LoopDims &dims,
                            StringRef prefix, int width) {
  CudaText text;
  if (dims.empty())
    return text;
  auto scaled = [&](StringRef value) {
    return width == 1 ? value.str()
                      : ("i64(" + value + ") * " + Twine(width)).str();
  };
  if (dims.size() == 1) {
    text << ("const i64 " + prefix + "0 = " + scaled(from) + "; ");
    return text;
  }
  // Divisions of 32 bits take a fraction of the time.
  StringRef type = product(dims) < (int64_t(1) << 31) ? "u32" : "i64";
  text << (type + " " + prefix + "q = " + type + "(" + from + "); ");
  for (size_t i = dims.size(); i-- > 0;) {
    bool isLast = i + 1 == dims.size();
    std::string name = (prefix + Twine(i)).str();
    if (i == 0) {
      text << ("const i64 " + name + " = " + prefix + "q; ");
      break;
    }
    CudaText size;
    size << (type + "(") << (isLast ? dims[i].size / width : dims[i].size)
         << ")";
    std::string rest = (prefix + "q % ").str();
    text << ("const i64 " + name + " = ");
    if (isLast && width > 1)
      text << "i64(" << rest << size << (") * " + Twine(width));
    else
      text << rest << size;
    text << ("; " + prefix + "q /= ") << size << "; ";
  }
  return text;
}

CudaText codegen::countedLoop(StringRef index, const CudaText &first,
                              const CudaText &count, StringRef step,
                              const CudaText &body) {
  CudaText text;
  text << ("for (i64 " + index + " = ") << first << ("; " + index + " < ")
       << count << ("; " + index + " += " + step + ") {\n") << body << "}\n";
  return text;
}
CudaText codegen::countedLoop(StringRef index, StringRef first,
                              const CudaText &count, StringRef step,
                              const CudaText &body) {
  CudaText begin;
  begin << first;
  return countedLoop(index, begin, count, step, body);
}

CudaText codegen::whetherAligned(const LoopWriter &loop,
                                 llvm::function_ref<CudaText(bool)> pass) {
  if (!loop.needsAlignment())
    return pass(true);
  CudaText text;
  text << ("if (" + loop.variable() + ".aligned()) {\n") << pass(true)
       << "} else {\n"
       << pass(false) << "}\n";
  return text;
}

CudaText codegen::beginSums(const LoopWriter &loop) {
  CudaText text;
  text << ("typename decltype(" + loop.variable() + ")::Sums sums; " +
           loop.variable() + ".begin(sums, ")
       << product(loop.reduced) << " == 0);\n";
  return text;
}

std::string ElementsCall::of(StringRef function) const {
  return (function + "<" + Twine(width) + (areAligned ? "" : ", false") + ">")
      .str();
}

/// The arguments of a call, of which some may be missing.
static std::string join(std::initializer_list<std::string> arguments) {
  std::string all;
  for (const std::string &argument : arguments)
    all += (all.empty() || argument.empty() ? "" : ", ") + argument;
  return all;
}

CudaText codegen::addToSums(const LoopWriter &loop, const ElementsCall &call) {
  CudaText text;
  text << (loop.variable() + ".template " + call.of("accumulate") + "(" +
           join({"sums", loop.indices(true), call.fetched}) + ");\n");
  return text;
}

std::string codegen::finishSums(const LoopWriter &loop) {
  return loop.variable() + ".finish(" +
         join({"sums", loop.indices(false, false)}) + ");\n";
}

CudaText codegen::elementsAt(const LoopWriter &loop, const ElementsCall &call) {
  CudaText text;
  text << (loop.variable() + ".template " + call.of("at") + "(" +
           join({loop.indices(false), call.fetched}) + ");\n");
  return text;
}
