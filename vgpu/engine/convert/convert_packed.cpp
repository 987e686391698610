// cvt between pairs: f32 to f16x2, bf16x2 and pairs of 8, 6 and 4 bits, and these to and from f16x2; f32 and bf16x2
// to and from ue8m0x2. Also cvt.pack, which packs integers (PTX ISA, 9.7.9).

#include <algorithm>
#include <cmath>

#include "vgpu/engine/arithmetic/operations.hpp"
#include "vgpu/engine/lanes/per_lane.hpp"
#include "vgpu/engine/numbers/conversions.hpp"
#include "vgpu/engine/numbers/small_floats.hpp"

namespace rung::vgpu {

namespace {

enum class Format { f16, bf16, e4m3, e5m2, e2m3, e3m2, e2m1 };

constexpr SmallFloat format_of(Format format) {
  switch (format) {
    case Format::f16: return f16_format;
    case Format::bf16: return bf16_format;
    case Format::e4m3: return e4m3_format;
    case Format::e2m3: return e2m3_format;
    case Format::e3m2: return e3m2_format;
    case Format::e2m1: return e2m1_format;
    case Format::e5m2: break;
  }
  return e5m2_format;
}

/// Bits from one element of a pair to the other. Elements of 6 bits are in bytes.
constexpr int pitch_of(Format format) {
  return format == Format::e2m1 ? 4 : format <= Format::bf16 ? 16 : 8;
}

/// The type of a pair.
template <Format format>
using PairOf = std::conditional_t<pitch_of(format) == 16, std::uint32_t,
                                  std::conditional_t<pitch_of(format) == 8, std::uint16_t, U8>>;

template <Format format>
PairOf<format> pair_of_bits(std::uint32_t bits) {
  if constexpr (pitch_of(format) == 4) {
    return {static_cast<std::uint16_t>(bits)};
  } else {
    return static_cast<PairOf<format>>(bits);
  }
}

std::uint32_t bits_of_pair(std::uint16_t pair) { return pair; }
std::uint32_t bits_of_pair(U8 pair) { return pair.bits & 0xFFu; }

/// A NaN becomes the largest number of a format without NaN.
template <Format format, bool relu>
double clamped(double x) {
  constexpr SmallFloat small = format_of(format);
  if (small.nan == no_nan && x != x) return small.largest;
  return relu && x <= 0 ? 0.0 : x;
}

/// Rounds two numbers and packs them; the first becomes the upper half.
template <Format format, Rounding rounding, bool relu, bool satfinite>
std::uint32_t packed(double high, double low) {
  constexpr SmallFloat small = format_of(format);
  constexpr int bits = pitch_of(format);
  return encode(clamped<format, relu>(high), small, rounding, satfinite) << bits |
         encode(clamped<format, relu>(low), small, rounding, satfinite);
}

template <Format format, Rounding rounding, bool relu, bool satfinite>
struct FromFloats {
  static PairOf<format> run(float a, float b) {
    return pair_of_bits<format>(packed<format, rounding, relu, satfinite>(a, b));
  }
};

template <Format format, bool relu>
struct BytesFromHalves {
  static PairOf<format> run(std::uint32_t a) {
    return pair_of_bits<format>(packed<format, Rounding::nearest, relu, true>(
        decode(a >> 16, f16_format), decode(a & 0xFFFF, f16_format)));
  }
};

template <Format format, bool relu>
struct HalvesFromBytes {
  static std::uint32_t run(PairOf<format> a) {
    constexpr SmallFloat small = format_of(format);
    const std::uint32_t bits = bits_of_pair(a);
    return packed<Format::f16, Rounding::nearest, relu, false>(
        decode(bits >> pitch_of(format), small),
        decode(bits & ((1u << pitch_of(format)) - 1), small));
  }
};

template <Format format, Rounding rounding>
void add_halves(OpTable& table, const std::string& mode, const std::string& type) {
  const std::string types = "." + type + "x2.f32";
  table.add({mode, types}, lane_spec<FromFloats<format, rounding, false, false>>());
  table.add({mode, ".relu", types}, lane_spec<FromFloats<format, rounding, true, false>>());
  table.add({mode, ".satfinite", types}, lane_spec<FromFloats<format, rounding, false, true>>());
  table.add({mode, ".relu.satfinite", types},
            lane_spec<FromFloats<format, rounding, true, true>>());
}

template <Format format, bool relu>
void add_bytes(OpTable& table, const std::string& relu_name, const std::string& type) {
  const std::string to = "cvt.rn.satfinite" + relu_name + "." + type + "x2";
  table.add({to, ".f32"}, lane_spec<FromFloats<format, Rounding::nearest, relu, true>>());
  table.add({to, ".f16x2"}, lane_spec<BytesFromHalves<format, relu>>());
  table.add({"cvt.rn", relu_name, ".f16x2.", type, "x2"},
            lane_spec<HalvesFromBytes<format, relu>>());
}

/// The power of two at or below the magnitude, or, if `up`, at or above it, as an exponent of 8 bits: ue8m0.
template <bool up>
std::uint32_t exponent_byte(double x) {
  constexpr std::uint32_t nan = 0xFF;
  constexpr int bias = 127, largest = 254;
  if (x != x) return nan;
  if (x == 0) return 0;
  if (std::isinf(x)) return largest;
  int exponent = std::ilogb(x);
  if (up && std::ldexp(1.0, exponent) != std::abs(x)) ++exponent;
  return static_cast<std::uint32_t>(std::clamp(exponent + bias, 0, largest));
}

template <bool up>
struct ExponentsFromFloats {
  static std::uint16_t run(float a, float b) {
    return static_cast<std::uint16_t>(exponent_byte<up>(a) << 8 | exponent_byte<up>(b));
  }
};

template <bool up>
struct ExponentsFromBfloats {
  static std::uint16_t run(std::uint32_t a) {
    return static_cast<std::uint16_t>(exponent_byte<up>(decode(a >> 16, bf16_format)) << 8 |
                                      exponent_byte<up>(decode(a & 0xFFFF, bf16_format)));
  }
};

struct BfloatsFromExponents {
  static std::uint32_t run(std::uint16_t a) { return bfloat(a >> 8) << 16 | bfloat(a & 0xFFu); }

 private:
  /// The exponent 0, 2^-127, is subnormal.
  static std::uint32_t bfloat(std::uint32_t exponent) {
    return exponent == 0xFF ? 0x7FFFu : exponent == 0 ? 0x40u : exponent << 7;
  }
};

template <bool up>
void add_exponents(OpTable& table, const std::string& mode) {
  for (const char* const saturation : {"", ".satfinite"}) {
    table.add({mode, saturation, ".ue8m0x2.f32"}, lane_spec<ExponentsFromFloats<up>>());
    table.add({mode, saturation, ".ue8m0x2.bf16x2"}, lane_spec<ExponentsFromBfloats<up>>());
  }
}

/// x saturated to an integer of `bits` bits.
template <bool is_signed, int bits>
std::uint32_t clamped_field(std::int32_t x) {
  constexpr std::int64_t low = is_signed ? -(std::int64_t{1} << (bits - 1)) : 0;
  constexpr std::int64_t high = (std::int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
  const std::int64_t value = x < low ? low : x > high ? high : x;
  return static_cast<std::uint32_t>(value) & ((1u << bits) - 1);
}

template <bool is_signed>
struct PackHalves {
  static std::uint32_t run(std::int32_t a, std::int32_t b) {
    return clamped_field<is_signed, 16>(a) << 16 | clamped_field<is_signed, 16>(b);
  }
};

// Shifts c left and inserts the two converted numbers below it.
template <bool is_signed, int bits>
struct PackSmall {
  static std::uint32_t run(std::int32_t a, std::int32_t b, std::uint32_t c) {
    return c << (2 * bits) | clamped_field<is_signed, bits>(a) << bits |
           clamped_field<is_signed, bits>(b);
  }
};

template <bool is_signed>
void add_packs(OpTable& table, const std::string& sign) {
  table.add({"cvt.pack.sat.", sign, "16.s32"}, lane_spec<PackHalves<is_signed>>());
  table.add({"cvt.pack.sat.", sign, "8.s32.b32"}, lane_spec<PackSmall<is_signed, 8>>());
  table.add({"cvt.pack.sat.", sign, "4.s32.b32"}, lane_spec<PackSmall<is_signed, 4>>());
  table.add({"cvt.pack.sat.", sign, "2.s32.b32"}, lane_spec<PackSmall<is_signed, 2>>());
}

}  // namespace

void add_packing_conversions(OpTable& table) {
  add_halves<Format::f16, Rounding::nearest>(table, "cvt.rn", "f16");
  add_halves<Format::f16, Rounding::zero>(table, "cvt.rz", "f16");
  add_halves<Format::bf16, Rounding::nearest>(table, "cvt.rn", "bf16");
  add_halves<Format::bf16, Rounding::zero>(table, "cvt.rz", "bf16");
  add_bytes<Format::e4m3, false>(table, "", "e4m3");
  add_bytes<Format::e4m3, true>(table, ".relu", "e4m3");
  add_bytes<Format::e5m2, false>(table, "", "e5m2");
  add_bytes<Format::e5m2, true>(table, ".relu", "e5m2");
  add_bytes<Format::e2m3, false>(table, "", "e2m3");
  add_bytes<Format::e2m3, true>(table, ".relu", "e2m3");
  add_bytes<Format::e3m2, false>(table, "", "e3m2");
  add_bytes<Format::e3m2, true>(table, ".relu", "e3m2");
  add_bytes<Format::e2m1, false>(table, "", "e2m1");
  add_bytes<Format::e2m1, true>(table, ".relu", "e2m1");
  add_exponents<false>(table, "cvt.rz");
  add_exponents<true>(table, "cvt.rp");
  table.add({"cvt.rn.bf16x2.ue8m0x2"}, lane_spec<BfloatsFromExponents>());
  add_packs<false>(table, "u");
  add_packs<true>(table, "s");
}

}  // namespace rung::vgpu
