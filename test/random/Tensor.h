//===- Tensor.h - Types of random values ------------------------*- C++ -*-===//
//
// What the generator knows about a value: its element type, shape and layout,
// and how these combine. Written from LANGUAGE.md and not in terms of the
// compiler's own inference, so that each checks the other.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_RANDOM_TENSOR_H
#define CCN_TEST_RANDOM_TENSOR_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ccn::random {

using Shape = std::vector<int64_t>;

struct Axis {
  std::string name;
  int64_t size;
};

struct Mesh {
  std::vector<Axis> axes;

  size_t size() const { return axes.size(); }
  int64_t numRanks() const;
};

/// How ranks of an axis that does not cut a tensor hold it.
enum class Held : char { Same, Local, Sum, Prod, Max, Min };

/// `sum`, `prod`, `max`, `min`.
const char *reductionName(Held held);

struct Tensor {
  std::string element;
  Shape shape;
  /// By dimension, the axes that cut it, the outermost first.
  std::vector<std::vector<size_t>> cuts;
  /// By axis.
  std::vector<Held> held;

  /// Replicated.
  Tensor(std::string element, Shape shape, const Mesh &mesh)
      : element(std::move(element)), shape(std::move(shape)),
        cuts(this->shape.size()), held(mesh.size(), Held::Same) {}

  size_t rank() const { return shape.size(); }
  int64_t count() const;
  bool isFloat() const { return element[0] == 'f' || element == "bf16"; }
  /// The dimension that the axis cuts.
  std::optional<size_t> cutBy(size_t axis) const;
  bool isReplicated(size_t axis) const {
    return !cutBy(axis) && held[axis] == Held::Same;
  }
  bool isReplicated() const;
  bool isLocal(size_t axis) const { return held[axis] == Held::Local; }
  bool isPending(size_t axis) const { return held[axis] > Held::Local; }
  /// The kind of reduction that is pending, if one is.
  std::optional<Held> pending() const;
  bool sameLayout(const Tensor &other) const {
    return cuts == other.cuts && held == other.held;
  }
  bool operator==(const Tensor &) const = default;

  /// `f32[3, 4] sliced(0, a) local(b)`.
  std::string text(const Mesh &mesh) const;
  /// `sliced(0, a) local(b)`, or `replicated`.
  std::string layoutText(const Mesh &mesh) const;
};

/// What an operation element by element makes of x and of y, which is repeated
/// to the shape of x; none if it is wrong. Nothing may be pending.
std::optional<Tensor> combine(const Tensor &x, const Tensor &y);
/// What x + y is where sums are pending on both.
std::optional<Tensor> combinePending(const Tensor &x, const Tensor &y);
/// A product of x[.., M, K] and y[K, N] or y[.., K, N]; none if it is wrong or
/// too large.
std::optional<Tensor> multiply(const Tensor &x, const Tensor &y);
/// A reduction over a dimension; `kind` is what is pending after one over a
/// dimension that is cut.
std::optional<Tensor> reduceOver(const Tensor &x, size_t dim, Held kind);
/// Whether a store changes `x` to the layout of `target`.
bool isStorable(const Tensor &x, const Tensor &target);

} // namespace ccn::random

#endif // CCN_TEST_RANDOM_TENSOR_H
