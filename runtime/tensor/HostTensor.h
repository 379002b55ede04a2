//===- HostTensor.h - A dense tensor in host memory -------------*- C++ -*-===//
//
// The values of the reference interpreter: an element type, a shape and
// row-major elements. Copies of a tensor share its storage, so copying is cheap
// and ranks may share storage. Therefore storage is immutable once a tensor was
// copied: every kernel makes a new tensor.
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

/// The sizes of the dimensions, outermost first, each >= 0; empty for a scalar.
using Shape = std::vector<int64_t>;

/// The number of elements of a shape. An error if a size is negative or the
/// product of the sizes that are not zero overflows (so strides never
/// overflow).
Result<int64_t> elementCount(const Shape &shape);

/// Row-major strides in elements, for a shape that elementCount accepts.
Shape rowMajorStrides(const Shape &shape);

/// "f32[3, 4]"; "f32" for a scalar.
std::string describe(ElementType type, const Shape &shape);

class HostTensor {
public:
  /// An f32 scalar of value 0.
  HostTensor();

  /// A tensor whose elements are not initialized. An error if the shape is
  /// invalid or the machine does not have enough memory.
  static Result<HostTensor> uninitialized(ElementType type, Shape shape);
  static Result<HostTensor> zeros(ElementType type, Shape shape);
  /// A tensor of row-major elements in the type's own representation.
  /// `byteCount` must be what the shape needs. Bytes of a bool other than 0
  /// become 1.
  static Result<HostTensor> fromBytes(ElementType type, Shape shape,
                                      const void *data, int64_t byteCount);
  /// A tensor whose elements are all `value`, converted as `cast` does.
  static Result<HostTensor> splat(ElementType type, Shape shape, double value);
  static Result<HostTensor> splatInteger(ElementType type, Shape shape,
                                         int64_t value);
  /// A tensor whose elements all have the value at `element`, in the type's own
  /// representation.
  static Result<HostTensor> filled(ElementType type, Shape shape,
                                   const std::byte *element);
  /// A tensor of `values`, each converted as `cast` does. An error if their
  /// number is not that of the shape.
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

  /// The elements, for code that has just made this tensor and has not yet
  /// copied it.
  std::byte *mutableData();
  template <typename T> T *mutableDataAs() {
    return reinterpret_cast<T *>(mutableData());
  }

  /// A tensor of another shape with the same elements, which shares the
  /// storage.
  Result<HostTensor> reshaped(Shape shape) const;

  /// Element `index` (row-major): of any type, as a double (64-bit integers are
  /// rounded); of an integer type or bool, as an int64_t (u64 wraps).
  double doubleAt(int64_t index) const;
  int64_t integerAt(int64_t index) const;
  /// Element `index` as text that distinguishes any two values of the type:
  /// "0.1", "-3", "nan", "true". For a fraction it is the shortest such text.
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
