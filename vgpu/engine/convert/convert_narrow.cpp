// The rare forms of cvt to and from f16, bf16 and tf32: from and to f64 and integers, in every
// rounding mode, with .sat, .relu and .satfinite (PTX ISA, 9.7.9).

#include "vgpu/engine/arithmetic/operations.hpp"
#include "vgpu/engine/lanes/per_lane.hpp"
#include "vgpu/engine/numbers/conversions.hpp"
#include "vgpu/engine/numbers/float16.hpp"
#include "vgpu/engine/numbers/small_floats.hpp"

namespace rung::vgpu {

namespace {

template <class T>
constexpr bool is_half = std::is_same_v<T, Half> || std::is_same_v<T, Bfloat>;

template <class T>
constexpr SmallFloat format_of = std::is_same_v<T, Half> ? f16_format : bf16_format;

/// Returns a double that rounds to each of the small formats as the lane's exact value does.
template <class T>
double exact(T lane) {
  if constexpr (is_half<T>) {
    return decode(lane.bits, format_of<T>);
  } else if constexpr (sizeof(T) == 8 && !std::is_same_v<T, double>) {
    const bool negative = lane < 0;
    const auto bits = static_cast<std::uint64_t>(lane);
    const double magnitude = odd_double(negative ? 0 - bits : bits);
    return negative ? -magnitude : magnitude;
  } else {
    return static_cast<double>(value_of(lane));
  }
}

enum class Clamp { none, sat, relu, satfinite, relu_satfinite };

double clamped(double x, Clamp clamp) {
  if (clamp == Clamp::sat) return x > 0 ? std::fmin(x, 1.0) : 0.0;
  const bool relu = clamp == Clamp::relu || clamp == Clamp::relu_satfinite;
  return relu && x <= 0 ? 0.0 : x;
}

/// Keeps the sign and the upper payload bits of an f64 NaN. Sources of other types give the
/// canonical NaN.
std::uint32_t nan_of(double x, const SmallFloat& format) {
  const std::uint64_t bits = bits_of(quiet(x));
  const int exponent_bits = 15 - format.mantissa;
  const auto payload =
      static_cast<std::uint32_t>(bits >> (52 - format.mantissa)) & ((1u << format.mantissa) - 1);
  return static_cast<std::uint32_t>(bits >> 63 << 15) |
         ((1u << exponent_bits) - 1) << format.mantissa | payload;
}

template <class D, class S, Rounding rounding, Clamp clamp>
struct ToHalf {
  static D run(S a) {
    constexpr bool satfinite = clamp == Clamp::satfinite || clamp == Clamp::relu_satfinite;
    const double x = clamped(exact(a), clamp);
    if (std::is_same_v<S, double> && x != x) {
      return {static_cast<std::uint16_t>(nan_of(x, format_of<D>))};
    }
    return {static_cast<std::uint16_t>(encode(x, format_of<D>, rounding, satfinite))};
  }
};

// Widens to f64. A NaN keeps its payload.
template <class F>
struct HalfToDouble {
  static double run(typename F::Lane a) { return static_cast<double>(F::number(a)); }
};

template <class D, class S, ToInteger rounding>
struct HalfToInteger {
  static D run(S a) {
    const auto x = static_cast<float>(exact(a));
    return LaneOf<D>::from(to_integer<typename LaneOf<D>::Number>(integral<rounding>(x)));
  }
};

template <class T, ToInteger rounding>
struct IntegralHalf {
  static T run(T a) {
    const double x = integral<rounding>(exact(a));
    return {static_cast<std::uint16_t>(encode(x, format_of<T>, Rounding::nearest, false))};
  }
};

template <Rounding rounding, Clamp clamp>
struct ToTf32 {
  static std::uint32_t run(float a) {
    const bool satfinite = clamp == Clamp::satfinite || clamp == Clamp::relu_satfinite;
    return encode(clamped(a, clamp), tf32_format, rounding, satfinite);
  }
};

template <class D, class S, Clamp clamp>
void add_modes(OpTable& table, const std::string& rest) {
  table.add({"cvt.rn", rest}, lane_spec<ToHalf<D, S, Rounding::nearest, clamp>>());
  table.add({"cvt.rz", rest}, lane_spec<ToHalf<D, S, Rounding::zero, clamp>>());
  table.add({"cvt.rm", rest}, lane_spec<ToHalf<D, S, Rounding::down, clamp>>());
  table.add({"cvt.rp", rest}, lane_spec<ToHalf<D, S, Rounding::up, clamp>>());
}

/// Adds the narrowing forms; .sat exists only for f16.
template <class D, class S>
void add_narrowing(OpTable& table, const std::string& types) {
  add_modes<D, S, Clamp::none>(table, types);
  if constexpr (std::is_same_v<D, Half> && !std::is_same_v<S, Bfloat>) {
    add_modes<D, S, Clamp::sat>(table, ".sat" + types);
  }
}

/// Adds conversions from f32. .ftz exists only for f16, and the hardware ignores it there.
template <class D>
void add_from_single(OpTable& table, const std::string& types) {
  add_narrowing<D, float>(table, types);
  if constexpr (std::is_same_v<D, Half>) {
    add_modes<D, float, Clamp::none>(table, ".ftz" + types);
    add_modes<D, float, Clamp::sat>(table, ".ftz.sat" + types);
  }
  const auto add = [&](const std::string& mode, auto rounding) {
    constexpr Rounding r = decltype(rounding)::value;
    table.add({mode, ".relu", types}, lane_spec<ToHalf<D, float, r, Clamp::relu>>());
    table.add({mode, ".satfinite", types}, lane_spec<ToHalf<D, float, r, Clamp::satfinite>>());
    table.add({mode, ".relu.satfinite", types},
              lane_spec<ToHalf<D, float, r, Clamp::relu_satfinite>>());
  };
  add("cvt.rn", std::integral_constant<Rounding, Rounding::nearest>());
  add("cvt.rz", std::integral_constant<Rounding, Rounding::zero>());
}

template <class D, class S, ToInteger rounding>
void add_to_integer(OpTable& table, const std::string& mode, const std::string& types) {
  table.add({mode, types}, lane_spec<HalfToInteger<D, S, rounding>>());
  if constexpr (std::is_same_v<S, Half>) {
    table.add({mode, ".sat", types}, lane_spec<HalfToInteger<D, S, rounding>>());
  }
}

/// Adds conversions between a half and an integer, in both directions.
template <class H, class I>
void add_integer(OpTable& table, const std::string& half, const std::string& integer) {
  const std::string types = "." + integer + "." + half;
  add_narrowing<H, I>(table, "." + half + "." + integer);
  add_to_integer<I, H, ToInteger::nearest>(table, "cvt.rni", types);
  add_to_integer<I, H, ToInteger::zero>(table, "cvt.rzi", types);
  add_to_integer<I, H, ToInteger::down>(table, "cvt.rmi", types);
  add_to_integer<I, H, ToInteger::up>(table, "cvt.rpi", types);
}

template <class H>
void add_half(OpTable& table, const std::string& half) {
  add_from_single<H>(table, "." + half + ".f32");
  add_narrowing<H, double>(table, "." + half + ".f64");
  table.add({"cvt.f64.", half},
            lane_spec<HalfToDouble<std::conditional_t<std::is_same_v<H, Half>, F16, BF16>>>());
  if constexpr (std::is_same_v<H, Half>) {
    add_integer<H, U8>(table, half, "u8");
    add_integer<H, S8>(table, half, "s8");
  }
  add_integer<H, std::uint16_t>(table, half, "u16");
  add_integer<H, std::int16_t>(table, half, "s16");
  add_integer<H, std::uint32_t>(table, half, "u32");
  add_integer<H, std::int32_t>(table, half, "s32");
  add_integer<H, std::uint64_t>(table, half, "u64");
  add_integer<H, std::int64_t>(table, half, "s64");
  const std::string types = "." + half + "." + half;
  table.add({"cvt.rni", types}, lane_spec<IntegralHalf<H, ToInteger::nearest>>());
  table.add({"cvt.rzi", types}, lane_spec<IntegralHalf<H, ToInteger::zero>>());
  table.add({"cvt.rmi", types}, lane_spec<IntegralHalf<H, ToInteger::down>>());
  table.add({"cvt.rpi", types}, lane_spec<IntegralHalf<H, ToInteger::up>>());
}

template <Rounding rounding>
void add_tf32(OpTable& table, const std::string& mode) {
  const std::string start = "cvt" + mode, types = ".tf32.f32";
  OpSpec spec = lane_spec<ToTf32<rounding, Clamp::none>>();
  table.add({start, types}, spec);
  table.add({start, ".satfinite", types}, lane_spec<ToTf32<rounding, Clamp::satfinite>>());
  if (rounding == Rounding::away) return;
  table.add({start, ".relu", types}, lane_spec<ToTf32<rounding, Clamp::relu>>());
  table.add({start, ".relu.satfinite", types},
            lane_spec<ToTf32<rounding, Clamp::relu_satfinite>>());
}

}  // namespace

void add_narrow_conversions(OpTable& table) {
  add_half<Half>(table, "f16");
  add_half<Bfloat>(table, "bf16");
  add_narrowing<Bfloat, Half>(table, ".bf16.f16");
  add_narrowing<Half, Bfloat>(table, ".f16.bf16");
  add_tf32<Rounding::nearest>(table, ".rn");
  add_tf32<Rounding::zero>(table, ".rz");
  add_tf32<Rounding::away>(table, ".rna");
}

}  // namespace rung::vgpu
