#include "tools/any_kernel/values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <string_view>

#include "core/random.hpp"
#include "tools/any_kernel/npy.hpp"

namespace rung::any_kernel {
namespace {

constexpr std::int64_t most_bytes = std::int64_t{1} << 36;
constexpr const char* forms =
    "a number, fields as in M:40,N:24, rand, iota, zeros, ones, nan or out with a shape as in "
    "rand:24x33, a file as in @x.npy, or null";

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.emplace_back(text.substr(0, at));
    if (at == text.npos) return parts;
    text.remove_prefix(at + 1);
  }
}

bool is_number(std::string_view text) {
  if (text == "true" || text == "false") return true;
  if (text.starts_with('-') || text.starts_with('+') || text.starts_with('.'))
    text.remove_prefix(1);
  return (!text.empty() && text.front() >= '0' && text.front() <= '9') || text == "inf" ||
         text == "nan";
}

std::int64_t parse_extent(const std::string& what, const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) {
    throw ArgumentError(fmt::format("{}: '{}' is not a shape, such as 1000 or 24x33", what, text));
  }
  return value;
}

Shape parse_shape(const std::string& what, const std::string& text) {
  Shape shape;
  std::int64_t total = 1;
  for (const std::string& extent : split(text, 'x')) {
    shape.push_back(parse_extent(what, extent));
    if (__builtin_mul_overflow(total, shape.back(), &total) || total > most_bytes) {
      throw ArgumentError(fmt::format("{}: '{}' is more than {} elements", what, text, most_bytes));
    }
  }
  return shape;
}

/// FILL, FILL:SHAPE or FILL:SHAPE:TYPE; nullopt if the first part is not a fill.
std::optional<ValueText> parse_fill(const std::string& what, const std::string& text) {
  const std::vector<std::string> parts = split(text, ':');
  const std::string& first = parts.front();
  ValueText value;
  value.kind = ValueText::Kind::fill;
  value.text = text;
  value.fill = "number";
  if (first == "rand" || first == "iota" || first == "out") {
    value.fill = first;
  } else if (first == "zeros") {
    value.numbers = {"0"};
  } else if (first == "ones") {
    value.numbers = {"1"};
  } else if (first == "nan" || (is_number(first) && parts.size() > 1)) {
    value.numbers = {first};
  } else {
    return std::nullopt;
  }
  if (parts.size() > 3) {
    throw ArgumentError(
        fmt::format("{}: '{}' is not of the form {}:SHAPE:TYPE", what, text, first));
  }
  if (parts.size() > 1) value.shape = parse_shape(what, parts[1]);
  if (parts.size() > 2) value.type = parts[2];
  return value;
}

/// nullopt unless each part is NAME:VALUE.
std::optional<ValueText> parse_fields(const std::string& text) {
  ValueText value;
  value.kind = ValueText::Kind::fields;
  value.text = text;
  for (const std::string& part : split(text, ',')) {
    const std::size_t colon = part.find(':');
    if (colon == part.npos || colon == 0) return std::nullopt;
    value.fields.emplace_back(part.substr(0, colon), part.substr(colon + 1));
  }
  return value;
}

Array allocate(const std::string& what, TypePtr element, Shape shape) {
  Array array{std::move(element), std::move(shape), {}, true};
  std::int64_t bytes = 0;
  const auto size = static_cast<std::int64_t>(array.element->bytes);
  if (__builtin_mul_overflow(count(array.shape), size, &bytes) || bytes > most_bytes) {
    throw ArgumentError(fmt::format("{}: {} elements of {} bytes are more than {} bytes", what,
                                    to_text(array.shape), size, most_bytes));
  }
  array.bytes.resize(static_cast<std::size_t>(bytes));
  return array;
}

/// Uniform in [-1, 1] for real numbers, as in `rung verify`; integers of two digits.
long double random_value(Scalar scalar, std::uint64_t seed, std::int64_t index) {
  constexpr std::int64_t most = 99;
  const auto at = static_cast<std::uint64_t>(index);
  if (scalar == Scalar::boolean) return random_below(2, seed, at);
  if (!is_real(scalar)) {
    return is_signed(scalar) ? random_below(2 * most + 1, seed, at) - most
                             : random_below(most + 1, seed, at);
  }
  return scalar == Scalar::f64 ? random_element<double>(Values::reals, seed, index)
                               : random_element<float>(Values::reals, seed, index);
}

/// Calls `use` for each scalar of the array, with its index among all.
template <class Use>
void for_each_scalar(Array& array, const Use& use) {
  const std::vector<Leaf> all = leaves(*array.element);
  std::int64_t index = 0;
  for (std::size_t at = 0; at + array.element->bytes <= array.bytes.size() && !all.empty();
       at += array.element->bytes) {
    for (const Leaf& leaf : all) use(leaf, array.bytes.data() + at + leaf.offset, index++);
    if (array.element->bytes == 0) return;
  }
}

TypePtr named_type(const std::string& what, const std::string& type) {
  if (const auto scalar = parse_scalar(type)) return scalar_type(*scalar);
  throw ArgumentError(fmt::format(
      "{}: '{}' is not a type; types are bool, char, uchar, short, ushort, int, uint, long, ulong, "
      "half, bfloat, float and double",
      what, type));
}

/// The element type: the kernel's, or the one that the value names. A named one may replace void, and raw
/// bytes.
TypePtr element_type(const std::string& what, const ValueText& value, const TypePtr& element) {
  const bool is_raw = element == nullptr || element->kind == Type::Kind::unknown ||
                      (element->kind == Type::Kind::scalar && element->bytes == 1);
  if (value.type.empty()) {
    if (element != nullptr && element->bytes > 0) return element;
    throw ArgumentError(
        fmt::format("{}: the kernel does not say its type; name one, as in {}:{}:float", what,
                    value.fill.empty() ? "rand" : value.fill,
                    value.shape.empty() ? "100" : to_text(value.shape)));
  }
  const TypePtr named = named_type(what, value.type);
  const auto own = is_raw ? std::nullopt : common_scalar(*element);
  if (is_raw || (own && *own == named->scalar)) return is_raw ? named : element;
  throw ArgumentError(
      fmt::format("{}: '{}' differs from the kernel's type, {}", what, value.type, element->name));
}

Array make_fill(const std::string& what, const ValueText& value, const TypePtr& element,
                std::uint64_t seed) {
  Array array = allocate(what, element_type(what, value, element),
                         value.shape.empty() ? Shape{1} : value.shape);
  if (value.is_out()) {
    array.is_written = false;
    std::fill(array.bytes.begin(), array.bytes.end(), poison);
    return array;
  }
  if (leaves(*array.element).empty()) {
    throw ArgumentError(fmt::format("{}: elements of type {} can only come from a file", what,
                                    array.element->name));
  }
  const auto fill = [&](const Leaf& leaf, std::byte* to, std::int64_t index) {
    if (leaf.address != nullptr) return;  // stays null
    if (value.fill == "rand") {
      store(leaf.scalar, to, random_value(leaf.scalar, seed, index));
    } else if (value.fill == "iota") {
      store(leaf.scalar, to, static_cast<long double>(index));
    } else {
      store_text(leaf.scalar, to, value.numbers.front(), what);
    }
  };
  for_each_scalar(array, fill);
  return array;
}

/// Stores the file's numbers, rounded to bf16 if that is the kernel's type: NumPy lacks it.
std::vector<std::byte> converted(const std::string& what, const NpyArray& file, const Type& element,
                                 Scalar to) {
  const auto from = file.scalar();
  const bool is_bits = to == Scalar::bf16 && file.item_bytes == 2 && (!from || from == Scalar::u16);
  if (from == to || is_bits) return file.bytes;
  if (to != Scalar::bf16 || from != Scalar::f32) {
    throw ArgumentError(fmt::format("{}: the file has elements of type '{}'; the kernel takes {}",
                                    what, file.type, element.name));
  }
  std::vector<std::byte> bytes(file.count() * sizeof(std::uint16_t));
  for (std::size_t i = 0; i < file.count(); ++i) {
    store(to, bytes.data() + 2 * i, load(*from, file.bytes.data() + 4 * i));
  }
  return bytes;
}

Array make_from_file(const std::string& what, const ValueText& value, const TypePtr& element) {
  const NpyArray file = read_npy(value.path);
  TypePtr type = element;
  const bool is_raw = type == nullptr || type->bytes <= 1;
  if (is_raw && file.scalar()) type = scalar_type(*file.scalar());
  if (type == nullptr || type->bytes == 0) {
    throw ArgumentError(fmt::format("{}: elements of type '{}' are not numbers", what, file.type));
  }
  Array array{type, file.shape, file.bytes, true};
  const auto scalar = common_scalar(*type);
  if (scalar) array.bytes = converted(what, file, *type, *scalar);
  if (array.bytes.size() % type->bytes != 0 || (array.bytes.empty() && file.shape.empty())) {
    throw ArgumentError(
        fmt::format("{}: '{}' has {} bytes, which is not a multiple of {}, the size of {}", what,
                    value.path, array.bytes.size(), type->bytes, type->name));
  }
  const auto elements = static_cast<std::int64_t>(array.bytes.size() / type->bytes);
  if (elements != count(file.shape)) array.shape = {elements};  // of vectors or structs
  if (array.shape.empty()) array.shape = {1};
  return array;
}

/// Stores numbers in the scalars of a value, in order.
void store_numbers(const std::string& what, const ValueText& value, const Type& type,
                   std::byte* to) {
  const std::vector<Leaf> all = leaves(type);
  if (all.size() != value.numbers.size()) {
    std::vector<std::string> names;
    for (const Leaf& leaf : all) names.push_back(leaf.name);
    throw ArgumentError(fmt::format("{}: '{}' has {} numbers; {} has {}{}", what, value.text,
                                    value.numbers.size(), type.name, all.size(),
                                    type.kind == Type::Kind::record && !names.empty()
                                        ? fmt::format(": {}", fmt::join(names, ", "))
                                        : ""));
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].address != nullptr && value.numbers[i] != "0") {
      throw ArgumentError(fmt::format(
          "{}: {} is an address ({}), not {}; give all fields by name, as in {}:rand:100", what,
          all[i].name, all[i].address->name, value.numbers[i], all[i].name));
    }
    store_text(all[i].scalar, to + all[i].offset, value.numbers[i], what);
  }
}

void store_fields(const std::string& what, const ValueText& value, const Type& type,
                  std::byte* to) {
  if (type.kind != Type::Kind::record) {
    throw ArgumentError(fmt::format(
        "{}: '{}' is no value of {}; write a number, rand, iota, zeros or nan, with a shape as in "
        "rand:24x33",
        what, value.text, type.name));
  }
  std::map<std::string, std::string> given(value.fields.begin(), value.fields.end());
  std::vector<Leaf> set;
  for (const Leaf& leaf : leaves_with_aliases(type)) {
    const auto found = given.find(leaf.name);
    if (found == given.end()) continue;
    const std::string field = fmt::format("{}.{}", what, leaf.name);
    if (leaf.address == nullptr) store_text(leaf.scalar, to + leaf.offset, found->second, field);
    given.erase(found);
    set.push_back(leaf);
  }
  const auto rest = given.find("*");
  std::vector<std::string> missing, names;
  for (const Leaf& leaf : leaves(type)) {
    names.push_back(leaf.name);
    if (std::ranges::any_of(set, [&](const Leaf& each) { return overlap(each, leaf); })) continue;
    if (rest == given.end()) {
      missing.push_back(leaf.name);
    } else if (leaf.address == nullptr) {
      store_text(leaf.scalar, to + leaf.offset, rest->second,
                 fmt::format("{}.{}", what, leaf.name));
    }
  }
  given.erase("*");
  if (!given.empty()) {
    throw ArgumentError(fmt::format("{}: {} has no field '{}'; its fields are {}", what, type.name,
                                    given.begin()->first, fmt::join(names, ", ")));
  }
  if (!missing.empty()) {
    throw ArgumentError(fmt::format("{}: no value for {} of {}; *:0 sets all others to 0", what,
                                    fmt::join(missing, ", "), type.name));
  }
}

}  // namespace

std::string to_text(const Shape& shape) { return fmt::format("{}", fmt::join(shape, "x")); }

std::int64_t count(const Shape& shape) {
  std::int64_t total = 1;
  for (const std::int64_t extent : shape) total *= extent;
  return total;
}

ValueText parse_value(const std::string& what, const std::string& text) {
  ValueText value;
  value.text = text;
  if (text.empty()) throw ArgumentError(fmt::format("{}: has no value; it is {}", what, forms));
  if (text.starts_with('@') || text.ends_with(".npy")) {
    value.kind = ValueText::Kind::file;
    value.path = text.substr(text.starts_with('@') ? 1 : 0);
    return value;
  }
  if (text == "null") {
    value.kind = ValueText::Kind::null;
    return value;
  }
  for (const std::string_view word : {"shared:", "threadgroup:"}) {
    if (!text.starts_with(word)) continue;
    value.kind = ValueText::Kind::shared;
    value.bytes = parse_extent(what, text.substr(word.size()));
    return value;
  }
  if (const auto fill = parse_fill(what, text)) return *fill;
  if (const auto fields = parse_fields(text)) return *fields;
  value.numbers = split(text, ',');
  if (!std::ranges::all_of(value.numbers, is_number)) {
    throw ArgumentError(fmt::format("{}: '{}' is not a value; it is {}", what, text, forms));
  }
  return value;
}

Shape Array::scalar_shape() const {
  Shape all = shape;
  const std::size_t each = leaves(*element).size();
  if (each > 1 && common_scalar(*element)) all.push_back(static_cast<std::int64_t>(each));
  return all;
}

Array make_array(const std::string& what, const ValueText& value, const TypePtr& element,
                 std::uint64_t seed) {
  switch (value.kind) {
    case ValueText::Kind::fill: return make_fill(what, value, element, seed);
    case ValueText::Kind::file: return make_from_file(what, value, element);
    case ValueText::Kind::numbers:
    case ValueText::Kind::fields: {
      const TypePtr type = element_type(what, value, element);
      const bool is_list =
          value.kind == ValueText::Kind::numbers && type->kind == Type::Kind::scalar;
      const auto elements = is_list ? static_cast<std::int64_t>(value.numbers.size()) : 1;
      Array array = allocate(what, type, {elements});
      if (value.kind == ValueText::Kind::fields) {
        store_fields(what, value, *type, array.bytes.data());
      } else if (is_list) {
        for (std::size_t i = 0; i < value.numbers.size(); ++i) {
          store_text(type->scalar, array.bytes.data() + i * type->bytes, value.numbers[i], what);
        }
      } else {
        store_numbers(what, value, *type, array.bytes.data());
      }
      return array;
    }
    default: throw ArgumentError(fmt::format("{}: '{}' is not a buffer's value", what, value.text));
  }
}

std::vector<MemberValue> member_values(const std::string& what, const ValueText& value,
                                       const Type& type) {
  std::vector<MemberValue> members;
  if (value.kind != ValueText::Kind::fields) return members;
  const std::map<std::string, std::string> given(value.fields.begin(), value.fields.end());
  for (const Leaf& leaf : leaves_with_aliases(type)) {
    const auto found = given.find(leaf.name);
    if (leaf.address == nullptr || found == given.end() || found->second == "null") continue;
    members.push_back({leaf, parse_value(fmt::format("{}.{}", what, leaf.name), found->second)});
  }
  return members;
}

std::vector<std::byte> make_value(const std::string& what, const ValueText& value,
                                  const Type& type) {
  std::vector<std::byte> bytes(type.bytes);
  const auto refuse = [&](const std::string& reason) {
    throw ArgumentError(fmt::format("{}: '{}' {}", what, value.text, reason));
  };
  switch (value.kind) {
    case ValueText::Kind::fields: store_fields(what, value, type, bytes.data()); break;
    case ValueText::Kind::numbers: store_numbers(what, value, type, bytes.data()); break;
    case ValueText::Kind::file: {
      const NpyArray file = read_npy(value.path);
      const auto scalar = common_scalar(type);
      const std::vector<std::byte> given =
          scalar ? converted(what, file, type, *scalar) : file.bytes;
      if (given.size() != bytes.size()) {
        throw ArgumentError(fmt::format("{}: '{}' has {} bytes; {} has {}", what, value.path,
                                        given.size(), type.name, bytes.size()));
      }
      bytes = given;
      break;
    }
    case ValueText::Kind::fill: {
      if (!value.shape.empty() || value.fill != "number") {
        refuse(fmt::format("is a buffer's value, but {} is passed by value", type.name));
      }
      ValueText all = value;
      all.numbers.assign(leaves(type).size(), value.numbers.front());
      store_numbers(what, all, type, bytes.data());
      break;
    }
    default: refuse(fmt::format("is not a value of type {}", type.name));
  }
  return bytes;
}

}  // namespace rung::any_kernel
