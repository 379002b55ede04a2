//===- HostTensor.h - A dense tensor in host memory -------------*- C++ -*-===//
//
// The value of the reference interpreter: an element type, a shape and
// row-major elements. Storage is shared and, once a tensor has been handed out,
// immutable: copying a tensor copies no elements, ranks may hold the same
// storage, and every kernel makes a new tensor.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_TENSOR_HOSTTENSOR_H
#define CCN_RUNTIME_TENSOR_HOSTTENSOR_H

#include "runtime/base/Status.h"
#include "runtime/tensor/ElementType.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ccn::runtime {

/// Sizes of the dimensions, outermost first, each >= 0; empty for a scalar.
using Shape = std::vector<int64_t>;

/// The number of elements of a shape. An error if a size is negative or the
/// product of the sizes that are not zero overflows (so that strides never do).
Result<int64_t> elementCount(const Shape &shape);

/// Row-major strides in elements, for a shape elementCount accepts.
Shape rowMajorStrides(const Shape &shape);

/// "f32[3, 4]"; "f32" for a scalar.
std::string describe(ElementType type, const Shape &shape);

class HostTensor {
public:
  /// The scalar f32 zero.
  HostTensor();

  /// A tensor whose elements are not set. An error if the shape is invalid or
  /// takes more memory than the machine has.
  static Result<HostTensor> uninitialized(ElementType type, Shape shape);
  static Result<HostTensor> zeros(ElementType type, Shape shape);
  /// Row-major elements in the types' own representation; `byteCount` must be
  /// what the shape needs. Bytes of a bool other than 0 become 1.
  static Result<HostTensor> fromBytes(ElementType type, Shape shape,
                                      const void *data, int64_t byteCount);
  /// Every element is `value`, converted as by fromDoubles / fromIntegers.
  static Result<HostTensor> splat(ElementType type, Shape shape, double value);
  static Result<HostTensor> splatInteger(ElementType type, Shape shape,
                                         int64_t value);
  /// Every element is the one at `element`, in the type's own representation.
  static Result<HostTensor> filled(ElementType type, Shape shape,
                                   const std::byte *element);
  /// Converts each value as `cast` does. An error if the count does not match.
  static Result<HostTensor> fromDoubles(ElementType type, Shape shape,
                                        const std::vector<double> &values);
  static Result<HostTensor> fromIntegers(ElementType type, Shape shape,
                                         const std::vector<int64_t> &values);

  ElementType type() const { return elementType; }
  const Shape &shape() const { return sizes; }
  int64_t rank() const { return static_cast<int64_t>(sizes.size()); }
  int64_t size(int64_t dim) const { return sizes[static_cast<size_t>(dim)]; }
  int64_t count() const { return elements; }
  int64_t byteCount() const { return elements * sizeInBytes(elementType); }
  std::string describe() const {
    return ccn::runtime::describe(elementType, sizes);
  }

  /// The elements, 64-byte aligned. Never null.
  const std::byte *data() const { return storage.get(); }
  template <typename T> const T *dataAs() const {
    return reinterpret_cast<const T *>(storage.get());
  }

  /// The elements, to be set by who has just made this tensor and has not yet
  /// copied it.
  std::byte *mutableData();
  template <typename T> T *mutableDataAs() {
    return reinterpret_cast<T *>(mutableData());
  }

  /// The same elements under another shape of the same element count; shares
  /// the storage.
  Result<HostTensor> reshaped(Shape shape) const;

  /// Element `index` (row-major) of any type as a double (64-bit integers are
  /// rounded), and of an integer or bool type as a wrapped int64_t.
  double doubleAt(int64_t index) const;
  int64_t integerAt(int64_t index) const;
  /// Element `index` as text that distinguishes any two values of the type, of
  /// fractions the shortest: "0.1", "-3", "nan", "true".
  std::string textAt(int64_t index) const;

private:
  ElementType elementType = ElementType::F32;
  Shape sizes;
  int64_t elements = 1;
  std::shared_ptr<std::byte[]> storage;
};

/// The row-major index of the first element whose bits differ between two
/// tensors of the same type and shape. Any NaN equals any other, since which
/// NaN an operation returns is left to the machine; -0 and +0 differ.
std::optional<int64_t> firstDifference(const HostTensor &a,
                                       const HostTensor &b);

/// "[1, 2]", for messages; "[]" for a scalar.
std::string describeIndex(const Shape &index);

/// Row-major linear index -> "[1, 2]", for messages; "[]" for a scalar.
std::string describeIndex(const Shape &shape, int64_t linear);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_TENSOR_HOSTTENSOR_H
