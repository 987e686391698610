#include "device/cpu/activate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "device/activation.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/activate.cpp"
#include "device/cpu/simd.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Calls f(factor * from + bias) vector by vector and stores result_factor * f(x). The count must
/// be a multiple of the number of lanes.
template <class D, class T, class F>
HWY_INLINE void for_each(D d, const ActivationSpan<T>& span, const F& f) {
  constexpr std::int64_t lanes = hn::MaxLanes(d);
  const T zeros[lanes] = {};
  const T* const bias = span.bias == nullptr ? zeros : span.bias;
  const std::int64_t step = span.bias == nullptr ? 0 : 1;  // stride of bias
  const auto factor = hn::Set(d, span.factor);
  const auto result_factor = hn::Set(d, span.result_factor);
  for (std::int64_t i = 0; i < span.count; i += lanes) {
    const auto x = hn::MulAdd(factor, hn::LoadU(d, span.from + i), hn::LoadU(d, bias + step * i));
    hn::StoreU(hn::Mul(result_factor, f(x)), d, span.to + i);
  }
}

/// 2^y, with y clamped to [-60, 60]: beyond that, 1 + 2^y no longer changes. Adding `rounder`
/// leaves y, rounded to an integer, in the lowest bits of the sum. The power of two of the
/// remainder is a Taylor series truncated below 2^-23 or 2^-52.
template <class D, class V>
HWY_INLINE V exp2(D d, V y) {
  using T = hn::TFromD<D>;
  constexpr int bits = std::numeric_limits<T>::digits - 1;
  constexpr int terms = sizeof(T) == 4 ? 6 : 12;
  const hn::RebindToUnsigned<D> words;
  const auto rounder = hn::Set(d, static_cast<T>(std::uint64_t{3} << (bits - 1)));
  const auto limited = hn::Min(hn::Max(y, hn::Set(d, T{-60})), hn::Set(d, T{60}));
  const auto sum = hn::Add(limited, rounder);
  const auto x = hn::Mul(hn::Sub(limited, hn::Sub(sum, rounder)),
                         hn::Set(d, static_cast<T>(0.6931471805599453)));
  T factorial = 1;
  for (int i = 2; i <= terms; ++i) factorial *= static_cast<T>(i);
  auto series = hn::Set(d, 1 / factorial);
  for (int i = terms; i > 0; --i) {
    factorial /= static_cast<T>(i);
    series = hn::MulAdd(series, x, hn::Set(d, 1 / factorial));
  }
  const auto exponent = hn::ShiftLeft<bits>(hn::BitCast(words, sum));
  return hn::BitCast(d, hn::Add(hn::BitCast(words, series), exponent));
}

template <class T>
void relu_or_none(Activation activation, const ActivationSpan<T>& span) {
  const hn::ScalableTag<T> d;
  const auto least =
      hn::Set(d, activation == Activation::relu ? T{0} : -std::numeric_limits<T>::infinity());
  for_each(d, span, [&](auto x) HWY_ATTR { return hn::IfThenElse(x < least, least, x); });
}

/// Clamps x^2, because an infinite square would make silu's exponent NaN.
template <class T>
void smooth_step(const SmoothStep& step, const ActivationSpan<T>& span) {
  const hn::ScalableTag<T> d;
  const auto linear = hn::Set(d, static_cast<T>(step.linear));
  const auto cubic = hn::Set(d, static_cast<T>(step.cubic));
  const auto largest = hn::Set(d, T{0x1p40});
  const auto one = hn::Set(d, T{1});
  for_each(d, span, [&](auto x) HWY_ATTR {
    const auto square = hn::Min(hn::Mul(x, x), largest);
    const auto exponent = hn::Mul(x, hn::MulAdd(cubic, square, linear));
    return hn::Div(x, hn::Add(one, exp2(d, exponent)));
  });
}

void gelu_erf(const ActivationSpan<float>& span) {
  const hn::ScalableTag<float> d;
  const auto set = [&](double value) HWY_ATTR { return hn::Set(d, static_cast<float>(value)); };
  const auto one = set(1), root = set(0.7071067811865476), p = set(erf_tail.p);
  const auto minus_log2_e = set(silu_step.linear);
  for_each(d, span, [&](auto x) HWY_ATTR {
    const auto z = hn::Mul(hn::Abs(x), root);
    const auto t = hn::Div(one, hn::MulAdd(p, z, one));
    auto tail = set(erf_tail.coefficients[4]);
    for (int i = 3; i >= 0; --i) tail = hn::MulAdd(tail, t, set(erf_tail.coefficients[i]));
    const auto power = exp2(d, hn::Mul(minus_log2_e, hn::Mul(z, z)));
    const auto beyond = hn::Mul(hn::Mul(tail, t), power);
    return hn::Mul(x, hn::IfThenElse(x < hn::Zero(d), beyond, hn::Sub(one, beyond)));
  });
}

void of_floats(Activation activation, const ActivationSpan<float>& span) {
  switch (activation) {
    case Activation::gelu_tanh: return smooth_step(gelu_tanh_step, span);
    case Activation::silu: return smooth_step(silu_step, span);
    case Activation::gelu_erf: return gelu_erf(span);
    default: return relu_or_none(activation, span);
  }
}

/// All activations except gelu_erf.
void of_doubles(Activation activation, const ActivationSpan<double>& span) {
  switch (activation) {
    case Activation::gelu_tanh: return smooth_step(gelu_tanh_step, span);
    case Activation::silu: return smooth_step(silu_step, span);
    default: return relu_or_none(activation, span);
  }
}

}  // namespace rung::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rung::cpu {
namespace {

/// Calls run(activation, span) with counts that are multiples of 16, the maximum number of lanes.
/// Copies the last, incomplete group.
template <class T, class Run>
void run_in_blocks(const Run& run, Activation activation, const ActivationSpan<T>& span) {
  constexpr std::int64_t block = 16;
  const std::int64_t left = span.count % block;
  if (left == 0) return run(activation, span);
  ActivationSpan<T> part = span;
  part.count -= left;
  run(activation, part);
  T from[block] = {}, bias[block] = {}, to[block];
  std::copy_n(span.from + part.count, left, from);
  if (span.bias != nullptr) std::copy_n(span.bias + part.count, left, bias);
  run(activation, {from, bias, to, block, span.factor, span.result_factor});
  std::copy_n(to, left, span.to + part.count);
}

/// Uses std::erfc, because formula 7.1.26 of Abramowitz and Stegun is not accurate enough for
/// double.
void gelu_erf(const ActivationSpan<double>& span) {
  for (std::int64_t i = 0; i < span.count; ++i) {
    const double x = span.factor * span.from[i] + (span.bias == nullptr ? 0 : span.bias[i]);
    span.to[i] = span.result_factor * (x / 2 * std::erfc(-x * 0.7071067811865476));
  }
}

}  // namespace

void activate(Activation activation, const ActivationSpan<float>& span) {
  static const auto picked = RUNG_PICK_TARGET(of_floats);
  run_in_blocks(picked, activation, span);
}

void activate(Activation activation, const ActivationSpan<double>& span) {
  static const auto picked = RUNG_PICK_TARGET(of_doubles);
  if (activation == Activation::gelu_erf) return gelu_erf(span);
  run_in_blocks(picked, activation, span);
}

}  // namespace rung::cpu
#endif  // HWY_ONCE
