#pragma once
// Families of operands that show what an error depends on: the inputs of accuracy measurements.

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/dtype.hpp"

namespace rung {

struct GemmSpec;
class Operand;

/// How the elements of A and B are drawn.
enum class Family : std::uint8_t {
  symmetric,   // uniform in [-1, 1]
  uniform,     // uniform in [0, 1): sums of one sign, whose truncation errors do not cancel
  normal,      // normally distributed
  wide,        // normal; each row of A and column of B times a power of ten, from 10^-12 to 10^12
  cancelling,  // the second half of a sum of products is the first one's negative, but for 2^-18
  spread,      // uniform in [-1/2, 1/2), each times exp(4 X), X normal: no scale of a row suits all
  mixed,       // normal; A rounded to bfloat16, in which the library's products have it
};

inline constexpr Family all_families[] = {Family::symmetric, Family::uniform,    Family::normal,
                                          Family::wide,      Family::cancelling, Family::spread,
                                          Family::mixed};

constexpr std::string_view name(Family family) {
  switch (family) {
    case Family::symmetric: return "symmetric";
    case Family::uniform: return "uniform";
    case Family::normal: return "normal";
    case Family::wide: return "wide";
    case Family::cancelling: return "cancelling";
    case Family::spread: return "spread";
    case Family::mixed: return "mixed";
  }
  return "unknown";
}

/// Empty if there is no such family.
constexpr std::optional<Family> parse_family(std::string_view text) {
  for (const Family family : all_families) {
    if (name(family) == text) return family;
  }
  return std::nullopt;
}

/// Whether elements of a type can be of a family. Integers are only symmetric; narrow types have
/// neither the range of `wide` and `spread` nor the bits of `cancelling`; `mixed` is of f32.
bool has_family(Dtype dtype, Family family);

/// Fills A and B of a single product, of a family that its type has.
void fill_family(const GemmSpec& spec, Operand& a, Operand& b);

}  // namespace rung
