//===- CudaText.h - Kernels that ranks and launches share -------*- C++ -*-===//
//
// The kernels of ranks, and of chunks, are the same but for sizes and places.
// So their text is written with the numbers apart: kernels of the same text
// become one, in which a number that all agree on is a literal, and each other
// one is read from the kernel's parameters.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_EMIT_CUDATEXT_H
#define CCN_CODEGEN_GPU_EMIT_CUDATEXT_H

#include "codegen/gpu/map/KernelPlan.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ccn::codegen {

/// Text with numbers in it that may differ between kernels.
class CudaText {
public:
  CudaText &operator<<(const llvm::Twine &more) {
    text += more.str();
    return *this;
  }
  CudaText &operator<<(const CudaText &more) {
    text += more.text;
    numbers.insert(numbers.end(), more.numbers.begin(), more.numbers.end());
    return *this;
  }
  /// A number of type i64.
  CudaText &operator<<(int64_t number) {
    text += numberMark;
    numbers.push_back(number);
    return *this;
  }
  /// The name of the kernel.
  CudaText &kernelName() {
    text += nameMark;
    return *this;
  }

  static constexpr char numberMark = '\1', nameMark = '\2';
  std::string text;
  std::vector<int64_t> numbers;
};

/// A kernel of one launch of one rank.
struct CudaKernel {
  const KernelPlan *plan;
  /// What is declared before it, and its body; in both `n` are the numbers. In
  /// the body `t` are the tensor maps of the plan's launch, if it has some.
  CudaText declarations = {}, body = {};
};

/// Gathers kernels.
class CudaKernels {
public:
  /// Kernels get so many addresses of arguments. Above each stand the lines of
  /// `text`, the program's file, that say what it computes.
  explicit CudaKernels(size_t addresses, llvm::StringRef text = "")
      : addresses(std::max<size_t>(addresses, 1)) {
    text.split(lines, '\n');
  }

  size_t addressCount() const { return addresses; }

  /// Adds the kernel of the next launch of a rank. If it is another one by
  /// messages, that has the same properties.
  void add(size_t rank, CudaKernel kernel,
           std::optional<CudaKernel> byMessages = std::nullopt);
  /// Adds the preferred kernel of the launch that was added last to a rank.
  void addPreferred(size_t rank, CudaKernel kernel);
  /// Puts the merged kernels' text behind the program's, for both transports or
  /// each, and the rest in `program`.
  void finish(runtime::GpuProgram &program);

private:
  struct Use {
    size_t rank, index;
    std::vector<int64_t> numbers;
    bool isPreferred;
  };
  struct Shared {
    CudaKernel kernel;
    std::optional<CudaKernel> byMessages;
    std::vector<Use> uses;
    /// Of the program's file.
    std::set<int> lines;
  };

  void addUse(size_t rank, CudaKernel kernel,
              std::optional<CudaKernel> byMessages, bool isPreferred);
  runtime::GpuLaunch &launchOf(const Use &use);
  std::string describe(const Shared &shared, const KernelPlan &plan) const;
  /// The text of one of its kernels, whose numbers are spelled so.
  std::string textOf(const Shared &shared, const CudaKernel &kernel,
                     const runtime::GpuKernel &properties,
                     llvm::ArrayRef<std::string> spelled) const;

  size_t addresses;
  llvm::SmallVector<llvm::StringRef> lines;
  std::map<std::string, size_t> known;
  std::vector<Shared> kernels;
  std::vector<std::vector<runtime::GpuLaunch>> launches;
};

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_EMIT_CUDATEXT_H
