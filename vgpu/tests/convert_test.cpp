// cvt between integers, f32 and f64.

#include <cfenv>

#include "vgpu/tests/lanes.hpp"

namespace rung::vgpu::lanes {
namespace {

template <class D, class S>
void check_integers(const std::string& to, const std::string& from) {
  check<D, S>("cvt." + to + "." + from, [](S a) { return static_cast<D>(a); });
  using Limits = std::numeric_limits<D>;
  check<D, S>("cvt.sat." + to + "." + from, [](S a) {
    if (std::cmp_less(a, Limits::min())) return Limits::min();
    return std::cmp_greater(a, Limits::max()) ? Limits::max() : static_cast<D>(a);
  });
}

template <class D>
void check_to(const std::string& to) {
  check_integers<D, std::uint16_t>(to, "u16");
  check_integers<D, std::int16_t>(to, "s16");
  check_integers<D, std::uint32_t>(to, "u32");
  check_integers<D, std::int32_t>(to, "s32");
  check_integers<D, std::uint64_t>(to, "u64");
  check_integers<D, std::int64_t>(to, "s64");
}

TEST(Convert, BetweenIntegers) {
  check_to<std::uint16_t>("u16");
  check_to<std::int16_t>("s16");
  check_to<std::uint32_t>("u32");
  check_to<std::int32_t>("s32");
  check_to<std::uint64_t>("u64");
  check_to<std::int64_t>("s64");
}

// 8-bit integers are in 16-bit rows. Reads ignore the upper half; writes fill it with the extended
// value.
TEST(Convert, BytesLieInSixteenBits) {
  using H = std::uint16_t;
  check<std::uint32_t, H>("cvt.u32.u8", [](H a) { return a & 0xFFu; });
  check<std::int32_t, H>("cvt.s32.s8", [](H a) { return int{static_cast<std::int8_t>(a)}; });
  check<std::int16_t, std::int32_t>(
      "cvt.s8.s32", [](int a) { return std::int16_t{static_cast<std::int8_t>(a)}; });
  check<H, std::int32_t>("cvt.u8.s32", [](int a) { return H{static_cast<std::uint8_t>(a)}; });
  check<H, std::int32_t>("cvt.sat.u8.s32",
                         [](int a) { return static_cast<H>(std::clamp(a, 0, 255)); });
  check<std::int16_t, float>("cvt.rzi.s8.f32", [](float a) {
    return static_cast<std::int16_t>(std::isnan(a) ? 0
                                                   : std::clamp(std::trunc(a), -128.0f, 127.0f));
  });
  check<float, H>("cvt.rn.f32.u8", [](H a) { return static_cast<float>(a & 0xFF); });
  EXPECT_EQ(arithmetic(plain("cvt.s8.s32", 1))->operands[0], ptx::Type::s16);
}

double round_by(const std::string& mode, double x) {
  if (mode == ".rni") return std::nearbyint(x);
  if (mode == ".rzi") return std::trunc(x);
  return mode == ".rmi" ? std::floor(x) : std::ceil(x);
}

template <class D, class S>
void check_to_integer(const std::string& to, const std::string& from) {
  using Limits = std::numeric_limits<D>;
  for (const std::string mode : {".rni", ".rzi", ".rmi", ".rpi"}) {
    check<D, S>("cvt" + mode + "." + to + "." + from, [&](S a) {
      // As on hardware: only the highest bit is set for NaN from or to 64 bits.
      if (std::isnan(a)) {
        const bool wide = sizeof(D) == 8 || sizeof(S) == 8;
        return static_cast<D>(wide ? std::uint64_t{1} << (sizeof(D) * 8 - 1) : 0);
      }
      const double x = round_by(mode, a);
      if (x >= std::ldexp(1.0, Limits::digits)) return Limits::max();
      return x <= static_cast<double>(Limits::min()) ? Limits::min() : static_cast<D>(x);
    });
  }
}

TEST(Convert, FloatsToIntegers) {
  check_to_integer<std::uint16_t, float>("u16", "f32");
  check_to_integer<std::int32_t, float>("s32", "f32");
  check_to_integer<std::uint32_t, float>("u32", "f32");
  check_to_integer<std::int64_t, float>("s64", "f32");
  check_to_integer<std::uint64_t, float>("u64", "f32");
  check_to_integer<std::int16_t, double>("s16", "f64");
  check_to_integer<std::int32_t, double>("s32", "f64");
  check_to_integer<std::uint32_t, double>("u32", "f64");
  check_to_integer<std::int64_t, double>("s64", "f64");
  check_to_integer<std::uint64_t, double>("u64", "f64");
}

struct Mode {
  const char* name;
  int mode;
};
constexpr Mode modes[] = {
    {".rn", FE_TONEAREST}, {".rz", FE_TOWARDZERO}, {".rm", FE_DOWNWARD}, {".rp", FE_UPWARD}};

/// Computed in long double, which represents all 64-bit integers.
template <class D, class S>
D rounded(int mode, S a) {
  const auto wide = static_cast<long double>(a);
  std::fesetround(mode);
  volatile long double source = wide;
  volatile D result = static_cast<D>(source);
  std::fesetround(FE_TONEAREST);
  return result;
}

template <class S>
void check_from_integer(const std::string& from) {
  for (const Mode& mode : modes) {
    check<float, S>(std::string("cvt") + mode.name + ".f32." + from,
                    [&](S a) { return rounded<float>(mode.mode, a); });
    check<double, S>(std::string("cvt") + mode.name + ".f64." + from,
                     [&](S a) { return rounded<double>(mode.mode, a); });
  }
}

TEST(Convert, IntegersToFloats) {
  check_from_integer<std::uint16_t>("u16");
  check_from_integer<std::int16_t>("s16");
  check_from_integer<std::uint32_t>("u32");
  check_from_integer<std::int32_t>("s32");
  check_from_integer<std::uint64_t>("u64");
  check_from_integer<std::int64_t>("s64");
}

float flushed(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }
float saturated(float x) { return x > 0 ? std::min(x, 1.0f) : 0.0f; }

TEST(Convert, BetweenFloats) {
  check<double, float>("cvt.f64.f32", [](float a) { return static_cast<double>(a); });
  check<double, float>("cvt.ftz.f64.f32", [](float a) { return static_cast<double>(flushed(a)); });
  for (const Mode& mode : modes) {
    check<float, double>(std::string("cvt") + mode.name + ".f32.f64",
                         [&](double a) { return rounded<float>(mode.mode, a); });
  }
  check<float, double>("cvt.rn.ftz.f32.f64",
                       [](double a) { return flushed(static_cast<float>(a)); });
  check<float, double>("cvt.rn.sat.f32.f64",
                       [](double a) { return saturated(static_cast<float>(a)); });
  check<float, float>("cvt.sat.f32.f32", [](float a) { return saturated(a); });
  EXPECT_FALSE(is_known(plain("cvt.f32.f64", 1))) << "no rounding mode";
}

TEST(Convert, RoundsFloatsToIntegralFloats) {
  for (const std::string mode : {".rni", ".rzi", ".rmi", ".rpi"}) {
    check<float, float>("cvt" + mode + ".f32.f32", [&](float a) {
      return std::isnan(a) ? std::bit_cast<float>(0x7FFFFFFFu)
                           : static_cast<float>(round_by(mode, a));
    });
    check<double, double>("cvt" + mode + ".f64.f64", [&](double a) { return round_by(mode, a); });
  }
}

TEST(Convert, PacksIntegers) {
  using S = std::int32_t;
  using U = std::uint32_t;
  check<U, S, S>("cvt.pack.sat.s16.s32", [](S a, S b) {
    return static_cast<U>(std::clamp(a, -32768, 32767)) << 16 |
           (static_cast<U>(std::clamp(b, -32768, 32767)) & 0xFFFF);
  });
  check<U, S, S, U>("cvt.pack.sat.u8.s32.b32", [](S a, S b, U c) {
    return c << 16 | static_cast<U>(std::clamp(a, 0, 255)) << 8 |
           static_cast<U>(std::clamp(b, 0, 255));
  });
  check<U, S, S, U>("cvt.pack.sat.s4.s32.b32", [](S a, S b, U c) {
    return c << 8 | (static_cast<U>(std::clamp(a, -8, 7)) & 15) << 4 |
           (static_cast<U>(std::clamp(b, -8, 7)) & 15);
  });
}

}  // namespace
}  // namespace rung::vgpu::lanes
