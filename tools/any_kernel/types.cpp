#include "tools/any_kernel/types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#include "rung/types.hpp"

namespace rung::any_kernel {
namespace {

struct Facts {
  Scalar scalar;
  std::size_t bytes;
  std::array<std::string_view, 5> names;  // the first is shown
};

constexpr std::array<Facts, 13> all_facts = {{
    {Scalar::boolean, 1, {"bool"}},
    {Scalar::i8, 1, {"char", "int8", "i8", "int8_t", "signed char"}},
    {Scalar::u8, 1, {"uchar", "uint8", "u8", "uint8_t", "unsigned char"}},
    {Scalar::i16, 2, {"short", "int16", "i16", "int16_t"}},
    {Scalar::u16, 2, {"ushort", "uint16", "u16", "uint16_t", "unsigned short"}},
    {Scalar::i32, 4, {"int", "int32", "i32", "int32_t"}},
    {Scalar::u32, 4, {"uint", "uint32", "u32", "uint32_t", "unsigned"}},
    {Scalar::i64, 8, {"long", "int64", "i64", "int64_t", "long long"}},
    {Scalar::u64, 8, {"ulong", "uint64", "u64", "uint64_t", "unsigned long"}},
    {Scalar::f16, 2, {"half", "float16", "f16", "__half"}},
    {Scalar::bf16, 2, {"bfloat", "bfloat16", "bf16", "__nv_bfloat16"}},
    {Scalar::f32, 4, {"float", "float32", "f32"}},
    {Scalar::f64, 8, {"double", "float64", "f64"}},
}};

const Facts& facts(Scalar scalar) { return all_facts.at(static_cast<std::size_t>(scalar)); }

template <class T>
T read(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
void write(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

/// The low bits of an integer, or of the integral part of a real number.
void write_integer(std::byte* to, std::size_t bytes, long double value) {
  if (!std::isfinite(value)) value = 0;
  const std::uint64_t magnitude =
      std::fabs(value) < 0x1p64L ? static_cast<std::uint64_t>(std::fabs(value)) : 0;
  const std::uint64_t bits = value < 0 ? 0 - magnitude : magnitude;
  std::memcpy(to, &bits, bytes);  // little-endian
}

long double parse_number(const std::string& text, std::string_view what, std::string_view type) {
  if (text == "true") return 1;
  if (text == "false") return 0;
  char* end = nullptr;
  errno = 0;
  const long double value = std::strtold(text.c_str(), &end);
  if (text.empty() || end == text.c_str() || *end != '\0') {
    throw ArgumentError(fmt::format("{}: '{}' is not a number of type {}", what, text, type));
  }
  return value;
}

void check_integer(Scalar scalar, long double value, std::string_view text, std::string_view what) {
  const int bits = static_cast<int>(8 * bytes(scalar));
  const bool has_sign = is_signed(scalar);
  const long double least = has_sign ? -std::ldexp(1.0L, bits - 1) : 0;
  const long double most =
      scalar == Scalar::boolean ? 1 : std::ldexp(1.0L, has_sign ? bits - 1 : bits) - 1;
  if (value == std::floor(value) && value >= least && value <= most) return;
  throw ArgumentError(fmt::format("{}: '{}' is not an integer from {:.0Lf} to {:.0Lf}, as {} holds",
                                  what, text, least, most, name(scalar)));
}

void add_leaves(const Type& type, const std::string& name, std::size_t offset,
                std::vector<Leaf>& all) {
  switch (type.kind) {
    case Type::Kind::scalar: all.push_back({name, offset, type.scalar, nullptr}); return;
    case Type::Kind::pointer:
    case Type::Kind::reference:
      all.push_back({name, offset, Scalar::u64, std::make_shared<const Type>(type)});
      return;
    case Type::Kind::array:
      for (std::size_t i = 0; i < type.count; ++i) {
        add_leaves(*type.element, fmt::format("{}[{}]", name, i), offset + i * type.element->bytes,
                   all);
      }
      return;
    case Type::Kind::record:
      for (const Member& member : type.members) {
        const bool nested = !name.empty() && !member.name.empty();
        add_leaves(*member.type, name + (nested ? "." : "") + member.name, offset + member.offset,
                   all);
      }
      return;
    case Type::Kind::unknown: return;
  }
}

}  // namespace

std::string_view name(Scalar scalar) { return facts(scalar).names.front(); }

std::optional<Scalar> parse_scalar(std::string_view text) {
  for (const Facts& each : all_facts) {
    for (const std::string_view known : each.names) {
      if (!known.empty() && known == text) return each.scalar;
    }
  }
  return std::nullopt;
}

std::size_t bytes(Scalar scalar) { return facts(scalar).bytes; }

bool is_real(Scalar scalar) { return scalar >= Scalar::f16; }

bool is_signed(Scalar scalar) {
  using enum Scalar;
  return is_real(scalar) || scalar == i8 || scalar == i16 || scalar == i32 || scalar == i64;
}

long double load(Scalar scalar, const std::byte* from) {
  switch (scalar) {
    case Scalar::boolean: return read<std::uint8_t>(from) != 0 ? 1 : 0;
    case Scalar::i8: return read<std::int8_t>(from);
    case Scalar::u8: return read<std::uint8_t>(from);
    case Scalar::i16: return read<std::int16_t>(from);
    case Scalar::u16: return read<std::uint16_t>(from);
    case Scalar::i32: return read<std::int32_t>(from);
    case Scalar::u32: return read<std::uint32_t>(from);
    case Scalar::i64: return static_cast<long double>(read<std::int64_t>(from));
    case Scalar::u64: return static_cast<long double>(read<std::uint64_t>(from));
    case Scalar::f16: return static_cast<float>(read<float16>(from));
    case Scalar::bf16: return static_cast<float>(read<bfloat16>(from));
    case Scalar::f32: return read<float>(from);
    case Scalar::f64: return read<double>(from);
  }
  return 0;
}

void store(Scalar scalar, std::byte* to, long double value) {
  switch (scalar) {
    case Scalar::boolean: write(to, static_cast<std::uint8_t>(value != 0)); return;
    case Scalar::f16: write(to, float16(static_cast<float>(value))); return;
    case Scalar::bf16: write(to, bfloat16(static_cast<float>(value))); return;
    case Scalar::f32: write(to, static_cast<float>(value)); return;
    case Scalar::f64: write(to, static_cast<double>(value)); return;
    default: write_integer(to, bytes(scalar), value);
  }
}

void store_text(Scalar scalar, std::byte* to, std::string_view text, std::string_view what) {
  const long double value = parse_number(std::string(text), what, name(scalar));
  if (!is_real(scalar)) check_integer(scalar, value, text, what);
  store(scalar, to, value);
}

TypePtr scalar_type(Scalar scalar) {
  Type type;
  type.kind = Type::Kind::scalar;
  type.name = name(scalar);
  type.bytes = bytes(scalar);
  type.scalar = scalar;
  return std::make_shared<const Type>(std::move(type));
}

bool overlap(const Leaf& a, const Leaf& b) {
  return a.offset < b.offset + bytes(b.scalar) && b.offset < a.offset + bytes(a.scalar);
}

std::vector<Leaf> leaves_with_aliases(const Type& type) {
  std::vector<Leaf> all;
  add_leaves(type, "", 0, all);
  return all;
}

std::vector<Leaf> leaves(const Type& type) {
  std::vector<Leaf> kept;
  std::size_t end = 0;  // of what the kept leaves cover, which is in order outside of unions
  for (Leaf& leaf : leaves_with_aliases(type)) {
    const bool is_new = leaf.offset >= end;
    if (!is_new && std::ranges::any_of(kept, [&](const Leaf& k) { return overlap(k, leaf); })) {
      continue;
    }
    end = std::max(end, leaf.offset + bytes(leaf.scalar));
    kept.push_back(std::move(leaf));
  }
  return kept;
}

std::optional<Scalar> common_scalar(const Type& type) {
  const std::vector<Leaf> all = leaves(type);
  if (all.empty()) return std::nullopt;
  for (const Leaf& leaf : all) {
    if (leaf.address != nullptr || leaf.scalar != all.front().scalar) return std::nullopt;
  }
  return all.front().scalar;
}

}  // namespace rung::any_kernel
