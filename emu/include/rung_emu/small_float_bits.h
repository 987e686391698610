#pragma once
// Bits of numbers with few of them: IEEE 754's layout, with any number of bits for the fraction and
// any bias of the exponent.

namespace rung_emu {

/// The bits of a finite number that is not negative, rounded to nearest even. They go on above the
/// largest exponent of the format.
static __host__ __device__ inline unsigned int encode_small(double value, int fraction_bits,
                                                            int bias) {
  const unsigned long long bits = __builtin_bit_cast(unsigned long long, value);
  const int exponent = static_cast<int>(bits >> 52) - 1023 + bias;
  const int subnormal = exponent < 1 ? 1 - exponent : 0, cut = 52 - fraction_bits + subnormal;
  if (cut > 53) return 0;  // less than half of the smallest number
  const unsigned long long significand = (bits & ((1ull << 52) - 1)) | 1ull << 52;
  const unsigned long long rest = significand & ((1ull << cut) - 1), half = 1ull << (cut - 1);
  unsigned long long kept = significand >> cut;
  if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
  const unsigned long long below = static_cast<unsigned long long>(exponent + subnormal - 1);
  return static_cast<unsigned int>(kept + (below << fraction_bits));
}

/// The number of these bits, if they are those of a finite one.
static __host__ __device__ inline double decode_small(unsigned int bits, int fraction_bits,
                                                      int bias) {
  const unsigned int fraction = bits & ((1u << fraction_bits) - 1);
  const int exponent = static_cast<int>(bits >> fraction_bits);
  const unsigned int significand = exponent == 0 ? fraction : fraction | 1u << fraction_bits;
  const int power = (exponent == 0 ? 1 : exponent) - bias - fraction_bits;
  return significand *
         __builtin_bit_cast(double, static_cast<unsigned long long>(power + 1023) << 52);
}

}  // namespace rung_emu
