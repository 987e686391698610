#include "tools/any_kernel/npy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

namespace rung::any_kernel {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t alignment = 64;  // of the data in the file

struct Named {
  std::string_view type;  // without the byte order
  Scalar scalar;
};

constexpr Named types[] = {
    {"b1", Scalar::boolean}, {"i1", Scalar::i8},  {"u1", Scalar::u8},  {"i2", Scalar::i16},
    {"u2", Scalar::u16},     {"i4", Scalar::i32}, {"u4", Scalar::u32}, {"i8", Scalar::i64},
    {"u8", Scalar::u64},     {"f2", Scalar::f16}, {"f4", Scalar::f32}, {"f8", Scalar::f64},
};

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& reason) {
  throw ArgumentError(fmt::format("'{}': {}", path.string(), reason));
}

/// The text after 'key': in the header, a Python dictionary.
std::string_view value_of(std::string_view header, std::string_view key) {
  const std::size_t at = header.find(fmt::format("'{}'", key));
  if (at == header.npos) return {};
  header.remove_prefix(header.find(':', at) + 1);
  header.remove_prefix(std::min(header.find_first_not_of(' '), header.size()));
  return header;
}

std::vector<std::int64_t> parse_npy_shape(std::string_view text,
                                          const std::filesystem::path& path) {
  const std::size_t close = text.find(')');
  if (!text.starts_with('(') || close == text.npos) fail(path, "its header has no shape");
  text = text.substr(1, close - 1);
  std::vector<std::int64_t> shape;
  while (!text.empty()) {
    std::int64_t extent = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (error != std::errc() || extent < 0) fail(path, "its header has no valid shape");
    shape.push_back(extent);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    text.remove_prefix(std::min(text.find_first_not_of(", L"), text.size()));
  }
  return shape;
}

std::size_t item_bytes(std::string_view type) {
  std::size_t size = 0;
  if (type.size() > 2) std::from_chars(type.data() + 2, type.data() + type.size(), size);
  return size;
}

/// Column-major data in row-major order.
std::vector<std::byte> transposed(const NpyArray& array) {
  std::vector<std::byte> result(array.bytes.size());
  const std::size_t rank = array.shape.size(), item = array.item_bytes;
  std::vector<std::size_t> stride(rank, 1);
  for (std::size_t i = 1; i < rank; ++i) {
    stride[i] = stride[i - 1] * static_cast<std::size_t>(array.shape[i - 1]);
  }
  for (std::size_t to = 0; to < array.count(); ++to) {
    std::size_t rest = to, from = 0;
    for (std::size_t i = rank; i-- > 0;) {
      from += rest % static_cast<std::size_t>(array.shape[i]) * stride[i];
      rest /= static_cast<std::size_t>(array.shape[i]);
    }
    std::copy_n(array.bytes.data() + from * item, item, result.data() + to * item);
  }
  return result;
}

}  // namespace

std::optional<Scalar> NpyArray::scalar() const {
  const std::string_view known =
      std::string_view(type).substr(std::min<std::size_t>(1, type.size()));
  for (const Named& each : types) {
    if (each.type == known) return each.scalar;
  }
  return std::nullopt;
}

NpyArray read_npy(const std::filesystem::path& path) {
  std::error_code ignored;
  std::ifstream file(path, std::ios::binary);
  if (!std::filesystem::is_regular_file(path, ignored) || !file)
    fail(path, "is not a readable file");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  constexpr std::size_t before_header = magic.size() + 4;
  if (!text.starts_with(magic) || text.size() < before_header + 2) {
    fail(path, "is not a file of NumPy's format .npy");
  }
  const auto byte = [&](std::size_t i) { return std::size_t{static_cast<unsigned char>(text[i])}; };
  const bool is_long = byte(magic.size()) >= 2;
  std::size_t begin = before_header, length = byte(8) + (byte(9) << 8);
  if (is_long) {
    length += (byte(10) << 16) + (byte(11) << 24);
    begin += 2;
  }
  if (length > text.size() - begin) fail(path, "ends within its header");
  const std::string_view header = std::string_view(text).substr(begin, length);
  NpyArray array;
  const std::string_view descr = value_of(header, "descr");
  if (!descr.starts_with('\'')) fail(path, "holds records; only arrays of numbers can be read");
  array.type = descr.substr(1, descr.find('\'', 1) - 1);
  array.item_bytes = item_bytes(array.type);
  if (array.type.starts_with('>')) fail(path, "is big-endian; write it little-endian");
  if (array.item_bytes == 0)
    fail(path, fmt::format("its type '{}' is not one of numbers", array.type));
  array.shape = parse_npy_shape(value_of(header, "shape"), path);
  std::size_t expected = array.item_bytes;
  const std::string_view data = std::string_view(text).substr(begin + length);
  for (const std::int64_t extent : array.shape) {
    if (__builtin_mul_overflow(expected, static_cast<std::size_t>(extent), &expected)) {
      fail(path, "its shape is too large");
    }
  }
  if (data.size() < expected) {
    fail(path, fmt::format("has {} bytes of data; its shape needs {}", data.size(), expected));
  }
  const auto* const first = reinterpret_cast<const std::byte*>(data.data());
  array.bytes.assign(first, first + expected);
  if (value_of(header, "fortran_order").starts_with("True")) array.bytes = transposed(array);
  return array;
}

std::string npy_text(Scalar scalar, const std::vector<std::int64_t>& shape,
                     const std::vector<std::byte>& bytes) {
  std::vector<std::byte> data = bytes;
  if (scalar == Scalar::bf16) {
    data.resize(2 * bytes.size());
    for (std::size_t i = 0; i < bytes.size() / 2; ++i) {
      store(Scalar::f32, data.data() + 4 * i, load(scalar, bytes.data() + 2 * i));
    }
    scalar = Scalar::f32;
  }
  const auto named = std::ranges::find(types, scalar, &Named::scalar);
  const char order = named->type.ends_with('1') ? '|' : '<';
  std::string header =
      fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}{}), }}", order,
                  named->type, fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  const std::size_t before = magic.size() + 4;
  header.append((alignment - (before + header.size() + 1) % alignment) % alignment, ' ');
  header += '\n';
  std::string text(magic);
  text +=
      {'\1', '\0', static_cast<char>(header.size() & 0xFF), static_cast<char>(header.size() >> 8)};
  text += header;
  text.append(reinterpret_cast<const char*>(data.data()), data.size());
  return text;
}

}  // namespace rung::any_kernel
