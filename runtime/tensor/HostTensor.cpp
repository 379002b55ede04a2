//===- HostTensor.cpp - A dense tensor in host memory ---------------------===//
//
// Allocation, construction and inspection of host tensors.
//
//===----------------------------------------------------------------------===//

#include "runtime/tensor/HostTensor.h"

#include "runtime/base/FreeMemory.h"
#include "runtime/tensor/Blocks.h"
#include "runtime/tensor/Convert.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <new>

namespace ccn::runtime {

namespace {

constexpr std::align_val_t alignment{64};

/// Uninitialized aligned storage, or null. Allocates at least one byte, so that
/// a tensor without elements has an address too.
std::shared_ptr<std::byte[]> allocate(int64_t bytes) {
  auto size = static_cast<size_t>(std::max<int64_t>(bytes, 1));
  void *memory = ::operator new(size, alignment, std::nothrow);
  if (!memory)
    return nullptr;
  return std::shared_ptr<std::byte[]>(
      static_cast<std::byte *>(memory),
      [](std::byte *p) { ::operator delete(p, alignment); });
}

/// Storage that all default-constructed tensors share.
const std::shared_ptr<std::byte[]> &zeroScalarStorage() {
  static const std::shared_ptr<std::byte[]> storage = [] {
    std::shared_ptr<std::byte[]> bytes = allocate(sizeof(float));
    if (bytes)
      std::memset(bytes.get(), 0, sizeof(float));
    return bytes;
  }();
  return storage;
}

/// A tensor of the given values in their own type, converted to `type`.
template <typename T>
Result<HostTensor> fromValues(ElementType valueType, ElementType type,
                              Shape shape, const std::vector<T> &values) {
  Result<HostTensor> tensor = HostTensor::uninitialized(type, std::move(shape));
  if (!tensor)
    return tensor;
  auto found = static_cast<int64_t>(values.size());
  if (tensor->count() != found)
    return error("a tensor ", tensor->describe(), " has ", tensor->count(),
                 " elements, found ", found);
  convert(valueType, reinterpret_cast<const std::byte *>(values.data()), type,
          tensor->mutableData(), found);
  return tensor;
}

template <typename T>
Result<HostTensor> splatValue(ElementType valueType, ElementType type,
                              Shape shape, T value) {
  std::byte element[8];
  convert(valueType, reinterpret_cast<const std::byte *>(&value), type, element,
          1);
  return HostTensor::filled(type, std::move(shape), element);
}

} // namespace

Result<int64_t> elementCount(const Shape &shape) {
  int64_t product = 1;
  bool empty = false;
  for (int64_t size : shape) {
    if (size < 0)
      return error("sizes must be at least 0, found ", size);
    if (size == 0)
      empty = true;
    else if (__builtin_mul_overflow(product, size, &product))
      return error("the number of elements does not fit 64 bits");
  }
  return empty ? 0 : product;
}

Shape rowMajorStrides(const Shape &shape) {
  Shape strides(shape.size());
  int64_t stride = 1;
  for (size_t dim = shape.size(); dim-- > 0;) {
    strides[dim] = stride;
    // Strides of an empty tensor are never used to reach an element.
    stride *= std::max<int64_t>(shape[dim], 1);
  }
  return strides;
}

std::string describe(ElementType type, const Shape &shape) {
  std::string text(name(type));
  if (shape.empty())
    return text;
  text += '[';
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    if (dim)
      text += ", ";
    text += std::to_string(shape[dim]);
  }
  return text + ']';
}

std::string describeIndex(const Shape &index) {
  std::string text = "[";
  for (size_t dim = 0; dim < index.size(); ++dim)
    text += (dim ? ", " : "") + std::to_string(index[dim]);
  return text + ']';
}

std::string describeIndex(const Shape &shape, int64_t linear) {
  Shape strides = rowMajorStrides(shape), index;
  for (int64_t stride : strides) {
    index.push_back(linear / stride);
    linear %= stride;
  }
  return describeIndex(index);
}

HostTensor::HostTensor() : storage(zeroScalarStorage()) {}

Result<HostTensor> HostTensor::uninitialized(ElementType type, Shape shape) {
  Result<int64_t> count = elementCount(shape);
  if (!count)
    return error("cannot make a tensor ", ccn::runtime::describe(type, shape),
                 ": ", count.message());
  int64_t bytes;
  if (__builtin_mul_overflow(*count, int64_t(sizeInBytes(type)), &bytes))
    return error("cannot make a tensor ", ccn::runtime::describe(type, shape),
                 ": its size in bytes does not fit 64 bits");
  auto name = [&] { return "a tensor " + ccn::runtime::describe(type, shape); };
  if (Status status = checkPiece(bytes, name); !status)
    return status;
  std::shared_ptr<std::byte[]> storage = allocate(bytes);
  if (!storage)
    return error("there is no memory for ", bytes, " bytes, of ", name());
  HostTensor tensor;
  tensor.elementType = type;
  tensor.sizes = std::move(shape);
  tensor.elements = *count;
  tensor.storage = std::move(storage);
  return tensor;
}

Result<HostTensor> HostTensor::zeros(ElementType type, Shape shape) {
  Result<HostTensor> tensor = uninitialized(type, std::move(shape));
  if (tensor)
    std::memset(tensor->mutableData(), 0,
                static_cast<size_t>(tensor->byteCount()));
  return tensor;
}

Result<HostTensor> HostTensor::fromBytes(ElementType type, Shape shape,
                                         const void *data, int64_t byteCount) {
  Result<HostTensor> tensor = uninitialized(type, std::move(shape));
  if (!tensor)
    return tensor;
  if (tensor->byteCount() != byteCount)
    return error("a tensor ", tensor->describe(), " takes ",
                 tensor->byteCount(), " bytes, found ", byteCount);
  std::byte *out = tensor->mutableData();
  if (byteCount > 0)
    std::memcpy(out, data, static_cast<size_t>(byteCount));
  if (type == ElementType::Bool)
    for (int64_t i = 0; i < byteCount; ++i)
      out[i] = std::byte(out[i] != std::byte(0));
  return tensor;
}

Result<HostTensor> HostTensor::filled(ElementType type, Shape shape,
                                      const std::byte *element) {
  Result<HostTensor> tensor = uninitialized(type, std::move(shape));
  if (tensor)
    withBits(type, [&](auto bits) {
      std::memcpy(&bits, element, sizeof bits);
      std::fill_n(tensor->mutableDataAs<decltype(bits)>(), tensor->count(),
                  bits);
    });
  return tensor;
}

Result<HostTensor> HostTensor::splat(ElementType type, Shape shape,
                                     double value) {
  return splatValue(ElementType::F64, type, std::move(shape), value);
}

Result<HostTensor> HostTensor::splatInteger(ElementType type, Shape shape,
                                            int64_t value) {
  return splatValue(ElementType::I64, type, std::move(shape), value);
}

Result<HostTensor> HostTensor::fromDoubles(ElementType type, Shape shape,
                                           const std::vector<double> &values) {
  return fromValues(ElementType::F64, type, std::move(shape), values);
}

Result<HostTensor>
HostTensor::fromIntegers(ElementType type, Shape shape,
                         const std::vector<int64_t> &values) {
  return fromValues(ElementType::I64, type, std::move(shape), values);
}

std::byte *HostTensor::mutableData() {
  assert(storage.use_count() == 1 &&
         "the elements of a tensor that was handed out are immutable");
  return storage.get();
}

Result<HostTensor> HostTensor::reshaped(Shape shape) const {
  Result<int64_t> count = elementCount(shape);
  if (!count)
    return count.status();
  if (*count != elements)
    return error("cannot reshape ", describe(), " with ", elements,
                 " elements to ", ccn::runtime::describe(elementType, shape),
                 " with ", *count);
  HostTensor tensor = *this;
  tensor.sizes = std::move(shape);
  return tensor;
}

double HostTensor::doubleAt(int64_t index) const {
  assert(index >= 0 && index < elements);
  if (isFloat(elementType)) {
    double value;
    load(elementType, data(), index, 1, &value);
    return value;
  }
  if (elementType == ElementType::U64)
    return static_cast<double>(dataAs<uint64_t>()[index]);
  return static_cast<double>(integerAt(index));
}

int64_t HostTensor::integerAt(int64_t index) const {
  assert(index >= 0 && index < elements && !isFloat(elementType));
  int64_t value;
  load(elementType, data(), index, 1, &value);
  return value;
}

std::string HostTensor::textAt(int64_t index) const {
  char buffer[64];
  std::to_chars_result result{buffer, {}};
  char *end = buffer + sizeof buffer;
  if (elementType == ElementType::Bool)
    return integerAt(index) ? "true" : "false";
  if (elementType == ElementType::U64)
    result = std::to_chars(buffer, end, dataAs<uint64_t>()[index]);
  else if (!isFloat(elementType))
    result = std::to_chars(buffer, end, integerAt(index));
  else if (std::isnan(doubleAt(index)))
    return "nan"; // The sign of a NaN depends on the machine.
  else if (elementType == ElementType::F64)
    result = std::to_chars(buffer, end, doubleAt(index));
  else
    result = std::to_chars(buffer, end, static_cast<float>(doubleAt(index)));
  // Fewer digits may distinguish a narrow float; integers are shown with all
  // digits.
  double value = doubleAt(index);
  if (isNarrowFloat(elementType) && value != std::trunc(value)) {
    uint16_t bits = encodeFloat(elementType, value);
    double read = 0;
    for (int digits = 1; digits < 9; ++digits) {
      result =
          std::to_chars(buffer, end, value, std::chars_format::general, digits);
      std::from_chars(buffer, result.ptr, read);
      if (encodeFloat(elementType, read) == bits)
        break;
    }
  }
  return std::string(buffer, result.ptr);
}

std::optional<int64_t> firstDifference(const HostTensor &a,
                                       const HostTensor &b) {
  assert(a.type() == b.type() && a.shape() == b.shape());
  if (a.data() == b.data())
    return std::nullopt;
  int size = sizeInBytes(a.type());
  for (int64_t first = 0; first < a.count(); first += blockSize) {
    int64_t n = std::min(blockSize, a.count() - first);
    // Nearly always the whole block is equal, so compare it first.
    if (std::memcmp(a.data() + first * size, b.data() + first * size,
                    static_cast<size_t>(n * size)) == 0)
      continue;
    for (int64_t i = first; i < first + n; ++i) {
      if (std::memcmp(a.data() + i * size, b.data() + i * size,
                      static_cast<size_t>(size)) == 0)
        continue;
      if (isFloat(a.type())) {
        double x = a.doubleAt(i), y = b.doubleAt(i);
        if (x != x && y != y)
          continue;
      }
      return i;
    }
  }
  return std::nullopt;
}

} // namespace ccn::runtime
