//===- ProgramArrays.cpp - A program's arrays on the command line ---------===//
//
// Reads, prints and writes whole arrays.
//
//===----------------------------------------------------------------------===//

#include "runtime/tensor/ProgramArrays.h"

#include "runtime/base/Spelling.h"
#include "runtime/tensor/NpyTensor.h"
#include "runtime/tensor/Number.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <ostream>
#include <unistd.h>

namespace ccn::runtime {

namespace {

std::vector<std::string> splitAtCommas(const std::string &text) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t end; (end = text.find(',', begin)) != text.npos; begin = end + 1)
    parts.push_back(text.substr(begin, end - begin));
  parts.push_back(text.substr(begin));
  return parts;
}

/// An error if a file of that name cannot be made or replaced.
Status checkWritable(const std::string &file) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (fs::is_directory(file, ignored))
    return error("cannot write '", file, "': it is a folder");
  std::string folder = fs::path(file).parent_path().string();
  if (folder.empty())
    folder = ".";
  if (!fs::is_directory(folder, ignored))
    return error("cannot write '", file, "': there is no folder '", folder,
                 "'");
  if (access(folder.c_str(), W_OK) != 0)
    return error("cannot write '", file, "': ", systemError());
  return Status();
}

/// Calls copy(offset in wide, offset in narrow, bytes) for each row. `narrow`
/// holds only the columns of `wide` from `begin` on, as many as it has; a row
/// is the last dimension of both.
template <typename Copy>
void forEachRow(const HostTensor &wide, const HostTensor &narrow, int64_t begin,
                Copy copy) {
  int64_t wideRow = wide.shape().back(), row = narrow.shape().back();
  int64_t size = sizeInBytes(wide.type());
  for (int64_t i = 0; row > 0 && i < narrow.count() / row; ++i)
    copy((i * wideRow + begin) * size, i * row * size,
         static_cast<size_t>(row * size));
}

} // namespace

const ProgramArray *ProgramArrays::arrayOf(const std::string &name) const {
  for (const ProgramArray &array : arrays)
    if (array.name == name)
      return &array;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

Result<ProgramArrays::Source>
ProgramArrays::findScattered(const ProgramArray &array,
                             const std::string &text) {
  Source source{&array};
  std::vector<int64_t> sizes;
  int64_t sum = 0, expected = array.shape.back();
  auto fail = [&](const std::string &why) {
    return error("input '", array.name, "': ", why);
  };
  for (const std::string &path : splitAtCommas(text)) {
    Result<NpyFile> file = NpyFile::open(path);
    if (!file)
      return fail(file.message());
    // Each buffer has the argument's shape except for the last size.
    Shape shape = array.shape;
    if (!file->shape().empty())
      shape.back() = file->shape().back();
    if (Result<NpyFile> fits = openNpy(path, array.type, shape); !fits)
      return fail(fits.message());
    if (__builtin_add_overflow(sum, shape.back(), &sum))
      return fail("the buffers' sizes overflow");
    sizes.push_back(shape.back());
    source.files.emplace_back(path, std::move(shape));
  }
  if (sum != expected)
    return error("expected buffers of ", expected, " elements together for '",
                 array.name, "', found ", sum);
  pieces[array.name] = std::move(sizes);
  return source;
}

Result<ProgramArrays::Source> ProgramArrays::findOne(const ProgramArray &array,
                                                     const std::string &text) {
  auto fail = [&](const auto &...why) {
    return error("input '", array.name, "': ", why...);
  };
  Source source{&array};
  bool isFile = text.ends_with(".npy");
  if (array.isScalar && !isFile) {
    if (!parseNumber(text))
      return fail("expected ",
                  array.type == ElementType::Bool ? "true, false" : "a number",
                  " or a .npy file, found '", text, "'");
    Result<ElementBytes> element = parseElement(array.type, text);
    if (!element)
      return fail(element.message());
    source.number = *element;
    return source;
  }
  if (array.isScattered && !array.shape.empty())
    return findScattered(array, text);
  if (!isFile && parseNumber(text))
    return fail("expected a .npy file of '", array.typeName, "', found '", text,
                "'");
  if (Result<NpyFile> file = openNpy(text, array.type, array.shape); !file)
    return fail(file.message());
  source.files.emplace_back(text, array.shape);
  return source;
}

Status ProgramArrays::find(const NamedValues &inputs) {
  sources.clear();
  std::vector<std::string_view> names;
  for (const ProgramArray &array : arrays)
    if (array.isInput)
      names.push_back(array.name);
  for (const auto &[name, text] : inputs) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      return error("program '", program, "' has no argument '", name, "'",
                   didYouMean(name, names));
    Result<Source> source = findOne(*arrayOf(name), text);
    if (!source)
      return source.status();
    sources.push_back(*std::move(source));
  }
  return Status();
}

Result<HostTensor> ProgramArrays::readScattered(const Source &source) const {
  const ProgramArray &array = *source.array;
  Result<HostTensor> whole = HostTensor::uninitialized(array.type, array.shape);
  if (!whole)
    return whole;
  std::byte *out = whole->mutableData();
  int64_t begin = 0;
  for (const auto &[path, shape] : source.files) {
    Result<HostTensor> buffer = loadNpy(path, array.type, shape);
    if (!buffer)
      return buffer;
    forEachRow(*whole, *buffer, begin, [&](int64_t to, int64_t from, size_t n) {
      std::memcpy(out + to, buffer->data() + from, n);
    });
    begin += shape.back();
  }
  return whole;
}

Result<HostTensor> ProgramArrays::readOne(const Source &source) const {
  const ProgramArray &array = *source.array;
  // A local scalar gets the value on every rank.
  if (source.number)
    return HostTensor::filled(array.type, array.shape, source.number->data());
  Result<HostTensor> tensor =
      array.isScattered && !array.shape.empty()
          ? readScattered(source)
          : loadNpy(source.files.front().first, array.type, array.shape);
  if (!tensor)
    return error("input '", array.name, "': ", tensor.message());
  return tensor;
}

Result<std::map<std::string, HostTensor>> ProgramArrays::read() const {
  std::map<std::string, HostTensor> tensors;
  for (const Source &source : sources) {
    Result<HostTensor> tensor = readOne(source);
    if (!tensor)
      return tensor.status();
    tensors.insert_or_assign(source.array->name, *std::move(tensor));
  }
  return tensors;
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

Status ProgramArrays::checkOutputs(const NamedValues &outputs) {
  std::vector<std::string_view> names;
  for (const ProgramArray &array : arrays)
    if (array.isOutput)
      names.push_back(array.name);
  for (const auto &[name, path] : outputs) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      return error("program '", program, "' has no inout argument or result '",
                   name, "'", didYouMean(name, names));
    std::vector<std::string> files = {path};
    if (auto scattered = pieces.find(name); scattered != pieces.end()) {
      files = splitAtCommas(path);
      size_t expected = scattered->second.size();
      if (files.size() != 1 && files.size() != expected)
        return error("expected one file or ", expected, " for '", name,
                     "', as many as its input has, found ", files.size());
    }
    for (const std::string &file : files)
      if (Status status = checkWritable(file); !status)
        return status;
  }
  return Status();
}

void ProgramArrays::print(std::ostream &os, const std::string &name,
                          const HostTensor &tensor) const {
  constexpr int64_t shown = 3;
  const ProgramArray *array = arrayOf(name);
  os << name << ": " << (array ? array->typeName : tensor.describe()) << " =";
  int64_t count = tensor.count();
  const char *separator = " ";
  for (int64_t i = 0; i < count; ++i) {
    if (count > 2 * shown + 1 && i == shown) {
      os << separator << "...";
      i = count - shown;
    }
    os << separator << tensor.textAt(i);
    separator = ", ";
  }
  if (count == 0)
    os << " (empty)";
  os << "\n";
}

Status ProgramArrays::write(const std::string &name, const HostTensor &tensor,
                            const NamedValues &outputs) const {
  for (const auto &[output, paths] : outputs) {
    if (output != name)
      continue;
    auto scattered = pieces.find(name);
    std::vector<std::string> files;
    if (scattered != pieces.end())
      files = splitAtCommas(paths);
    if (files.size() <= 1) {
      if (Status status = saveNpy(paths, tensor); !status)
        return status;
      continue;
    }
    int64_t begin = 0;
    for (size_t i = 0; i < files.size(); ++i) {
      Shape shape = tensor.shape();
      shape.back() = scattered->second[i];
      Result<HostTensor> piece =
          HostTensor::uninitialized(tensor.type(), shape);
      if (!piece)
        return piece.status();
      std::byte *out = piece->mutableData();
      forEachRow(tensor, *piece, begin,
                 [&](int64_t from, int64_t to, size_t n) {
                   std::memcpy(out + to, tensor.data() + from, n);
                 });
      if (Status status = saveNpy(files[i], *piece); !status)
        return status;
      begin += shape.back();
    }
  }
  return Status();
}

} // namespace ccn::runtime
