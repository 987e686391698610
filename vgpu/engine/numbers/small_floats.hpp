#pragma once
// Small floating-point formats and rounding to them in every mode, for the rare forms of cvt.
// Simple rather than fast.

#include <cstdint>

namespace rung::vgpu {

struct SmallFloat {
  int mantissa;      // number of explicit bits
  int min_exponent;  // of the smallest normal number
  int exponent_bias;
  double largest;  // largest finite number
  bool has_infinity;
  std::uint32_t nan;  // the canonical one
  int spare = 0;      // zero bits below the mantissa (tf32 is stored in 32 bits)
};

inline constexpr SmallFloat f16_format = {10, -14, 15, 65504.0, true, 0x7FFF};
inline constexpr SmallFloat bf16_format = {7, -126, 127, 0x1.FEp127, true, 0x7FFF};
inline constexpr SmallFloat tf32_format = {10, -126, 127, 0x1.FFCp127, true, 0x7FFFE000, 13};
inline constexpr SmallFloat e4m3_format = {3, -6, 7, 448.0, false, 0x7F};
inline constexpr SmallFloat e5m2_format = {2, -14, 15, 57344.0, true, 0x7F};

// Formats of 6 and 4 bits have neither infinities nor NaN (OCP Microscaling Formats, 5.3).
inline constexpr std::uint32_t no_nan = 0xFFFFFFFF;
inline constexpr SmallFloat e2m3_format = {3, 0, 1, 7.5, false, no_nan};
inline constexpr SmallFloat e3m2_format = {2, -2, 3, 28.0, false, no_nan};
inline constexpr SmallFloat e2m1_format = {1, 0, 1, 6.0, false, no_nan};

/// .rn (ties to even), .rz, .rm, .rp, .rna (ties away from zero).
enum class Rounding { nearest, zero, down, up, away };

/// Rounds x and returns its bits. Numbers beyond the range become infinity or the largest number,
/// as IEEE 754 defines for the mode; with `satfinite`, always the largest number.
std::uint32_t encode(double x, const SmallFloat& format, Rounding rounding, bool satfinite);

/// Decodes bits; all formats are exact in double precision.
double decode(std::uint32_t bits, const SmallFloat& format);

/// Converts an integer to double precision, rounded to odd if it has more than 53 bits, so that
/// rounding it again to fewer bits is correct.
double odd_double(std::uint64_t magnitude);

}  // namespace rung::vgpu
