//===- ProgramGenerator.h - Random programs ---------------------*- C++ -*-===//
//
// Makes programs that are right, statement by statement: motifs that schedules
// are made for (gradients, products and their reductions, stages of a pipeline,
// experts), and around them operations of every kind on what is there.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_RANDOM_PROGRAMGENERATOR_H
#define CCN_TEST_RANDOM_PROGRAMGENERATOR_H

#include "Program.h"
#include "Random.h"
#include "Tensor.h"

#include <functional>

namespace ccn::random {

/// An expression and what it is. One that is not a name or a call stands in
/// parentheses.
struct Value {
  std::string text;
  Tensor type;
};

class ProgramGenerator {
public:
  /// `isLarge`: for meshes of more ranks than a GPU's kernel addresses.
  explicit ProgramGenerator(Random &random, bool isLarge = false);

  Program generate();

private:
  using Maybe = std::optional<Value>;

  // Values.
  Value let(const Value &value);
  /// Two values of one statement: what a new function of both returns.
  void letPair(const Value &first, const Value &second);
  /// Calls a new function that returns the values.
  std::string call(const std::vector<Value> &returned);
  /// A new argument.
  Value argument(const Tensor &type, bool isInout = false);
  /// A value of that type: one that is there or a new argument.
  Value input(const Tensor &type);
  /// A value that is there, the latest ones preferred; none if none fits.
  Maybe find(const std::function<bool(const Tensor &)> &fits);
  Value any();
  /// A value without a reduction pending.
  Maybe findReduced();
  /// A value that can be combined with x, element by element.
  Value partner(const Value &x);
  /// Two of them, without a reduction pending, and what type they have
  /// together; none if they have none.
  struct Pair {
    std::string x, y;
    Tensor type;
  };
  std::optional<Pair> findPair();
  /// Indices of rows, held as the table lets it.
  Value indicesOf(const Tensor &table);
  void store(const Value &target, const Value &value);
  /// Stores an update of the value in a new or old argument.
  void update(const Value &value);

  // Types.
  Tensor replicated(const std::string &element, const Shape &shape) const {
    return Tensor(element, shape, mesh);
  }
  std::string drawElement();
  int64_t drawSize();
  Shape drawShape();
  Held drawReduction();
  /// Any layout; local or pending only if asked for.
  Tensor drawLayout(Tensor type, bool canBeHeld);
  /// Axes, one at least, in the mesh's order.
  std::vector<size_t> drawAxes();
  size_t drawAxis() {
    return static_cast<size_t>(random.below(int64_t(mesh.size())));
  }
  /// Another axis of a mesh that has more than one.
  size_t otherAxis(size_t axis) {
    return (axis + 1 +
            static_cast<size_t>(random.below(int64_t(mesh.size()) - 1))) %
           mesh.size();
  }
  /// `, a, b`, or nothing where the mesh has one axis.
  std::string axesText(const std::vector<size_t> &axes);
  std::string literal(const Tensor &type);

  // Operations on what is there; none where they do not fit.
  Maybe operation(unsigned depth);
  Maybe operand(unsigned depth);
  Maybe unary(unsigned depth);
  Maybe binary(unsigned depth);
  Maybe scaled(unsigned depth);
  Maybe compared();
  Maybe selected();
  Maybe converted();
  Maybe dropout();
  Maybe indices();
  Maybe reduction();
  Maybe norm();
  Maybe product();
  Maybe convolution();
  Maybe transposed();
  Maybe reshaped();
  Maybe range();
  Maybe joined();
  Maybe repeated();
  Maybe rows();
  Maybe addedRows();
  Maybe repetition();
  Maybe collective();
  Maybe allReduce(const Value &x);
  Maybe reduceScatter(const Value &x);
  Maybe allGather(const Value &x);
  Maybe cutSlice(const Value &x);
  Maybe allToAll(const Value &x);
  Maybe rooted(const Value &x);
  Maybe send(const Value &x);
  Maybe reshard(const Value &x);

  // Motifs.
  void gradients();
  void reducedProduct();
  void gatheredProduct();
  void pipelineStage();
  void stages();
  /// A part of what came in, as it lies in memory.
  Value viewed(Value x);
  void experts();
  void norms();
  void replacements();
  /// A few operations, element by element, on x.
  Value pointwise(Value x, unsigned count);

  Random &random;
  Mesh mesh;
  Program program;
  std::vector<int64_t> sizes;
  std::string element;
  Shape shape;
  /// In the order in which they were made, the arguments first.
  std::vector<Value> values;
  /// Of `values`, those that can be stored to.
  std::vector<Value> states;
  /// What was called for before, to be called for again.
  std::vector<Value> calls;
  unsigned numArguments = 0, numLets = 0, numStates = 0;
};

} // namespace ccn::random

#endif // CCN_TEST_RANDOM_PROGRAMGENERATOR_H
