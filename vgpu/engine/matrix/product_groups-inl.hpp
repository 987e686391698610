// Common parts of the sums of a group of products: exponents, truncation and rounding. Included
// once per instruction set.

#if defined(RUNG_VGPU_ENGINE_PRODUCT_GROUPS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef RUNG_VGPU_ENGINE_PRODUCT_GROUPS_INL_HPP
#else
#define RUNG_VGPU_ENGINE_PRODUCT_GROUPS_INL_HPP
#endif

#include <cstdint>
#include <cstring>

#include "vgpu/engine/matrix/product_operands-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {
namespace {

// Range of biased exponents for which all intermediate results stay in the range of f32.
constexpr std::int32_t lowest = 127 - 100, highest = 127 + 120;

/// Converts toward zero. The values must fit.
HWY_INLINE VI cut(V x) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  return VI{_mm512_cvttps_epi32(x.raw)};  // Highway's ConvertTo() also handles overflow
#elif HWY_TARGET == HWY_AVX2
  return VI{_mm256_cvttps_epi32(x.raw)};
#else
  return hn::ConvertTo(di, x);
#endif
}

/// A group of steps, for `lanes` rows and some columns; the pointers are at its first step. Columns
/// are `b_step` elements of B apart.
struct Group {
  const SumRule& rule;
  int steps, b_step;
  const float* a;            // [step][product_rows]
  const std::int16_t* of_a;  // [step / 2][product_rows][step % 2]
  const float* b;
  const std::int16_t* of_b;
  // For fma_sums-inl.hpp.
  const double *wide_a, *wide_b;
  const std::uint32_t* signs_a;
  const std::uint8_t* signs_b;
};

/// The format to which a sum is rounded.
enum class Result { f32, short_f32, f16 };

#if HWY_TARGET != HWY_SCALAR
using Exponents = hn::Repartition<std::int16_t, Lanes>;
constexpr Exponents de;

/// The largest exponent of each row's products with a column, in the upper half of its lane.
template <int fixed_steps>
HWY_INLINE VI largest_exponents(const Group& group, int column) {
  const std::int16_t* const of_b = group.of_b + column * group.b_step;
  auto most = hn::Set(de, 2 * zero_exponent);
  const int steps = fixed_steps > 0 ? fixed_steps : group.steps;
#pragma GCC unroll 8
  for (int i = 0; i < steps; i += 2) {
    std::int32_t pair;
    std::memcpy(&pair, of_b + i, sizeof pair);
    const auto of_a = hn::Load(de, group.of_a + i * product_rows);
    most = hn::Max(most, hn::Add(of_a, hn::BitCast(de, hn::Set(di, pair))));
  }
  const auto even = hn::BitCast(de, hn::ShiftLeft<16>(hn::BitCast(di, most)));
  return hn::BitCast(di, hn::Max(most, even));
}

/// The exponents of sums, in the upper halves of lanes. For sums below the range of normal f32, a
/// value below `lowest`.
template <Result result>
HWY_INLINE VI exponents_of_sums(const SumRule& rule, V sums) {
  const VI exponents = hn::And(hn::BitCast(di, sums), hn::Set(di, 0x7F800000));
  const VI placed = hn::ShiftRight<23 - 16 - exponent_shift>(exponents);
  if constexpr (result != Result::f16) return placed;
  const VI least = hn::Set(di, (rule.min_exponent_c + 127) << (16 + exponent_shift));
  const auto is_zero = hn::RebindMask(di, hn::Eq(sums, hn::Zero(d)));
  return hn::IfThenZeroElse(is_zero, hn::Max(placed, least));
}

/// 2^(x - 127), for biased exponents x of normal numbers.
HWY_INLINE V power_of_two(VI x) { return hn::BitCast(d, hn::ShiftLeft<23>(x)); }

/// The bits of x converted to f32 with truncation.
HWY_INLINE VI cut_to_float(VI x) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  constexpr int mode = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
  return hn::BitCast(di, V{_mm512_cvt_roundepi32_ps(x.raw, mode)});
#else
  const V nearest = hn::ConvertTo(d, x);
  const auto is_too_large = hn::Gt(hn::Abs(cut(nearest)), hn::Abs(x));
  return hn::Add(hn::BitCast(di, nearest), hn::VecFromMask(di, is_too_large));
#endif
}

/// rounded_sum() of `sum` units.
template <Result result>
HWY_INLINE V rounded(const SumRule& rule, VI sum, V unit) {
  VI bits = cut_to_float(sum);
  if constexpr (result == Result::f16) {
    const auto is_inexact = hn::Ne(cut(hn::BitCast(d, bits)), sum);
    bits = hn::Or(bits, hn::IfThenElseZero(is_inexact, hn::Set(di, 1)));
    const V value = hn::Mul(hn::BitCast(d, bits), unit);
    return hn::IfThenZeroElse(hn::Le(hn::Abs(value), hn::Set(d, 0x1p-25f)), value);
  }
  if constexpr (result == Result::short_f32) {
    bits = hn::And(bits, hn::Set(di, static_cast<std::int32_t>(~0u << (23 - rule.kept))));
  }
  return hn::Mul(hn::BitCast(d, bits), unit);
}

/// Sets the sign bit where x + y overflows.
HWY_INLINE VI overflow(VI x, VI y, VI sum) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  return VI{_mm512_ternarylogic_epi32(x.raw, y.raw, sum.raw, 0x42)};
#else
  return hn::And(hn::Xor(x, sum), hn::Xor(y, sum));
#endif
}

/// True where all terms are zero.
HWY_INLINE hn::Mask<Integers> are_zero(V sums, VI product_exponents) {
  const auto no_products =
      hn::Lt(hn::ShiftRight<16>(product_exponents), hn::Set(di, no_product_exponent));
  return hn::And(no_products, hn::RebindMask(di, hn::Eq(sums, hn::Zero(d))));
}

#endif

}  // namespace
}  // namespace rung::vgpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
