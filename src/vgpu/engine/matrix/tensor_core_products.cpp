#include "vgpu/engine/matrix/tensor_core_products.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vgpu/engine/matrix/tensor_core_products.cpp"
#include "vgpu/engine/lanes/targets.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "vgpu/engine/matrix/product_operands-inl.hpp"
#include "vgpu/engine/numbers/float_bits.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Biased exponents between which no step leaves the range of f32.
constexpr std::int32_t lowest = 127 - 100, highest = 127 + 120;

/// Toward zero, for values that fit.
HWY_INLINE VI cut(V x) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  return VI{_mm512_cvttps_epi32(x.raw)};  // Highway's ConvertTo() also deals with overflow
#elif HWY_TARGET == HWY_AVX2
  return VI{_mm256_cvttps_epi32(x.raw)};
#else
  return hn::ConvertTo(di, x);
#endif
}

/// A group of steps of `lanes` rows and one column, each from its first step on.
struct Group {
  SumRule rule;
  int steps;
  const float* a;            // [step][product_rows]
  const std::int16_t* of_a;  // [step / 2][product_rows][step % 2]
  const float* b;
  const std::int16_t* of_b;
};

/// What a sum is rounded to.
enum class Result { f32, short_f32, f16 };

#if HWY_TARGET == HWY_SCALAR
template <int fixed_steps, Result result>
HWY_INLINE bool add_group_fast(const Group&, float*) {
  return false;
}
#else
using Exponents = hn::Repartition<std::int16_t, Lanes>;
constexpr Exponents de;

/// The largest exponent of each row's products, in the upper half of its lane.
template <int fixed_steps>
HWY_INLINE VI largest_exponents(const Group& group) {
  auto most = hn::Set(de, 2 * of_zero);
  const int steps = fixed_steps > 0 ? fixed_steps : group.steps;
#pragma GCC unroll 8
  for (int i = 0; i < steps; i += 2) {
    std::int32_t pair;
    std::memcpy(&pair, group.of_b + i, sizeof pair);
    const auto of_a = hn::Load(de, group.of_a + i * product_rows);
    most = hn::Max(most, hn::Add(of_a, hn::BitCast(de, hn::Set(di, pair))));
  }
  const auto even = hn::BitCast(de, hn::ShiftLeft<16>(hn::BitCast(di, most)));
  return hn::BitCast(di, hn::Max(most, even));
}

/// The exponents of sums, likewise. A sum below the range of normal f32 has one below `lowest`.
template <Result result>
HWY_INLINE VI exponents_of_sums(const SumRule& rule, V sums) {
  const VI exponents = hn::And(hn::BitCast(di, sums), hn::Set(di, 0x7F800000));
  const VI placed = hn::ShiftRight<23 - 16 - exponent_shift>(exponents);
  if constexpr (result != Result::f16) return placed;
  const VI least = hn::Set(di, (rule.min_exponent_c + 127) << (16 + exponent_shift));
  const auto is_zero = hn::RebindMask(di, hn::Eq(sums, hn::Zero(d)));
  return hn::IfThenZeroElse(is_zero, hn::Max(placed, least));
}

/// 2^(x - 127), of biased exponents of normal numbers.
HWY_INLINE V power_of_two(VI x) { return hn::BitCast(d, hn::ShiftLeft<23>(x)); }

/// The bits of the nearest float that is not larger.
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

/// Has the sign bit where x + y overflows.
HWY_INLINE VI overflow(VI x, VI y, VI sum) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  return VI{_mm512_ternarylogic_epi32(x.raw, y.raw, sum.raw, 0x42)};
#else
  return hn::And(hn::Xor(x, sum), hn::Xor(y, sum));
#endif
}

/// Whether all terms are zero.
HWY_INLINE hn::Mask<Integers> are_zero(V sums, VI of_products) {
  const auto no_products = hn::Lt(hn::ShiftRight<16>(of_products), hn::Set(di, of_no_product));
  return hn::And(no_products, hn::RebindMask(di, hn::Eq(sums, hn::Zero(d))));
}

/// sums += the products of a group. Returns false, with the sums as they were, where integers of
/// 32 bits do not do.
template <int fixed_steps, Result result>
HWY_INLINE bool add_group_fast(const Group& group, float* sums) {
  const SumRule rule = group.rule;
  const V c = hn::LoadU(d, sums);
  const VI of_products = largest_exponents<fixed_steps>(group);
  const auto of_sums = hn::BitCast(de, exponents_of_sums<result>(rule, c));
  const VI of_all = hn::BitCast(di, hn::Max(hn::BitCast(de, of_products), of_sums));
  const VI most_of_all = hn::ShiftRight<16 + exponent_shift>(of_all);
  const VI most = hn::Max(most_of_all, hn::Set(di, lowest));
  const VI of_scale = hn::Sub(hn::Set(di, 2 * 127 + rule.fraction), most);
  const V scale = power_of_two(of_scale);
  VI even = cut(hn::Mul(c, scale)), odd = hn::Zero(di);  // less than 2^31: at most 9 terms of 2^27
  const int steps = fixed_steps > 0 ? fixed_steps : group.steps;
#pragma GCC unroll 16
  for (int i = 0; i < steps; i += 2) {
    const float* const of_step = group.a + i * product_rows;
    const V a_even = hn::Load(d, of_step), a_odd = hn::Load(d, of_step + product_rows);
    even = hn::Add(even, cut(hn::Mul(hn::Mul(a_even, hn::Set(d, group.b[i])), scale)));
    odd = hn::Add(odd, cut(hn::Mul(hn::Mul(a_odd, hn::Set(d, group.b[i + 1])), scale)));
  }
  const VI sum = hn::Add(even, odd);
  const VI is_outside =
      hn::Or(hn::Sub(most_of_all, hn::Set(di, lowest)), hn::Sub(hn::Set(di, highest), most_of_all));
  const auto is_wrong = hn::Lt(hn::Or(is_outside, overflow(even, odd, sum)), hn::Zero(di));
  if (HWY_UNLIKELY(!hn::AllFalse(di, is_wrong)) &&
      !hn::AllFalse(di, hn::AndNot(are_zero(c, of_products), is_wrong))) {
    return false;
  }
  const VI of_unit = hn::Sub(hn::Set(di, 2 * 127), of_scale);
  hn::StoreU(rounded<result>(rule, sum, power_of_two(of_unit)), d, sums);
  return true;
}
#endif

/// The same as the rule is written.
HWY_NOINLINE void add_group_exactly(const Group& group, float* sums) {
  Columns<lanes> of_a;
  double b[most_steps];
  std::int32_t of_b[most_steps];
  for (int i = 0; i < group.steps; ++i) {
    const std::int16_t* const exponents = group.of_a + i / 2 * 2 * product_rows + i % 2;
    for (int lane = 0; lane < lanes; ++lane) {
      of_a.values[i][lane] = group.a[i * product_rows + lane];
      of_a.exponents[i][lane] = exponents[2 * lane] >> exponent_shift;
    }
    b[i] = group.b[i];
    of_b[i] = (group.of_b[i] >> exponent_shift) - 127;
  }
  float of_rows[lanes];
  std::copy_n(sums, lanes, of_rows);
  add_group(group.rule, 0, group.steps, b, of_b, of_a, of_rows);
  for (int lane = 0; lane < lanes; ++lane) sums[lane] = canonical(of_rows[lane]);
}

/// Columns that follow each other after b_step elements of B, until one is not to be added like
/// this: returns how many were. Calls nothing, so that constants stay in registers.
template <int fixed_steps, Result result>
HWY_NOINLINE int add_columns_fast(Group group, int b_step, int columns, float* sums) {
  for (int column = 0; column < columns; ++column) {
    if (!add_group_fast<fixed_steps, result>(group, sums)) return column;
    group.b += b_step;
    group.of_b += b_step;
    sums += product_rows;
  }
  return columns;
}

template <Result result>
auto fast_adder(int steps) {
  return steps == 16  ? add_columns_fast<16, result>
         : steps == 8 ? add_columns_fast<8, result>
                      : add_columns_fast<0, result>;
}

void add_columns(Group group, int b_step, int columns, float* sums) {
  const auto add_fast = group.rule.is_half     ? fast_adder<Result::f16>(group.steps)
                        : group.rule.kept < 23 ? fast_adder<Result::short_f32>(group.steps)
                                               : fast_adder<Result::f32>(group.steps);
  while (columns > 0) {
    const int added = add_fast(group, b_step, columns, sums);
    columns -= added;
    sums += added * product_rows;
    group.b += added * b_step;
    group.of_b += added * b_step;
    if (columns == 0) return;
    add_group_exactly(group, sums);
    --columns;
    sums += product_rows;
    group.b += b_step;
    group.of_b += b_step;
  }
}

/// The steps from `first` on.
Group group_at(const SumRule& rule, const ProductRows& a, int row, const ColumnRange& b, int k,
               int first, int steps) {
  const auto at = static_cast<std::size_t>(first);
  const int from = b.first * k + first;
  return {rule,
          steps,
          a.values[at].data() + row,
          a.exponents[at / 2].data() + 2 * row,
          b.of.values + from,
          b.of.exponents + from};
}

/// C is added last, in f32 to nearest, to the products of both halves of the steps.
void add_by_halves(const SumRule& rule, int k, const ProductRows& a, int row, const ColumnRange& b,
                   ProductSums* sums) {
  SumRule of_products = rule;
  of_products.is_half = false;
  of_products.min_exponent_c = -126;
  std::array<ProductSums, most_product_columns> products;
  std::fill_n(products.begin(), b.count, ProductSums{});
  for (const int first : {0, k / 2}) {
    add_columns(group_at(of_products, a, row, b, k, first, k / 2), k, b.count,
                products[0].data() + row);
  }
  for (int column = 0; column < b.count; ++column) {
    const float* const from = products[static_cast<std::size_t>(column)].data() + row;
    float* const to = sums[column].data() + row;
    for (int lane = 0; lane < lanes; ++lane) to[lane] = canonical(to[lane] + from[lane]);
  }
}

void add_floats(const SumRule& rule, int k, const ProductRows& a, const ColumnRange& b,
                ProductSums* sums) {
  for (int row = 0; row < product_rows; row += lanes) {
    if (rule.by_halves) {
      add_by_halves(rule, k, a, row, b, sums);
      continue;
    }
    for (int first = 0; first < k; first += rule.group) {
      const int steps = std::min(rule.group, k - first);
      add_columns(group_at(rule, a, row, b, k, first, steps), k, b.count, sums[0].data() + row);
    }
  }
}

void add_integers(int k, const ProductRows& a, const ColumnRange& b, ProductSums* sums) {
  for (int column = 0; column < b.count; ++column) {
    const float* const factors = b.of.values + (b.first + column) * k;
    for (int row = 0; row < product_rows; row += lanes) {
      float* const to = sums[column].data() + row;
      V sum = hn::LoadU(d, to);
      for (int step = 0; step < k; ++step) {
        const V of_rows = hn::Load(d, a.values[static_cast<std::size_t>(step)].data() + row);
        sum = hn::MulAdd(of_rows, hn::Set(d, factors[step]), sum);
      }
      hn::StoreU(sum, d, to);
    }
  }
}

constexpr TensorProducts functions = {set_rows, set_columns, add_floats, add_integers};

const TensorProducts* all_functions() { return &functions; }

}  // namespace
}  // namespace rung::vgpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rung::vgpu {

const TensorProducts& tensor_products() {
  static const TensorProducts& picked = *RUNG_PICK_LANES(all_functions)();
  return picked;
}

}  // namespace rung::vgpu
#endif
