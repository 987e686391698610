#include "vgpu/engine/matrix/tensor_core_products.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vgpu/engine/matrix/tensor_core_products.cpp"
#include "vgpu/engine/lanes/targets.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "vgpu/engine/matrix/fma_sums-inl.hpp"
#include "vgpu/engine/matrix/fragment_sums-inl.hpp"
#include "vgpu/engine/matrix/fragment_sums_avx2-inl.hpp"
#include "vgpu/engine/matrix/product_groups-inl.hpp"
#include "vgpu/engine/numbers/float_bits.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_SCALAR
template <int fixed_steps, Result result>
HWY_INLINE bool add_group_fast(const Group&, int, float*) {
  return false;
}
#else
/// sums += the products of a group, for one column. Returns false, with the sums unchanged, if
/// 32-bit integers do not suffice.
template <int fixed_steps, Result result>
HWY_INLINE bool add_group_fast(const Group& group, int column, float* sums) {
  const SumRule& rule = group.rule;
  const float* const b = group.b + column * group.b_step;
  const V c = hn::LoadU(d, sums);
  const VI product_exponents = largest_exponents<fixed_steps>(group, column);
  const auto sum_exponents = hn::BitCast(de, exponents_of_sums<result>(rule, c));
  const VI larger_exponents =
      hn::BitCast(di, hn::Max(hn::BitCast(de, product_exponents), sum_exponents));
  const VI max_exponents = hn::ShiftRight<16 + exponent_shift>(larger_exponents);
  const VI most = hn::Max(max_exponents, hn::Set(di, lowest));
  const VI scale_exponents = hn::Sub(hn::Set(di, 2 * 127 + rule.fraction), most);
  const V scale = power_of_two(scale_exponents);
  VI even = cut(hn::Mul(c, scale)), odd = hn::Zero(di);  // below 2^31: at most 9 terms of 2^27
  const int steps = fixed_steps > 0 ? fixed_steps : group.steps;
#pragma GCC unroll 16
  for (int i = 0; i < steps; i += 2) {
    const float* const of_step = group.a + i * product_rows;
    const V a_even = hn::Load(d, of_step), a_odd = hn::Load(d, of_step + product_rows);
    even = hn::Add(even, cut(hn::Mul(hn::Mul(a_even, hn::Set(d, b[i])), scale)));
    odd = hn::Add(odd, cut(hn::Mul(hn::Mul(a_odd, hn::Set(d, b[i + 1])), scale)));
  }
  const VI sum = hn::Add(even, odd);
  const VI is_outside = hn::Or(hn::Sub(max_exponents, hn::Set(di, lowest)),
                               hn::Sub(hn::Set(di, highest), max_exponents));
  const auto is_wrong = hn::Lt(hn::Or(is_outside, overflow(even, odd, sum)), hn::Zero(di));
  if (HWY_UNLIKELY(!hn::AllFalse(di, is_wrong)) &&
      !hn::AllFalse(di, hn::AndNot(are_zero(c, product_exponents), is_wrong))) {
    return false;
  }
  const VI unit_exponents = hn::Sub(hn::Set(di, 2 * 127), scale_exponents);
  hn::StoreU(rounded<result>(rule, sum, power_of_two(unit_exponents)), d, sums);
  return true;
}
#endif

/// Computes the sums of add_group_fast() exactly as the rule defines them, for all inputs.
HWY_NOINLINE void add_group_exactly(const Group& group, int column, float* sums) {
  Columns<lanes> of_a;
  double b[max_steps];
  std::int32_t of_b[max_steps];
  for (int i = 0; i < group.steps; ++i) {
    const std::int16_t* const exponents = group.of_a + i / 2 * 2 * product_rows + i % 2;
    for (int lane = 0; lane < lanes; ++lane) {
      of_a.values[i][lane] = group.a[i * product_rows + lane];
      of_a.exponents[i][lane] = exponents[2 * lane] >> exponent_shift;
    }
    const int at = column * group.b_step + i;
    b[i] = group.b[at];
    of_b[i] = (group.of_b[at] >> exponent_shift) - 127;
  }
  float of_rows[lanes];
  std::copy_n(sums, lanes, of_rows);
  add_group(group.rule, 0, group.steps, b, of_b, of_a, of_rows);
  for (int lane = 0; lane < lanes; ++lane) sums[lane] = canonical(of_rows[lane]);
}

/// Adds columns from `column` on with add_group_fast(). Returns the first column for which that
/// fails, or the end. Calls no function, so that constants stay in registers.
template <int fixed_steps, Result result>
HWY_NOINLINE int add_columns_fast(const Group& group, int column, int columns, float* sums) {
#if RUNG_VGPU_FMA_SUMS
  if constexpr (fixed_steps == steps_of_signs && result != Result::short_f32) {
    for (; column + block_columns <= columns; column += block_columns) {
      if (!add_block<result>(group, column, sums + column * product_rows)) break;
    }
  }
#endif
  for (; column < columns; ++column) {
    if (!add_group_fast<fixed_steps, result>(group, column, sums + column * product_rows)) break;
  }
  return column;
}

template <Result result>
auto fast_adder(int steps) {
  return steps == 16  ? add_columns_fast<16, result>
         : steps == 8 ? add_columns_fast<8, result>
                      : add_columns_fast<0, result>;
}

void add_columns(const Group& group, int columns, float* sums) {
  const auto add_fast = group.rule.is_half     ? fast_adder<Result::f16>(group.steps)
                        : group.rule.kept < 23 ? fast_adder<Result::short_f32>(group.steps)
                                               : fast_adder<Result::f32>(group.steps);
  for (int column = 0; column < columns; ++column) {
    column = add_fast(group, column, columns, sums);
    if (column < columns) add_group_exactly(group, column, sums + column * product_rows);
  }
}

/// The group of `steps` steps starting at `first`.
Group group_at(const SumRule& rule, const ProductRows& a, int row, const ColumnRange& b, int k,
               int first, int steps) {
  const auto at = static_cast<std::size_t>(first);
  const int from = b.first * k + first;
  return {rule,
          steps,
          k,
          a.values[at].data() + row,
          a.exponents[at / 2].data() + 2 * row,
          b.of.values + from,
          b.of.exponents + from,
          a.wide[at].data() + row,
          b.of.wide + from,
          a.signs[at / steps_of_signs].data() + row,
          b.of.signs + from / steps_of_sign_byte};
}

/// Adds the products of both halves of the steps; C is added last, in f32, rounded to nearest.
void add_by_halves(const SumRule& rule, int k, const ProductRows& a, int row, const ColumnRange& b,
                   ProductSums* sums) {
  SumRule product_rule = rule;
  product_rule.is_half = false;
  product_rule.min_exponent_c = -126;
  std::array<ProductSums, max_product_columns> products;
  std::fill_n(products.begin(), b.count, ProductSums{});
  for (const int first : {0, k / 2}) {
    add_columns(group_at(product_rule, a, row, b, k, first, k / 2), b.count,
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
      add_columns(group_at(rule, a, row, b, k, first, steps), b.count, sums[0].data() + row);
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

void set_row_operands(const PackedMatrix& from, ProductRows& to) {
  set_rows(from, to);
#if RUNG_VGPU_FMA_SUMS
  if (has_fma_sums(from)) set_fma_rows(from.k, to);
#endif
}

void set_column_operands(const PackedMatrix& from, int columns, const ProductColumns& to) {
  set_columns(from, columns, to);
#if RUNG_VGPU_FMA_SUMS
  if (has_fma_sums(from)) set_fma_columns(columns * from.k, to);
#endif
}

#if !RUNG_VGPU_FMA_SUMS && !RUNG_VGPU_AVX2_FRAGMENTS
constexpr decltype(TensorProducts::set_fragment_rows) set_fragment_rows = nullptr;
constexpr decltype(TensorProducts::set_fragment_columns) set_fragment_columns = nullptr;
constexpr decltype(TensorProducts::add_fragments) add_fragments = nullptr;
#endif

constexpr TensorProducts functions = {set_row_operands, set_column_operands, add_floats,
                                      add_integers,     set_fragment_rows,   set_fragment_columns,
                                      add_fragments};

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
