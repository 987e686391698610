// f32 and f64: every rounding mode against the CPU's under <cfenv>; the rules for NaN, .ftz and
// .sat against the PTX ISA; and the behaviour of hardware where the manual is silent.

#include <cfenv>

#include "vgpu/tests/lanes.hpp"

namespace rung::vgpu::lanes {
namespace {

template <class T>
T canonical(T x) {
  if constexpr (std::is_same_v<T, float>) {
    if (std::isnan(x)) return std::bit_cast<float>(0x7FFFFFFFu);
  }
  return x;
}

float flushed(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }

float saturated(float x) { return x > 0 ? std::min(x, 1.0f) : 0.0f; }

template <class A>
A hidden(A a) {
  volatile A copy = a;
  return copy;
}

/// op(a…) in a rounding mode. Keeps the compiler from evaluating it earlier.
template <class T, class F, class... A>
T rounded(int mode, const F& op, A... a) {
  std::fesetround(mode);
  const T result = hidden<T>(op(hidden(a)...));
  std::fesetround(FE_TONEAREST);
  return canonical(result);
}

struct Mode {
  const char* name;
  int mode;
};
constexpr Mode modes[] = {
    {".rn", FE_TONEAREST}, {".rz", FE_TOWARDZERO}, {".rm", FE_DOWNWARD}, {".rp", FE_UPWARD}};

template <class T>
void check_rounding(const std::string& type) {
  for (const Mode& mode : modes) {
    const auto check_binary = [&](const std::string& opcode, auto op) {
      check<T, T, T>(opcode + mode.name + type,
                     [&](T a, T b) { return rounded<T>(mode.mode, op, a, b); });
    };
    check_binary("add", [](T a, T b) { return a + b; });
    check_binary("sub", [](T a, T b) { return a - b; });
    check_binary("mul", [](T a, T b) { return a * b; });
    check_binary("div", [](T a, T b) { return a / b; });
    check<T, T>(std::string("rcp") + mode.name + type,
                [&](T a) { return rounded<T>(mode.mode, [](T x) { return T{1} / x; }, a); });
    check<T, T>(std::string("sqrt") + mode.name + type,
                [&](T a) { return rounded<T>(mode.mode, [](T x) { return std::sqrt(x); }, a); });
    check<T, T, T, T>(std::string("fma") + mode.name + type, [&](T a, T b, T c) {
      return rounded<T>(mode.mode, [](T x, T y, T z) { return std::fma(x, y, z); }, a, b, c);
    });
  }
}

TEST(FloatArithmetic, RoundsAsIeeeSays) {
  check_rounding<float>(".f32");
  check_rounding<double>(".f64");
}

TEST(FloatArithmetic, RoundsToNearestByDefault) {
  check<float, float, float>("add.f32", [](float a, float b) { return canonical(a + b); });
  check<double, double, double>("mul.f64", [](double a, double b) { return a * b; });
}

TEST(FloatArithmetic, FlushesSubnormalNumbers) {
  // A product below the smallest normal number is zero, even if rounding would make it normal.
  const auto finished = [](float nearest, double exact) {
    const bool tiny = std::abs(exact) < std::numeric_limits<float>::min() * (1 - 0x1p-25);
    return canonical(tiny ? std::copysign(0.0f, nearest) : nearest);
  };
  check<float, float, float>(
      "add.ftz.f32", [](float a, float b) { return canonical(flushed(flushed(a) + flushed(b))); });
  check<float, float, float>("mul.rn.ftz.f32", [&](float a, float b) {
    const float x = flushed(a), y = flushed(b);
    return finished(x * y, static_cast<double>(x) * y);
  });
  check<float, float, float, float>("fma.rn.ftz.f32", [&](float a, float b, float c) {
    const float x = flushed(a), y = flushed(b), z = flushed(c);
    return finished(std::fma(x, y, z), static_cast<double>(x) * y + z);
  });
  check<float, float>("neg.ftz.f32", [](float a) { return canonical(-flushed(a)); });
}

TEST(FloatArithmetic, FlushesBeforeRoundingAsHardwareDoes) {
  Row<float> a, b, c;
  a.fill(std::numeric_limits<float>::min());
  b.fill(std::nextafter(1.0f, 0.0f));
  c.fill(0.0f);
  EXPECT_EQ(run<float>(plain("mul.ftz.f32", 2), a, b)[0], 0.0f);
  EXPECT_EQ(run<float>(plain("fma.rn.ftz.f32", 3), a, b, c)[0], 0.0f);
  EXPECT_EQ(run<float>(plain("mul.f32", 2), a, b)[0], std::numeric_limits<float>::min());
  // The scaling used by the implementation must not overflow.
  a.fill(-std::numeric_limits<float>::max());
  b.fill(1.0f);
  c.fill(0x1.9p126f);
  EXPECT_EQ(run<float>(plain("fma.rz.ftz.f32", 3), a, b, c)[0], a[0] + c[0]);
}

TEST(FloatArithmetic, SaturatesAndMakesNanZero) {
  check<float, float, float>("add.sat.f32", [](float a, float b) { return saturated(a + b); });
  check<float, float, float>("sub.rn.sat.f32", [](float a, float b) { return saturated(a - b); });
  check<float, float, float, float>(
      "fma.rn.sat.f32", [](float a, float b, float c) { return saturated(std::fma(a, b, c)); });
  check<float, float, float>("add.ftz.sat.f32", [](float a, float b) {
    return saturated(flushed(flushed(a) + flushed(b)));
  });
}

/// min or max of several values, by the rules of PTX ISA 9.7.3.11.
template <class T>
T extreme(bool smaller, bool nan, std::initializer_list<T> values) {
  T best = std::numeric_limits<T>::quiet_NaN();
  for (const T x : values) {
    if (std::isnan(x)) {
      if (nan) return canonical(x);
      continue;
    }
    const bool below = x < best || (x == best && std::signbit(x) && !std::signbit(best));
    const bool above = x > best || (x == best && !std::signbit(x) && std::signbit(best));
    if (std::isnan(best) || (smaller ? below : above)) best = x;
  }
  return canonical(best);
}

TEST(FloatArithmetic, MinimumAndMaximum) {
  for (const bool smaller : {true, false}) {
    const std::string opcode = smaller ? "min" : "max";
    check<float, float, float>(opcode + ".f32",
                               [&](float a, float b) { return extreme(smaller, false, {a, b}); });
    check<float, float, float>(opcode + ".NaN.f32",
                               [&](float a, float b) { return extreme(smaller, true, {a, b}); });
    check<double, double, double>(
        opcode + ".f64", [&](double a, double b) { return extreme(smaller, false, {a, b}); });
    check<float, float, float>(opcode + ".xorsign.abs.f32", [&](float a, float b) {
      const float magnitude = extreme(smaller, false, {std::abs(a), std::abs(b)});
      if (std::isnan(magnitude)) return magnitude;
      return std::signbit(a) != std::signbit(b) ? -magnitude : magnitude;
    });
    check<float, float, float, float>(opcode + ".f32", [&](float a, float b, float c) {
      return extreme(smaller, false, {a, b, c});
    });
    check<float, float, float, float>(opcode + ".NaN.abs.f32", [&](float a, float b, float c) {
      return extreme(smaller, true, {std::abs(a), std::abs(b), std::abs(c)});
    });
  }
}

TEST(FloatArithmetic, Signs) {
  check<float, float>("neg.f32", [](float a) { return canonical(-a); });
  check<float, float>("abs.f32", [](float a) { return canonical(std::abs(a)); });
  check<double, double>("neg.f64", [](double a) { return -a; });
  check<double, double>("abs.f64", [](double a) { return std::abs(a); });
  check<float, float, float>("copysign.f32", [](float a, float b) { return std::copysign(b, a); });
  check<double, double, double>("copysign.f64",
                                [](double a, double b) { return std::copysign(b, a); });
}

TEST(FloatArithmetic, PairsAreIndependent) {
  const auto pair = [](float low, float high) {
    return std::uint64_t{std::bit_cast<std::uint32_t>(high)} << 32 |
           std::bit_cast<std::uint32_t>(low);
  };
  Row<std::uint64_t> a, b, c;
  for (std::size_t i = 0; i < warp_size; ++i) {
    a[i] = pair(static_cast<float>(i), 3.0f);
    b[i] = pair(2.0f, 0.5f);
    c[i] = pair(1.0f, static_cast<float>(i));
  }
  const auto results = run<std::uint64_t>(plain("fma.rn.f32x2", 3), a, b, c);
  for (std::size_t i = 0; i < warp_size; ++i) {
    EXPECT_EQ(results[i], pair(2.0f * static_cast<float>(i) + 1, 1.5f + static_cast<float>(i)));
  }
  const auto products = run<std::uint64_t>(plain("mul.f32x2", 2), a, b);
  for (std::size_t i = 0; i < warp_size; ++i) {
    EXPECT_EQ(products[i], pair(2.0f * static_cast<float>(i), 1.5f));
  }
}

TEST(FloatArithmetic, MixedPrecision) {
  Row<std::uint16_t> a;
  Row<float> c;
  a.fill(0x3E00);  // 1.5
  c.fill(0x1p-24f);
  EXPECT_EQ(run<float>(plain("add.rn.f32.f16", 2), a, c)[0], 1.5f);
  EXPECT_EQ(run<float>(plain("add.rp.f32.f16", 2), a, c)[0], std::nextafter(1.5f, 2.0f));
  EXPECT_EQ(run<float>(plain("fma.rn.sat.f32.f16", 3), a, a, c)[0], 1.0f);
}

TEST(FloatArithmetic, Properties) {
  const auto check_property = [](const std::string& name, auto property) {
    check<bool, float>("testp." + name + ".f32", property);
    check<bool, double>("testp." + name + ".f64", property);
  };
  check_property("finite", [](auto x) { return std::isfinite(x); });
  check_property("infinite", [](auto x) { return std::isinf(x); });
  check_property("number", [](auto x) { return !std::isnan(x); });
  check_property("notanumber", [](auto x) { return std::isnan(x); });
  check_property("normal", [](auto x) { return std::isnormal(x) || x == 0; });
  check_property("subnormal", [](auto x) { return std::fpclassify(x) == FP_SUBNORMAL; });
}

/// The largest error of an instruction in units in the last place, over the edge cases with a
/// normal result.
template <class F>
double worst_ulp(const std::string& mnemonic, const F& exact) {
  double worst = 0;
  for_combinations<float>([&](const Row<float>& a) {
    const auto results = run<float>(plain(mnemonic, 1), a);
    for (std::size_t i = 0; i < warp_size; ++i) {
      const double wanted = exact(static_cast<double>(a[i]));
      const auto single = static_cast<float>(wanted);
      if (!std::isnormal(single)) {
        EXPECT_EQ(std::isnan(wanted), std::isnan(results[i])) << mnemonic << " of " << a[i];
        continue;
      }
      const double ulp = std::abs(std::nextafter(single, INFINITY) - single);
      worst = std::max(worst, std::abs(results[i] - wanted) / ulp);
    }
  });
  return worst;
}

TEST(SpecialFunctions, AreCloserThanTheManualAsks) {
  const double half = 0.501;
  EXPECT_LE(worst_ulp("rcp.approx.f32", [](double x) { return 1 / x; }), half);
  EXPECT_LE(worst_ulp("sqrt.approx.f32", [](double x) { return std::sqrt(x); }), half);
  EXPECT_LE(worst_ulp("rsqrt.approx.f32", [](double x) { return 1 / std::sqrt(x); }), half);
  EXPECT_LE(worst_ulp("sin.approx.f32", [](double x) { return std::sin(x); }), half);
  EXPECT_LE(worst_ulp("cos.approx.f32", [](double x) { return std::cos(x); }), half);
  EXPECT_LE(worst_ulp("lg2.approx.f32", [](double x) { return std::log2(x); }), half);
  EXPECT_LE(worst_ulp("ex2.approx.f32", [](double x) { return std::exp2(x); }), half);
  EXPECT_LE(worst_ulp("tanh.approx.f32", [](double x) { return std::tanh(x); }), half);
}

TEST(SpecialFunctions, DivisionByVeryLargeNumbersVanishes) {
  check<float, float, float>("div.approx.f32", [](float a, float b) {
    if (std::abs(b) > 0x1p126f && std::isfinite(b)) {
      return canonical(a * std::copysign(0.0f, b));
    }
    return canonical(a / b);
  });
  check<float, float, float>("div.full.f32", [](float a, float b) { return canonical(a / b); });
}

TEST(SpecialFunctions, GrossReciprocalsHaveZeroLowerHalves) {
  check<double, double>("rcp.approx.ftz.f64", [](double a) {
    const auto without_subnormal = [](double x) {
      return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0, x) : x;
    };
    constexpr std::uint64_t upper = ~std::uint64_t{0xFFFFFFFF};
    const double x =
        without_subnormal(std::bit_cast<double>(std::bit_cast<std::uint64_t>(a) & upper));
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(without_subnormal(1 / x)) & upper);
  });
}

}  // namespace
}  // namespace rung::vgpu::lanes
