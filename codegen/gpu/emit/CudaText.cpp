//===- CudaText.cpp - Kernels that ranks and launches share ---------------===//

#include "codegen/gpu/emit/CudaText.h"

#include "codegen/gpu/map/PlanPrinter.h"

#include "llvm/Support/JSON.h"

#include <algorithm>

using namespace ccn;
using namespace ccn::codegen;

/// The numbers of a kernel, in the order of its text.
static std::vector<int64_t> numbersOf(const CudaKernel &kernel) {
  std::vector<int64_t> numbers = kernel.declarations.numbers;
  llvm::append_range(numbers, kernel.body.numbers);
  return numbers;
}

void CudaKernels::add(size_t rank, CudaKernel kernel,
                      std::optional<CudaKernel> byMessages) {
  launches.resize(std::max(launches.size(), rank + 1));
  if (kernel.body.text.empty()) {
    launches[rank].push_back({-1, 1, 0, {}});
    return;
  }
  launches[rank].push_back(kernel.plan->launch);
  addUse(rank, std::move(kernel), std::move(byMessages),
         /*isPreferred=*/false);
}

void CudaKernels::addPreferred(size_t rank, CudaKernel kernel) {
  launches[rank].back().preferred = {kernel.plan->launch};
  addUse(rank, std::move(kernel), std::nullopt, /*isPreferred=*/true);
}

runtime::GpuLaunch &CudaKernels::launchOf(const Use &use) {
  runtime::GpuLaunch &launch = launches[use.rank][use.index];
  return use.isPreferred ? launch.preferred.front() : launch;
}

/// Has the last launch of a rank use a kernel.
void CudaKernels::addUse(size_t rank, CudaKernel kernel,
                         std::optional<CudaKernel> byMessages,
                         bool isPreferred) {
  const runtime::GpuKernel &properties = kernel.plan->properties;
  std::string key = kernel.declarations.text + kernel.body.text;
  std::vector<int64_t> numbers = numbersOf(kernel);
  if (byMessages) {
    key += "/" + byMessages->declarations.text + byMessages->body.text;
    llvm::append_range(numbers, numbersOf(*byMessages));
  }
  for (int64_t property :
       {properties.threads, properties.sharedBytes, properties.blockBytes,
        static_cast<int64_t>(properties.waits),
        static_cast<int64_t>(properties.isOfAllRanks),
        static_cast<int64_t>(properties.clusters),
        static_cast<int64_t>(kernel.plan->launch.tensorMaps.size()),
        static_cast<int64_t>(kernel.plan->takesRegisters),
        static_cast<int64_t>(kernel.plan->takesFewRegisters)})
    key += "/" + std::to_string(property);
  auto [it, isNew] = known.try_emplace(std::move(key), kernels.size());
  const std::vector<int> &lines = kernel.plan->lines;
  if (isNew)
    kernels.push_back({std::move(kernel), std::move(byMessages), {}, {}});
  kernels[it->second].lines.insert(lines.begin(), lines.end());
  Use use{rank, launches[rank].size() - 1, std::move(numbers), isPreferred};
  launchOf(use).kernel = static_cast<int>(it->second);
  kernels[it->second].uses.push_back(std::move(use));
}

/// A literal of type i64.
static std::string literal(int64_t value) {
  if (value == INT64_MIN)
    return "(-9223372036854775807LL - 1)";
  return value < 0 ? "(" + std::to_string(value) + "LL)"
                   : std::to_string(value) + "LL";
}

/// A text whose lines are as far in as their braces are deep, and further where
/// they go on with what the line before begins.
static std::string indented(llvm::StringRef text) {
  std::string result;
  int depth = 0;
  bool goesOn = false;
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    text = rest;
    line = line.trim();
    bool isDirective = line.starts_with("#");
    auto leading =
        static_cast<int>(std::min(line.find_first_not_of('}'), line.size()));
    int steps = depth - leading;
    if (goesOn)
      steps += line.starts_with(":") ? 2 : 1;
    if (!line.empty() && !isDirective)
      result += std::string(2 * static_cast<size_t>(std::max(steps, 0)), ' ');
    result += line;
    result += '\n';
    if (line.empty() || isDirective || line.starts_with("//"))
      continue;
    depth +=
        static_cast<int>(line.count('{')) - static_cast<int>(line.count('}'));
    goesOn = !llvm::is_contained({';', '{', '}'}, line.back());
  }
  return result;
}

/// A line of any text, as one of a comment, which must not go on with the next.
static std::string commentLine(llvm::StringRef line) {
  std::string text = "// " + llvm::json::fixUTF8(line);
  for (char &c : text)
    if (static_cast<unsigned char>(c) < ' ')
      c = ' ';
  return llvm::StringRef(text).rtrim("\\ ").str() + '\n';
}

/// Which launches of which ranks a kernel is of, what the program says that it
/// computes, and its plan, as a comment.
std::string CudaKernels::describe(const Shared &shared,
                                  const KernelPlan &plan) const {
  std::map<size_t, std::vector<size_t>> ranks;
  for (const Use &use : shared.uses)
    ranks[use.index].push_back(use.rank);
  std::string text;
  llvm::raw_string_ostream os(text);
  std::map<std::vector<size_t>, std::vector<size_t>> launches;
  for (const auto &[launch, own] : ranks)
    launches[own].push_back(launch);
  for (const auto &[own, of] : launches)
    os << (of.size() == 1 ? "launch " : "launches ") << rangesOf(of)
       << " of ranks " << rangesOf(own) << '\n';
  // Layers that share a kernel may be many.
  constexpr size_t mostLines = 24;
  size_t count = 0;
  for (int line : shared.lines) {
    if (line < 1 || static_cast<size_t>(line) > lines.size())
      continue;
    if (count++ == mostLines) {
      os << "    ...\n";
      break;
    }
    os << "    " << line << ": " << lines[static_cast<size_t>(line - 1)].trim()
       << '\n';
  }
  printKernel(os << '"' << plan.name << "\":", plan);
  std::string comment;
  for (llvm::StringRef rest = text; !rest.empty();) {
    auto [line, more] = rest.split('\n');
    comment += commentLine(line);
    rest = more;
  }
  return comment;
}

std::string CudaKernels::textOf(const Shared &shared, const CudaKernel &kernel,
                                const runtime::GpuKernel &properties,
                                llvm::ArrayRef<std::string> spelled) const {
  std::string text;
  auto append = [&](const CudaText &more) {
    for (char c : more.text) {
      if (c == CudaText::numberMark) {
        text += spelled.front();
        spelled = spelled.drop_front();
      } else if (c == CudaText::nameMark) {
        text += properties.name;
      } else {
        text += c;
      }
    }
  };
  const std::string &name = properties.name;
  text += "\nusing A_" + name + " = Pointers<" + std::to_string(addresses) +
          ">;\nusing N_" + name + " = Numbers<" +
          std::to_string(properties.numbers) + ">;\n";
  append(kernel.declarations);
  text += describe(shared, *kernel.plan);
  text += "extern \"C\" __global__ void __launch_bounds__(" +
          std::to_string(properties.threads) +
          (kernel.plan->takesRegisters      ? ", 1) "
           : kernel.plan->takesFewRegisters ? ", 2) "
                                            : ") ") +
          name + "(const __grid_constant__ CcnContext c, const " +
          "__grid_constant__ A_" + name + " a, const __grid_constant__ N_" +
          name + " n";
  if (properties.tensorMaps > 0)
    text += ", const __grid_constant__ TensorMaps<" +
            std::to_string(properties.tensorMaps) + "> t";
  text += ") {\n";
  append(kernel.body);
  text += "}\n";
  return indented(text);
}

void CudaKernels::finish(runtime::GpuProgram &program) {
  for (auto [k, shared] : llvm::enumerate(kernels)) {
    runtime::GpuKernel properties = shared.kernel.plan->properties;
    properties.tensorMaps =
        static_cast<int64_t>(shared.kernel.plan->launch.tensorMaps.size());
    properties.name = "kernel" + std::to_string(k);
    // What each number is in the text. Numbers that are always the same as
    // others share their place.
    std::vector<std::string> spelled;
    std::map<std::vector<int64_t>, size_t> places;
    for (size_t i = 0; i < shared.uses.front().numbers.size(); ++i) {
      std::vector<int64_t> values;
      for (const Use &use : shared.uses)
        values.push_back(use.numbers[i]);
      if (std::equal(values.begin() + 1, values.end(), values.begin())) {
        spelled.push_back(literal(values.front()));
        continue;
      }
      auto [place, isNew] = places.try_emplace(values, places.size());
      if (isNew)
        for (const Use &use : shared.uses)
          launchOf(use).numbers.push_back(use.numbers[i]);
      spelled.push_back("n.at[" + std::to_string(place->second) + "]");
    }
    properties.numbers =
        std::max<int64_t>(1, static_cast<int64_t>(places.size()));
    for (const Use &use : shared.uses)
      launchOf(use).numbers.resize(static_cast<size_t>(properties.numbers));

    // The numbers of messages come after the others.
    size_t count = numbersOf(shared.kernel).size();
    llvm::ArrayRef<std::string> all = spelled;
    std::string own = textOf(shared, shared.kernel, properties, all);
    if (shared.byMessages) {
      program.peerSource += own;
      program.messageSource +=
          textOf(shared, *shared.byMessages, properties, all.drop_front(count));
    } else {
      // What waits for other ranks without another kernel by messages is only
      // preferred.
      bool isOfPeers = properties.waits && shared.uses.front().isPreferred;
      (isOfPeers ? program.peerSource : program.source) += own;
    }
    program.kernels.push_back(std::move(properties));
  }
  program.launches = std::move(launches);
}
