#pragma once
// Families of random operands for accuracy measurements. Each stresses one source of error.

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/element_types.hpp"

namespace rung {

struct GemmSpec;
class Operand;

/// How the elements of A and B are drawn.
enum class Family : std::uint8_t {
  symmetric,   // uniform in [-1, 1]
  uniform,     // uniform in [0, 1): sums of one sign, whose truncation errors do not cancel
  normal,      // normally distributed
  wide,        // normal; each row of A and column of B times a power of ten in [10^-12, 10^12]
  cancelling,  // the second half of each dot product is -(1 - 2^-18) times the first
  spread,      // uniform in [-1/2, 1/2), each times exp(4 X), X normal: no single row scale fits
  mixed,       // normal; A rounded to bfloat16, the type that mixed-input products store
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

/// Returns nothing for an unknown name.
constexpr std::optional<Family> parse_family(std::string_view text) {
  for (const Family family : all_families) {
    if (name(family) == text) return family;
  }
  return std::nullopt;
}

/// True if the family exists for a type. Integers have only `symmetric`. Narrow types have neither
/// the range for `wide` and `spread` nor the bits for `cancelling`. `mixed` exists only for f32.
bool has_family(Dtype dtype, Family family);

/// Fills A and B of a single product. The family must exist for its type.
void fill_family(const GemmSpec& spec, Operand& a, Operand& b);

}  // namespace rung
