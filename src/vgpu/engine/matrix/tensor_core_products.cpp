#include "vgpu/engine/matrix/tensor_core_products.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vgpu/engine/matrix/tensor_core_products.cpp"
#include "vgpu/engine/lanes/targets.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "vgpu/engine/matrix/product_operands-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::int32_t no_product = -1000;            // an exponent below this is that of zero
constexpr std::int32_t lowest = -100, highest = 120;  // where no step leaves the range of f32

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

#if HWY_TARGET == HWY_SCALAR
template <int fixed_steps>
HWY_INLINE bool add_group_fast(const Group&, float*) {
  return false;
}
#else
/// The largest exponent of each row's products.
template <int fixed_steps>
HWY_INLINE VI largest_exponents(const Group& group) {
  const hn::Repartition<std::int16_t, Lanes> de;
  auto most = hn::Set(de, 2 * of_zero);
  const int steps = fixed_steps > 0 ? fixed_steps : group.steps;
#pragma GCC unroll 8
  for (int i = 0; i < steps; i += 2) {
    std::int32_t pair;
    std::memcpy(&pair, group.of_b + i, sizeof pair);
    const auto of_a = hn::Load(de, group.of_a + i * product_rows);
    most = hn::Max(most, hn::Add(of_a, hn::BitCast(de, hn::Set(di, pair))));
  }
  const VI pairs = hn::BitCast(di, most);
  return hn::Max(hn::ShiftRight<16>(pairs), hn::ShiftRight<16>(hn::ShiftLeft<16>(pairs)));
}

HWY_INLINE VI exponents_of_sums(const SumRule& rule, V sums) {
  const VI bits = hn::And(hn::BitCast(di, sums), hn::Set(di, 0x7FFFFFFF));
  const VI exponents = hn::Sub(hn::ShiftRight<23>(bits), hn::Set(di, 127));
  const VI bounded = hn::Max(exponents, hn::Set(di, rule.min_exponent_c));
  return hn::IfThenElse(hn::Eq(bits, hn::Zero(di)), hn::Set(di, of_zero), bounded);
}

/// 2^x, of exponents of normal numbers.
HWY_INLINE V power_of_two(VI x) {
  return hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(x, hn::Set(di, 127))));
}

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

/// rounded_sum() of `sum` units of 2^exponent.
HWY_INLINE V rounded(const SumRule& rule, VI sum, VI exponent) {
  VI bits = cut_to_float(sum);
  if (rule.is_half) {
    const auto is_inexact = hn::Ne(cut(hn::BitCast(d, bits)), sum);
    bits = hn::Or(bits, hn::IfThenElseZero(is_inexact, hn::Set(di, 1)));
    const V result = hn::Mul(hn::BitCast(d, bits), power_of_two(exponent));
    return hn::IfThenZeroElse(hn::Le(hn::Abs(result), hn::Set(d, 0x1p-25f)), result);
  }
  const auto kept = static_cast<std::int32_t>(~0u << (23 - rule.kept));
  bits = hn::And(bits, hn::Set(di, kept));
  return hn::Mul(hn::BitCast(d, bits), power_of_two(exponent));
}

/// sums += the products of a group. Returns false, with the sums as they were, where integers of
/// 32 bits do not do.
template <int fixed_steps>
HWY_INLINE bool add_group_fast(const Group& group, float* sums) {
  const SumRule rule = group.rule;
  const V c = hn::LoadU(d, sums);
  const VI most_of_all = hn::Max(largest_exponents<fixed_steps>(group), exponents_of_sums(rule, c));
  const auto is_low = hn::And(hn::Lt(most_of_all, hn::Set(di, lowest)),
                              hn::Gt(most_of_all, hn::Set(di, no_product)));
  const auto is_outside = hn::Or(hn::Gt(most_of_all, hn::Set(di, highest)), is_low);
  const VI most = hn::Max(most_of_all, hn::Set(di, lowest));
  const VI fraction = hn::Set(di, rule.fraction);
  const V scale = power_of_two(hn::Sub(fraction, most));
  VI even = cut(hn::Mul(c, scale)), odd = hn::Zero(di);
  const int steps = fixed_steps > 0 ? fixed_steps : group.steps;
#pragma GCC unroll 16
  for (int i = 0; i < steps; i += 2) {
    const float* const of_step = group.a + i * product_rows;
    const V a_even = hn::Load(d, of_step), a_odd = hn::Load(d, of_step + product_rows);
    even = hn::Add(even, cut(hn::Mul(hn::Mul(a_even, hn::Set(d, group.b[i])), scale)));
    odd = hn::Add(odd, cut(hn::Mul(hn::Mul(a_odd, hn::Set(d, group.b[i + 1])), scale)));
  }
  // 17 terms of less than 2^27 units may be too many.
  const V about = hn::Add(hn::ConvertTo(d, even), hn::ConvertTo(d, odd));
  const auto is_large = hn::Ge(hn::Abs(about), hn::Set(d, 0x1.F8p30f));
  if (!hn::AllFalse(di, hn::Or(is_outside, hn::RebindMask(di, is_large)))) return false;
  hn::StoreU(rounded(rule, hn::Add(even, odd), hn::Sub(most, fraction)), d, sums);
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
      of_a.exponents[i][lane] = exponents[2 * lane];
    }
    b[i] = group.b[i];
    of_b[i] = group.of_b[i];
  }
  float of_rows[lanes];
  std::copy_n(sums, lanes, of_rows);
  add_group(group.rule, 0, group.steps, b, of_b, of_a, of_rows);
  std::copy_n(of_rows, lanes, sums);
}

/// Columns that follow each other after b_step elements of B, until one is not to be added like
/// this: returns how many were. Calls nothing, so that constants stay in registers.
template <int fixed_steps>
HWY_NOINLINE int add_columns_fast(Group group, int b_step, int columns, float* sums) {
  for (int column = 0; column < columns; ++column) {
    if (!add_group_fast<fixed_steps>(group, sums)) return column;
    group.b += b_step;
    group.of_b += b_step;
    sums += product_rows;
  }
  return columns;
}

void add_columns(Group group, int b_step, int columns, float* sums) {
  const auto add_fast = group.steps == 16  ? add_columns_fast<16>
                        : group.steps == 8 ? add_columns_fast<8>
                                           : add_columns_fast<0>;
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
          b.of.values.data() + from,
          b.of.exponents.data() + from};
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
    for (int lane = 0; lane < lanes; ++lane) sums[column].data()[row + lane] += from[lane];
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
    const float* const factors = b.of.values.data() + (b.first + column) * k;
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
