// cvt between pairs: f32 to f16x2, bf16x2, e4m3x2 and e5m2x2, and 8-bit pairs to and from f16x2.
// Also cvt.pack, which packs integers (PTX ISA, 9.7.9).

#include "vgpu/engine/arithmetic/operations.hpp"
#include "vgpu/engine/lanes/per_lane.hpp"
#include "vgpu/engine/numbers/conversions.hpp"
#include "vgpu/engine/numbers/small_floats.hpp"

namespace rung::vgpu {

namespace {

enum class Format { f16, bf16, e4m3, e5m2 };

constexpr SmallFloat format_of(Format format) {
  switch (format) {
    case Format::f16: return f16_format;
    case Format::bf16: return bf16_format;
    case Format::e4m3: return e4m3_format;
    case Format::e5m2: break;
  }
  return e5m2_format;
}

constexpr bool is_byte(Format format) { return format == Format::e4m3 || format == Format::e5m2; }

template <bool relu>
double clamped(double x) {
  return relu && x <= 0 ? 0.0 : x;
}

/// Rounds two numbers and packs them; the first becomes the upper half.
template <Format format, Rounding rounding, bool relu, bool satfinite>
std::uint32_t packed(double high, double low) {
  constexpr SmallFloat small = format_of(format);
  constexpr int bits = is_byte(format) ? 8 : 16;
  return encode(clamped<relu>(high), small, rounding, satfinite) << bits |
         encode(clamped<relu>(low), small, rounding, satfinite);
}

template <Format format, Rounding rounding, bool relu, bool satfinite>
struct FromFloats {
  using Result = std::conditional_t<is_byte(format), std::uint16_t, std::uint32_t>;
  static Result run(float a, float b) {
    return static_cast<Result>(packed<format, rounding, relu, satfinite>(a, b));
  }
};

template <Format format, bool relu>
struct BytesFromHalves {
  static std::uint16_t run(std::uint32_t a) {
    return static_cast<std::uint16_t>(packed<format, Rounding::nearest, relu, true>(
        decode(a >> 16, f16_format), decode(a & 0xFFFF, f16_format)));
  }
};

template <Format format, bool relu>
struct HalvesFromBytes {
  static std::uint32_t run(std::uint16_t a) {
    constexpr SmallFloat small = format_of(format);
    return packed<Format::f16, Rounding::nearest, relu, false>(decode(a >> 8, small),
                                                               decode(a & 0xFFu, small));
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
  add_packs<false>(table, "u");
  add_packs<true>(table, "s");
}

}  // namespace rung::vgpu
