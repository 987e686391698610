// The device's math functions, compiled for the host. Each is compared with the C library's
// function in double precision, whose own error is below one unit in the last place.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

// Substitutes for what clang, PTX and other headers define on the device.
#define __device__
#define RUNG_EMU_NV extern "C" inline
#define RUNG_EMU_MATH extern "C" inline
extern "C" {
inline float rung_emu_ex2(float a) { return std::exp2(a); }
}
#pragma GCC diagnostic ignored "-Wpedantic"  // __int128

// clang-format off
#include "rung_emu/libdevice/basic.h"
#include "rung_emu/libdevice/double_math.h"
#include "rung_emu/libdevice/trigonometry.h"
#include "rung_emu/libdevice/hyperbolic.h"
#include "rung_emu/libdevice/special_math.h"
#include "rung_emu/libdevice/float_math.h"
// clang-format on

namespace {

// Distance in units in the last place of the reference, 0 for equal, NaN for NaN.
template <class T>
double ulps(T value, T reference) {
  if (value == reference || (std::isnan(value) && std::isnan(reference))) return 0;
  if (std::isnan(value) || std::isnan(reference)) return 1e9;
  if (std::isinf(value) || std::isinf(reference)) return 1e9;
  const T next = std::nextafter(std::fabs(reference), std::numeric_limits<T>::infinity());
  return std::fabs(static_cast<double>(value) - static_cast<double>(reference)) /
         static_cast<double>(next - std::fabs(reference));
}

// A dense sample: every exponent from -40 to `top` with uneven significands, both signs, and
// special values.
template <class T>
std::vector<T> arguments(int top) {
  std::vector<T> values = {0, 1, 2, T(0.5), T(1.5), 10, 100, 1000, T(0.1)};
  for (int exponent = -40; exponent <= top; ++exponent) {
    for (int i = 0; i < 60; ++i) {
      values.push_back(static_cast<T>(std::ldexp(1 + 0.0166 * i + 1e-4 * exponent, exponent)));
    }
  }
  values.push_back(std::numeric_limits<T>::infinity());
  values.push_back(std::numeric_limits<T>::quiet_NaN());
  values.push_back(std::numeric_limits<T>::min());
  values.push_back(std::numeric_limits<T>::denorm_min());
  values.push_back(std::numeric_limits<T>::max());
  const std::size_t positive = values.size();
  for (std::size_t i = 0; i < positive; ++i) values.push_back(-values[i]);
  return values;
}

template <class T>
void expect_close(const char* name, T (*own)(T), T (*reference)(T), double bound, int top = 12) {
  double worst = 0;
  T worst_at = 0;
  for (const T x : arguments<T>(top)) {
    const double error = ulps(own(x), reference(x));
    if (error > worst) {
      worst = error;
      worst_at = x;
    }
  }
  EXPECT_LE(worst, bound) << name << "(" << worst_at << ") = " << own(worst_at) << ", not "
                          << reference(worst_at);
}

#define EXPECT_CLOSE(NAME, ...) \
  expect_close<double>(#NAME, __nv_##NAME, [](double x) { return ::NAME(x); }, __VA_ARGS__)
#define EXPECT_FLOAT_CLOSE(NAME, ...)                                                   \
  expect_close<float>(                                                                  \
      #NAME "f", __nv_##NAME##f, [](float x) { return static_cast<float>(::NAME(x)); }, \
      __VA_ARGS__)

TEST(Libdevice, DoubleFunctions) {
  EXPECT_CLOSE(exp, 2);
  EXPECT_CLOSE(exp2, 2);
  EXPECT_CLOSE(exp10, 2);
  EXPECT_CLOSE(expm1, 3);
  EXPECT_CLOSE(log, 2, 1000);
  EXPECT_CLOSE(log2, 2, 1000);
  EXPECT_CLOSE(log10, 2, 1000);
  EXPECT_CLOSE(log1p, 2, 1000);
  EXPECT_CLOSE(sin, 2, 1000);
  EXPECT_CLOSE(cos, 2, 1000);
  EXPECT_CLOSE(tan, 3, 1000);
  EXPECT_CLOSE(asin, 3);
  EXPECT_CLOSE(acos, 3);
  EXPECT_CLOSE(atan, 2, 1000);
  EXPECT_CLOSE(sinh, 4);
  EXPECT_CLOSE(cosh, 3);
  EXPECT_CLOSE(tanh, 4);
  EXPECT_CLOSE(asinh, 4, 1000);
  EXPECT_CLOSE(acosh, 4, 1000);
  EXPECT_CLOSE(atanh, 4);
  EXPECT_CLOSE(cbrt, 3, 1000);
  EXPECT_CLOSE(erf, 2);
  EXPECT_CLOSE(erfc, 5);
}

// The bounds are those of CUDA's own functions (CUDA C++ Programming Guide, "Mathematical
// Functions"); the C library's double precision is no reference for them.
TEST(Libdevice, GammaAndNormalDistribution) {
  constexpr long double root_half = 0.707106781186547524400844362104849039L;
  const auto worst = [](double from, double to, const auto& own, const auto& reference) {
    double most = 0;
    for (int i = 0; i <= 20000; ++i) {
      const double x = from + (to - from) * i / 20000;
      const auto exact = static_cast<double>(reference(static_cast<long double>(x)));
      if (std::isnormal(exact)) most = std::max(most, ulps(own(x), exact));
    }
    return most;
  };
  const auto gamma = [](long double x) { return std::tgamma(x); };
  const auto normal = [](long double x) { return 0.5L * std::erfc(-x * root_half); };
  if constexpr (sizeof(long double) > sizeof(double)) {
    for (const auto& [from, to] : {std::pair(-170.003, -20.001), std::pair(-20.001, -0.001),
                                   std::pair(0.001, 3.0), std::pair(3.0, 171.6)}) {
      EXPECT_LE(worst(from, to, __nv_tgamma, gamma), 10) << from;
    }
    EXPECT_LE(worst(-37, 9, __nv_normcdf, normal), 5);
  }
}

TEST(Libdevice, FloatFunctions) {
  EXPECT_FLOAT_CLOSE(exp, 2);
  EXPECT_FLOAT_CLOSE(exp2, 2);
  EXPECT_FLOAT_CLOSE(exp10, 2);
  EXPECT_FLOAT_CLOSE(expm1, 1);
  EXPECT_FLOAT_CLOSE(log, 1.5, 120);
  EXPECT_FLOAT_CLOSE(log2, 1, 120);
  EXPECT_FLOAT_CLOSE(log10, 1, 120);
  EXPECT_FLOAT_CLOSE(log1p, 1, 120);
  EXPECT_FLOAT_CLOSE(sin, 2, 120);
  EXPECT_FLOAT_CLOSE(cos, 2, 120);
  EXPECT_FLOAT_CLOSE(tan, 4, 120);
  EXPECT_FLOAT_CLOSE(asin, 1);
  EXPECT_FLOAT_CLOSE(acos, 1);
  EXPECT_FLOAT_CLOSE(atan, 1, 120);
  EXPECT_FLOAT_CLOSE(sinh, 1);
  EXPECT_FLOAT_CLOSE(cosh, 1);
  EXPECT_FLOAT_CLOSE(tanh, 2);
  EXPECT_FLOAT_CLOSE(asinh, 1, 120);
  EXPECT_FLOAT_CLOSE(acosh, 1, 120);
  EXPECT_FLOAT_CLOSE(atanh, 1);
  EXPECT_FLOAT_CLOSE(cbrt, 1, 120);
  EXPECT_FLOAT_CLOSE(erf, 2);
  EXPECT_FLOAT_CLOSE(erfc, 1);
}

TEST(Libdevice, RoundingAndParts) {
  EXPECT_CLOSE(round, 0, 1000);
  EXPECT_FLOAT_CLOSE(round, 0, 120);
  EXPECT_CLOSE(logb, 0, 1000);
  EXPECT_FLOAT_CLOSE(logb, 0, 120);
  for (const double x : arguments<double>(100)) {
    int own = 0, reference = 0;
    EXPECT_EQ(ulps(__nv_frexp(x, &own), std::frexp(x, &reference)), 0) << x;
    if (std::isfinite(x)) {
      EXPECT_EQ(own, reference) << x;
    }
    double own_whole = 0, whole = 0;
    EXPECT_EQ(ulps(__nv_modf(x, &own_whole), std::modf(x, &whole)), 0) << x;
    for (const int n : {-2100, -1080, -1040, -300, -1, 0, 1, 900, 1100}) {
      EXPECT_EQ(ulps(__nv_ldexp(x, n), std::ldexp(x, n)), 0) << x << " " << n;
    }
  }
}

TEST(Libdevice, Powers) {
  const std::vector<double> exponents = {0,   1,    -1,  2,   0.5,  -0.5, 3,        1.0 / 3,   10,
                                         -10, 33.3, 100, 101, -101, 1e9,  INFINITY, -INFINITY, NAN};
  for (const double x : arguments<double>(60)) {
    for (const double y : exponents) {
      EXPECT_LE(ulps(__nv_pow(x, y), std::pow(x, y)), 4) << x << " to the power " << y;
    }
  }
  EXPECT_EQ(__nv_powf(2, 10), 1024);
  EXPECT_EQ(__nv_powif(3, 4), 81);
}

TEST(Libdevice, FunctionsOfTwo) {
  const std::vector<double> values = arguments<double>(30);
  for (std::size_t i = 0; i < values.size(); i += 17) {
    for (std::size_t j = 0; j < values.size(); j += 29) {
      const double x = values[i], y = values[j];
      EXPECT_LE(ulps(__nv_atan2(x, y), std::atan2(x, y)), 3) << x << " " << y;
      EXPECT_LE(ulps(__nv_hypot(x, y), std::hypot(x, y)), 2) << x << " " << y;
      EXPECT_EQ(ulps(__nv_fmod(x, y), std::fmod(x, y)), 0) << x << " " << y;
      EXPECT_EQ(ulps(__nv_remainder(x, y), std::remainder(x, y)), 0) << x << " " << y;
      EXPECT_EQ(ulps(__nv_nextafter(x, y), std::nextafter(x, y)), 0) << x << " " << y;
    }
  }
}

TEST(Libdevice, GammaFunctions) {
  for (double x = 0.05; x < 30; x += 0.0371) {
    EXPECT_LE(ulps(__nv_tgamma(x), std::tgamma(x)), 15) << x;  // 5 of them the reference's
    EXPECT_NEAR(__nv_lgamma(x), std::lgamma(x), 4e-15 * (1 + std::fabs(std::lgamma(x)))) << x;
    EXPECT_LE(ulps(__nv_tgammaf(static_cast<float>(x)),
                   static_cast<float>(std::tgamma(static_cast<double>(static_cast<float>(x))))),
              1)
        << x;
  }
  EXPECT_TRUE(std::isnan(__nv_tgamma(-2)));
  EXPECT_NEAR(__nv_tgamma(-1.5), std::tgamma(-1.5), 1e-14);
}

}  // namespace
