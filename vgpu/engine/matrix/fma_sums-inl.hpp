// Sums of products in f64, whose FMAs truncate each term as they add it. Included once per
// instruction set that has FMAs with a static rounding mode.
//
// A sum starts at 1.5 * 2^52 units, so an FMA that rounds down adds whole units of its product.
// That would round negative products away from zero, except those that are whole units. So A is
// scaled by 1 + 2^-30, too little to reach another unit: each negative product then loses exactly
// one unit too many. The number of negative products, i.e. of steps at which the signs of the row
// of A and the column of B differ, is added at the end. Zeros are replaced by a tiny positive
// number in both matrices, so that their signs agree.

#if defined(RUNG_VGPU_ENGINE_FMA_SUMS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef RUNG_VGPU_ENGINE_FMA_SUMS_INL_HPP
#else
#define RUNG_VGPU_ENGINE_FMA_SUMS_INL_HPP
#endif

#include <cstdint>
#include <cstring>

#include "vgpu/engine/matrix/product_groups-inl.hpp"

#undef RUNG_VGPU_FMA_SUMS
#define RUNG_VGPU_FMA_SUMS (HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86)
#if RUNG_VGPU_FMA_SUMS
HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {
namespace {

constexpr int block_columns = 8;  // summed together, to hide the latency of FMAs

/// True if sums are computed by FMAs: for groups of 16 steps. For 8 steps, starting and finishing a
/// sum costs more than the FMAs save.
constexpr bool has_fma_sums(const PackedMatrix& of) {
  if (of.by_halves) return of.k == 2 * steps_of_signs;
  return of.k == steps_of_signs && element_bits(of.type) == 16;
}

/// Elements in f64, multiplied by 1 + more. Zeros become a tiny positive number.
HWY_INLINE __m512d widened(__m256 x, double more) {
  return _mm512_fmadd_pd(_mm512_cvtps_pd(x), _mm512_set1_pd(1 + more), _mm512_set1_pd(0x1p-1000));
}

/// Computes the operands of A from its values. Rows are in the order of ColumnStart's halves.
void set_fma_rows(int k, ProductRows& to) {
  const __m512i order = _mm512_setr_epi32(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15);
  for (int first = 0; first < k; first += steps_of_signs) {
    __m512i signs = _mm512_setzero_si512();
    __m512i bit = _mm512_set1_epi32(1);
    for (int step = first; step < first + steps_of_signs; ++step) {
      const auto at = static_cast<std::size_t>(step);
      const __m512 values = _mm512_load_ps(to.values[at].data());
      const __m512 ordered = _mm512_permutexvar_ps(order, values);
      double* const wide = to.wide[at].data();
      _mm512_store_pd(wide, widened(_mm512_castps512_ps256(ordered), 0x1p-30));
      _mm512_store_pd(wide + 8, widened(_mm512_extractf32x8_ps(ordered, 1), 0x1p-30));
      const auto negative = _mm512_cmp_ps_mask(values, _mm512_setzero_ps(), _CMP_LT_OQ);
      signs = _mm512_mask_or_epi32(signs, negative, signs, bit);
      const int shift = step % steps_of_sign_byte == steps_of_sign_byte - 1 ? 5 : 1;
      bit = _mm512_slli_epi32(bit, static_cast<unsigned>(shift));
    }
    _mm512_store_si512(to.signs[static_cast<std::size_t>(first / steps_of_signs)].data(), signs);
  }
}

/// Computes the operands of B for `elements` consecutive elements.
void set_fma_columns(int elements, const ProductColumns& to) {
  for (int i = 0; i < elements; i += lanes) {
    const __m512 values = _mm512_load_ps(to.values + i);
    _mm512_store_pd(to.wide + i, widened(_mm512_castps512_ps256(values), 0));
    _mm512_store_pd(to.wide + i + 8, widened(_mm512_extractf32x8_ps(values, 1), 0));
    const unsigned negative = _mm512_cmp_ps_mask(values, _mm512_setzero_ps(), _CMP_LT_OQ);
    const std::uint32_t spread = _pdep_u32(negative, 0x0F0F0F0F);
    std::memcpy(to.signs + i / steps_of_sign_byte, &spread, sizeof spread);
  }
}

/// The state of a column's sums before its products are added.
struct ColumnStart {
  V c;
  VI scale_exponents;  // exponent of 1 / unit, biased
  __m512d low, high;   // 1.5 * 2^52 units; each has two rows of every four
  __mmask16 is_outside;
};

template <Result result>
HWY_INLINE ColumnStart start_column(const Group& group, int column, const float* sums) {
  ColumnStart start;
  start.c = hn::LoadU(d, sums);
  const VI product_exponents = largest_exponents<steps_of_signs>(group, column);
  const auto sum_exponents = hn::BitCast(de, exponents_of_sums<result>(group.rule, start.c));
  const VI larger_exponents =
      hn::BitCast(di, hn::Max(hn::BitCast(de, product_exponents), sum_exponents));
  const VI max_exponents = hn::ShiftRight<16 + exponent_shift>(larger_exponents);
  start.is_outside = _mm512_cmpgt_epu32_mask(hn::Sub(max_exponents, hn::Set(di, lowest)).raw,
                                             hn::Set(di, highest - lowest).raw);
  if (HWY_UNLIKELY(start.is_outside != 0)) {
    start.is_outside &= static_cast<__mmask16>(~are_zero(start.c, product_exponents).raw);
  }
  const VI most = hn::Max(max_exponents, hn::Set(di, lowest));
  start.scale_exponents = hn::Sub(hn::Set(di, 2 * 127 + group.rule.fraction), most);
  const int bias = 1023 + 52 - 127 - group.rule.fraction;
  const VI high_words = hn::Add(hn::ShiftLeft<20>(most), hn::Set(di, bias << 20 | 1 << 19));
  const __m512i zero = _mm512_setzero_si512();
  start.low = _mm512_castsi512_pd(_mm512_unpacklo_epi32(zero, high_words.raw));
  start.high = _mm512_castsi512_pd(_mm512_unpackhi_epi32(zero, high_words.raw));
  return start;
}

/// The number of steps, out of 16, at which signs differ. Signs are in the lower halves of four
/// bytes.
HWY_INLINE VI different_signs(VI of_rows, VI of_columns) {
  const __m512i different = _mm512_xor_si512(of_rows.raw, of_columns.raw);
  const __m512i ones_of_four_bits =
      _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
  const __m512i counts = _mm512_shuffle_epi8(ones_of_four_bits, different);
  const __m512i of_two = _mm512_maddubs_epi16(counts, _mm512_set1_epi8(1));
  return VI{_mm512_madd_epi16(of_two, _mm512_set1_epi16(1))};
}

/// The low 32 bits of the mantissas of both halves of a column's sums, in row order: the sums in
/// units.
HWY_INLINE VI units_of(__m512d low, __m512d high) {
  return VI{_mm512_castps_si512(
      _mm512_shuffle_ps(_mm512_castpd_ps(low), _mm512_castpd_ps(high), _MM_SHUFFLE(2, 0, 2, 0)))};
}

/// add_group_fast() for a block of columns. Returns false, with all sums unchanged, if one of them
/// cannot be computed like this.
template <Result result>
HWY_INLINE bool add_block(const Group& group, int column, float* sums) {
  ColumnStart starts[block_columns];
  __m512d low[block_columns], high[block_columns];
#pragma GCC unroll 8
  for (int j = 0; j < block_columns; ++j) {
    starts[j] = start_column<result>(group, column + j, sums + j * product_rows);
    low[j] = starts[j].low;
    high[j] = starts[j].high;
  }
  const double* const wide_b = group.wide_b + column * group.b_step;
#pragma GCC unroll 8
  for (int i = 0; i < steps_of_signs; ++i) {
    const __m512d a_low = _mm512_load_pd(group.wide_a + i * product_rows);
    const __m512d a_high = _mm512_load_pd(group.wide_a + i * product_rows + product_rows / 2);
#pragma GCC unroll 8
    for (int j = 0; j < block_columns; ++j) {
      constexpr int down = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
      const __m512d b = _mm512_set1_pd(wide_b[j * group.b_step + i]);
      low[j] = _mm512_fmadd_round_pd(a_low, b, low[j], down);
      high[j] = _mm512_fmadd_round_pd(a_high, b, high[j], down);
    }
  }
  const std::uint8_t* const signs_b = group.signs_b + column * group.b_step / steps_of_sign_byte;
  const VI of_rows{_mm512_load_si512(group.signs_a)};
  VI sum[block_columns];
  __mmask16 is_outside = 0;
  VI overflows = hn::Zero(di);
#pragma GCC unroll 8
  for (int j = 0; j < block_columns; ++j) {
    std::int32_t of_column;
    std::memcpy(&of_column, signs_b + j * group.b_step / steps_of_sign_byte, sizeof of_column);
    // The sum of the products is below 2^31 units: at most 16 products of less than 2^27.
    const VI products =
        hn::Add(units_of(low[j], high[j]), different_signs(of_rows, hn::Set(di, of_column)));
    const VI c = cut(hn::Mul(starts[j].c, power_of_two(starts[j].scale_exponents)));
    sum[j] = hn::Add(products, c);
    overflows = hn::Or(overflows, overflow(products, c, sum[j]));
    is_outside |= starts[j].is_outside;
  }
  if (HWY_UNLIKELY((is_outside | _mm512_movepi32_mask(overflows.raw)) != 0)) return false;
#pragma GCC unroll 8
  for (int j = 0; j < block_columns; ++j) {
    const VI unit_exponents = hn::Sub(hn::Set(di, 2 * 127), starts[j].scale_exponents);
    hn::StoreU(rounded<result>(group.rule, sum[j], power_of_two(unit_exponents)), d,
               sums + j * product_rows);
  }
  return true;
}

}  // namespace
}  // namespace rung::vgpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif
