//===- Npy.cpp - Reading and writing NumPy's .npy files -------------------===//
//
// A file is: the magic bytes "\x93NUMPY", the format version (major, minor),
// the header's length (2 bytes in version 1, else 4, little-endian), the
// header, which is a Python dictionary literal, and the elements.
//
//===----------------------------------------------------------------------===//

#include "runtime/tensor/Npy.h"

#include "runtime/base/FreeMemory.h"

#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string_view>

static_assert(std::endian::native == std::endian::little,
              "elements are copied as they are");

namespace ccn {

namespace {

constexpr std::string_view magic = "\x93NUMPY";
/// NumPy writes headers of about a hundred bytes. This limit allows many
/// thousand sizes, and a damaged file cannot make the reader allocate
/// gigabytes.
constexpr int64_t maxHeaderSize = 1 << 20;

//===----------------------------------------------------------------------===//
// Small helpers
//===----------------------------------------------------------------------===//

/// Quotes at most 40 bytes of unknown content.
std::string quote(std::string_view text) {
  std::string quoted = "'";
  for (unsigned char c : text.substr(0, 40)) {
    if (c >= 0x20 && c < 0x7f) {
      quoted += static_cast<char>(c);
      continue;
    }
    const char *digits = "0123456789abcdef";
    quoted += {'\\', 'x', digits[c >> 4], digits[c & 15]};
  }
  return quoted + (text.size() > 40 ? "...'" : "'");
}

/// "(3, 4)", as Python writes tuples.
std::string describeShape(const std::vector<int64_t> &shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

/// The bytes of an array; nothing if a size is negative or the product of the
/// sizes that are not zero overflows.
std::optional<int64_t> arrayBytes(NpyType type,
                                  const std::vector<int64_t> &shape) {
  int64_t bytes = type.size;
  bool empty = false;
  for (int64_t size : shape) {
    if (size < 0)
      return std::nullopt;
    if (size == 0)
      empty = true;
    else if (__builtin_mul_overflow(bytes, size, &bytes))
      return std::nullopt;
  }
  return empty ? 0 : bytes;
}

//===----------------------------------------------------------------------===//
// The header
//===----------------------------------------------------------------------===//

struct Header {
  std::optional<NpyType> type;
  std::optional<bool> fortranOrder;
  std::optional<std::vector<int64_t>> shape;
};

/// Parses the dictionary literal. It accepts only the Python that headers
/// contain: strings, True and False, and tuples of integers.
class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : text(text) {}

  Result<Header> parse() {
    Header header;
    if (!consume('{'))
      return expected("a dictionary");
    while (!consume('}')) {
      std::optional<std::string_view> key = parseString();
      if (!key)
        return expected("a key in quotes");
      if (!consume(':'))
        return expected("':'");
      if (Status status = parseValue(*key, header); !status)
        return status;
      if (!consume(',') && !peek('}'))
        return expected("',' or '}'");
    }
    skipSpace();
    if (at != text.size())
      return expected("the end of the header");
    for (auto [present, key] :
         {std::pair(header.type.has_value(), "descr"),
          std::pair(header.fortranOrder.has_value(), "fortran_order"),
          std::pair(header.shape.has_value(), "shape")})
      if (!present)
        return error("the header has no key '", key, "'");
    return header;
  }

private:
  void skipSpace() {
    while (at < text.size() && std::strchr(" \t\r\n", text[at]) && text[at])
      ++at;
  }

  bool peek(char c) {
    skipSpace();
    return at < text.size() && text[at] == c;
  }

  bool consume(char c) {
    if (!peek(c))
      return false;
    ++at;
    return true;
  }

  bool consumeWord(std::string_view word) {
    skipSpace();
    if (text.substr(at, word.size()) != word)
      return false;
    at += word.size();
    return true;
  }

  Status expected(const char *what) {
    skipSpace();
    std::string_view rest = text.substr(at);
    return error("expected ", what, " in the header, found ",
                 rest.empty() ? "its end" : quote(rest));
  }

  std::optional<std::string_view> parseString() {
    skipSpace();
    if (at >= text.size() || (text[at] != '\'' && text[at] != '"'))
      return std::nullopt;
    size_t end = text.find(text[at], at + 1);
    if (end == std::string_view::npos)
      return std::nullopt;
    std::string_view content = text.substr(at + 1, end - at - 1);
    at = end + 1;
    return content;
  }

  Status parseValue(std::string_view key, Header &header) {
    auto twice = [&] { return error("the header has two keys ", quote(key)); };
    if (key == "descr") {
      if (header.type)
        return twice();
      return parseType(header);
    }
    if (key == "fortran_order") {
      if (header.fortranOrder)
        return twice();
      if (consumeWord("True"))
        header.fortranOrder = true;
      else if (consumeWord("False"))
        header.fortranOrder = false;
      else
        return expected("True or False for 'fortran_order'");
      return Status();
    }
    if (key == "shape") {
      if (header.shape)
        return twice();
      return parseShape(header);
    }
    return error("expected the keys 'descr', 'fortran_order' and 'shape' in "
                 "the header, found ",
                 quote(key));
  }

  Status parseType(Header &header) {
    if (peek('[') || peek('('))
      return error("structured elements are not supported");
    std::optional<std::string_view> descr = parseString();
    if (!descr)
      return expected("an element type in quotes for 'descr'");
    auto refuse = [&](const char *why) {
      return error("elements of type ", quote(*descr), " are not supported",
                   why);
    };
    std::string_view rest = *descr;
    if (rest.starts_with('>'))
      return refuse(": they are big-endian, expected little-endian");
    bool anyOrder = rest.starts_with('|');
    if (!anyOrder && !rest.starts_with('<'))
      return refuse("; expected '<' or '|' first");
    rest.remove_prefix(1);
    if (rest.starts_with('O'))
      return refuse(": they are Python objects");
    NpyType type;
    if (rest.size() == 2 && rest[1] >= '1' && rest[1] <= '9')
      type = {rest[0], rest[1] - '0'};
    else
      type.size = 0;
    if (!type.isSupported())
      return refuse("; expected f2, f4, f8, i1 to i8, u1 to u8, b1, V1 or V2");
    if (anyOrder && type.size > 1 && type.kind != 'V')
      return refuse(": the byte order is missing");
    header.type = type;
    return Status();
  }

  Status parseShape(Header &header) {
    if (!consume('('))
      return expected("a tuple for 'shape'");
    std::vector<int64_t> shape;
    bool comma = true;
    while (!consume(')')) {
      if (!comma)
        return expected("',' or ')' in 'shape'");
      bool negative = consume('-');
      skipSpace();
      int64_t size = 0;
      size_t begin = at;
      for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at)
        if (__builtin_mul_overflow(size, int64_t(10), &size) ||
            __builtin_add_overflow(size, int64_t(text[at] - '0'), &size))
          return error("a size in 'shape' does not fit 64 bits");
      if (at == begin)
        return expected("a size in 'shape'");
      if (negative)
        return error("sizes in 'shape' must be at least 0, found -", size);
      // Python 2 wrote long integers as 3L.
      if (at < text.size() && text[at] == 'L')
        ++at;
      shape.push_back(size);
      comma = consume(',');
    }
    if (shape.size() == 1 && !comma)
      return error("expected a tuple for 'shape', found the number ", shape[0],
                   " in parentheses");
    header.shape = std::move(shape);
    return Status();
  }

  std::string_view text;
  size_t at = 0;
};

/// The header's text, and the offset at which the elements begin.
struct RawHeader {
  std::string text;
  int64_t end;
};

Result<RawHeader> readHeader(int file, int64_t fileSize) {
  unsigned char start[12] = {};
  int64_t n = readAt(file, start, sizeof start, 0);
  if (n < 0)
    return error("cannot read: ", systemError());
  std::string_view found(reinterpret_cast<char *>(start),
                         static_cast<size_t>(n));
  if (found.substr(0, magic.size()) != magic)
    return error("not a .npy file: expected it to begin with ", quote(magic),
                 ", found ", quote(found.substr(0, magic.size())));
  int major = start[6], minor = start[7];
  if (n >= 8 && (major < 1 || major > 3 || minor != 0))
    return error("expected .npy format version 1.0, 2.0 or 3.0, found ", major,
                 '.', minor);
  int64_t offset = major == 1 ? 10 : 12;
  if (n < offset)
    return error("truncated: expected at least ", offset, " bytes, found ", n);
  int64_t size = start[8] | start[9] << 8;
  if (major > 1)
    size |= int64_t(start[10]) << 16 | int64_t(start[11]) << 24;
  if (size > maxHeaderSize)
    return error("expected a header of at most ", maxHeaderSize,
                 " bytes, found ", size);
  if (size > fileSize - offset)
    return error("truncated: expected a header of ", size, " bytes, found ",
                 fileSize - offset);
  RawHeader header{std::string(static_cast<size_t>(size), '\0'), offset + size};
  n = readAt(file, header.text.data(), size, offset);
  if (n != size)
    return error("cannot read: ", n < 0 ? systemError() : "file shrank");
  return header;
}

/// Copies elements from column-major to row-major order.
void transposeFortran(char *out, const char *in, NpyType type,
                      const std::vector<int64_t> &shape) {
  std::vector<int64_t> strides(shape.size()), index(shape.size());
  int64_t count = 1;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    strides[dim] = count;
    count *= shape[dim];
  }
  auto size = static_cast<size_t>(type.size);
  int64_t source = 0;
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(out + i * type.size, in + source * type.size, size);
    for (size_t dim = shape.size(); dim-- > 0;) {
      source += strides[dim];
      if (++index[dim] < shape[dim])
        break;
      index[dim] = 0;
      source -= shape[dim] * strides[dim];
    }
  }
}

} // namespace

//===----------------------------------------------------------------------===//
// NpyType
//===----------------------------------------------------------------------===//

std::string NpyType::descr() const {
  return std::string(size == 1 || kind == 'V' ? "|" : "<") + kind +
         std::to_string(size);
}

bool NpyType::isSupported() const {
  switch (kind) {
  case 'f':
    return size == 2 || size == 4 || size == 8;
  case 'i':
  case 'u':
    return size == 1 || size == 2 || size == 4 || size == 8;
  case 'b':
    return size == 1;
  case 'V':
    return size == 1 || size == 2;
  default:
    return false;
  }
}

//===----------------------------------------------------------------------===//
// NpyFile
//===----------------------------------------------------------------------===//

Result<NpyFile> NpyFile::open(const std::string &path) {
  auto fail = [&](const auto &...why) {
    return error('\'', path, "': ", why...);
  };
  NpyFile npy;
  npy.path = path;
  int64_t size = 0;
  Result<FileDescriptor> file = openRegularFile(path, "a .npy file", size);
  if (!file)
    return fail(file.message());
  npy.file = *std::move(file);

  Result<RawHeader> raw = readHeader(npy.file.get(), size);
  if (!raw)
    return fail(raw.message());
  Result<Header> header = HeaderParser(raw->text).parse();
  if (!header)
    return fail(header.message());
  npy.elementType = *header->type;
  npy.fortranOrder = *header->fortranOrder;
  npy.sizes = *header->shape;
  npy.dataOffset = raw->end;
  std::optional<int64_t> bytes = arrayBytes(npy.elementType, npy.sizes);
  if (!bytes)
    return fail("the shape ", describeShape(npy.sizes), " is too large");
  npy.bytes = *bytes;
  int64_t present = size - npy.dataOffset;
  if (present != npy.bytes)
    return fail(present < npy.bytes ? "truncated: " : "too long: ", "expected ",
                npy.bytes, " bytes for ", npy.elementType.descr(),
                " elements of shape ", describeShape(npy.sizes), ", found ",
                present);
  return npy;
}

Status NpyFile::read(void *data) const {
  auto readInto = [&](void *target) -> Status {
    int64_t n = readAt(file.get(), target, bytes, dataOffset);
    if (n == bytes)
      return Status();
    if (n < 0)
      return error('\'', path, "': cannot read: ", systemError());
    return error('\'', path, "': truncated while it was read: expected ", bytes,
                 " bytes, found ", n);
  };
  if (!fortranOrder || sizes.size() < 2 || bytes == 0)
    return readInto(data);
  MemoryNeeds needs;
  needs.add("transposing Fortran order", 1, bytes);
  Status room = checkMemory(needs);
  std::unique_ptr<char[]> columns(
      room ? new (std::nothrow) char[static_cast<size_t>(bytes)] : nullptr);
  if (!columns)
    return error('\'', path, "': ",
                 room ? "there is no memory for " + needs.text()
                      : room.message());
  if (Status status = readInto(columns.get()); !status)
    return status;
  transposeFortran(static_cast<char *>(data), columns.get(), elementType,
                   sizes);
  return Status();
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

namespace {

/// Everything before the elements. As NumPy does, it is padded with spaces and
/// a newline to a multiple of 64 bytes, so that elements of a mapped file are
/// aligned.
std::string makeHeader(NpyType type, const std::vector<int64_t> &shape) {
  std::string dict =
      "{'descr': '" + type.descr() +
      "', 'fortran_order': False, 'shape': " + describeShape(shape) + ", }";
  size_t prefix = 10;
  auto padded = [&] { return (prefix + dict.size() + 1 + 63) / 64 * 64; };
  bool version1 = padded() - prefix <= 0xffff;
  if (!version1)
    prefix = 12;
  size_t total = padded();
  dict.append(total - prefix - dict.size() - 1, ' ');
  dict += '\n';
  std::string header(magic);
  header += version1 ? '\1' : '\2';
  header += '\0';
  for (size_t i = 0; i < prefix - 8; ++i)
    header += static_cast<char>(dict.size() >> (8 * i) & 0xff);
  return header + dict;
}

} // namespace

Status writeNpy(const std::string &path, NpyType type,
                const std::vector<int64_t> &shape, const void *data) {
  auto fail = [&](const auto &...why) {
    return error('\'', path, "': ", why...);
  };
  if (!type.isSupported())
    return fail("cannot write elements of type ", type.descr());
  std::optional<int64_t> bytes = arrayBytes(type, shape);
  if (!bytes)
    return fail("cannot write an array of shape ", describeShape(shape));
  return writeFileAtomically(
      path, {makeHeader(type, shape),
             {static_cast<const char *>(data), static_cast<size_t>(*bytes)}});
}

} // namespace ccn
