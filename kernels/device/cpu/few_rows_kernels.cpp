#include "device/cpu/few_rows_kernels.hpp"

#include "device/cpu/few_rows_avx2.hpp"
#include "device/cpu/machine.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace rung::cpu {

#if defined(__x86_64__)
namespace {

#define RUNG_AVX512 "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma"

constexpr std::int64_t groups = 4;  // k-groups per pass over the columns

/// A mask of the lowest `count` bits, up to 64.
std::uint64_t first_bits(std::int64_t count) {
  return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

/// Two consecutive k-elements of bfloat16, padded with zeros beyond `depth`.
std::uint32_t group_of(const FewRows<bfloat16, float>& p, std::int64_t row, std::int64_t k) {
  const bfloat16* const at = p.a + row * p.a_row + k * p.a_k;
  std::uint32_t group = k < p.depth ? at[0].bits : 0;
  if (k + 1 < p.depth) group |= std::uint32_t{at[p.a_k].bits} << 16;
  return group;
}

/// Four consecutive k-elements of int8, padded with zeros; adds them to `sum`.
std::uint32_t group_of(const FewRows<std::int8_t, std::uint32_t>& p, std::int64_t row,
                       std::int64_t k, std::uint32_t& sum) {
  std::uint32_t group = 0;
  for (std::int64_t e = 0; e < 4 && k + e < p.depth; ++e) {
    const std::int8_t value = p.a[row * p.a_row + (k + e) * p.a_k];
    group |= std::uint32_t{static_cast<std::uint8_t>(value)} << 8 * e;
    sum += static_cast<std::uint32_t>(value);
  }
  return group;
}

[[gnu::target(RUNG_AVX512), gnu::always_inline]] inline void store(
    const FewRows<bfloat16, float>& p, float* c, __mmask16 mask, __m512 sum) {
  sum = _mm512_mul_ps(sum, _mm512_set1_ps(p.alpha));
  if (p.beta != 0) {
    sum = _mm512_fmadd_ps(_mm512_set1_ps(p.beta), _mm512_maskz_loadu_ps(mask, c), sum);
  }
  _mm512_mask_storeu_ps(c, mask, sum);
}

[[gnu::target(RUNG_AVX512), gnu::always_inline]] inline void store(
    const FewRows<std::int8_t, std::uint32_t>& p, std::uint32_t* c, __mmask16 mask, __m512i sum) {
  if (p.alpha != 1) sum = _mm512_mullo_epi32(sum, _mm512_set1_epi32(static_cast<int>(p.alpha)));
  if (p.beta != 0) {
    const __m512i before = _mm512_maskz_loadu_epi32(mask, c);
    sum = _mm512_add_epi32(sum,
                           _mm512_mullo_epi32(before, _mm512_set1_epi32(static_cast<int>(p.beta))));
  }
  _mm512_mask_storeu_epi32(c, mask, sum);
}

/// Processes 32 columns at a time. Unpacking interleaves two rows within each 128 bits: four
/// columns in one vector, the next four in the other.
template <int Rows>
[[gnu::target(RUNG_AVX512 ",avx512bf16")]] void bf16_rows(const FewRows<bfloat16, float>& p) {
  std::uint32_t a[Rows][groups];
  for (int i = 0; i < Rows; ++i) {
    for (std::int64_t g = 0; g < groups; ++g) a[i][g] = group_of(p, i, 2 * g);
  }
  const __m512i lower_columns = _mm512_set_epi64(11, 10, 3, 2, 9, 8, 1, 0);
  const __m512i upper_columns = _mm512_set_epi64(15, 14, 7, 6, 13, 12, 5, 4);
  const std::int64_t used = (p.depth + 1) / 2;
  for (std::int64_t j = 0; j < p.n; j += 32) {
    const std::uint64_t columns = first_bits(p.n - j < 32 ? p.n - j : 32);
    const auto mask = static_cast<__mmask32>(columns);
    __m512 lower[Rows], upper[Rows];
    for (int i = 0; i < Rows; ++i) lower[i] = upper[i] = _mm512_setzero_ps();
    for (std::int64_t g = 0; g < used; ++g) {
      const bfloat16* const row = p.b + 2 * g * p.b_row + j;
      const __mmask32 second = 2 * g + 1 < p.depth ? mask : 0;  // avoids 0 times NaN
      const __m512i r0 = _mm512_maskz_loadu_epi16(mask, row);
      const __m512i r1 = _mm512_maskz_loadu_epi16(second, row + p.b_row);
      const auto low = (__m512bh)_mm512_unpacklo_epi16(r0, r1);
      const auto high = (__m512bh)_mm512_unpackhi_epi16(r0, r1);
#pragma GCC unroll 4
      for (int i = 0; i < Rows; ++i) {
        const auto a_ig = (__m512bh)_mm512_set1_epi32(static_cast<int>(a[i][g]));
        lower[i] = _mm512_dpbf16_ps(lower[i], low, a_ig);
        upper[i] = _mm512_dpbf16_ps(upper[i], high, a_ig);
      }
    }
#pragma GCC unroll 4
    for (int i = 0; i < Rows; ++i) {
      const __m512i low = _mm512_castps_si512(lower[i]), high = _mm512_castps_si512(upper[i]);
      float* const c = p.c + i * p.ldc + j;
      store(p, c, static_cast<__mmask16>(columns),
            _mm512_castsi512_ps(_mm512_permutex2var_epi64(low, lower_columns, high)));
      const auto rest = static_cast<__mmask16>(columns >> 16);
      if (rest == 0) continue;
      store(p, c + 16, rest,
            _mm512_castsi512_ps(_mm512_permutex2var_epi64(low, upper_columns, high)));
    }
  }
}

/// Processes 64 columns at a time, with B offset to unsigned: sum(a b) = sum(a (b + 128)) - 128
/// sum(a).
template <int Rows>
[[gnu::target(RUNG_AVX512 ",avx512vnni")]] void i8_rows(
    const FewRows<std::int8_t, std::uint32_t>& p) {
  std::uint32_t a[Rows][groups], start[Rows];
  for (int i = 0; i < Rows; ++i) {
    std::uint32_t sum = 0;
    for (std::int64_t g = 0; g < groups; ++g) a[i][g] = group_of(p, i, 4 * g, sum);
    start[i] = 0u - 128 * sum;
  }
  constexpr __mmask16 all = 0xffff;  // GCC 12 warns about the form without a mask
  const __m512i offset = _mm512_set1_epi8(static_cast<char>(0x80));
  const std::int64_t used = (p.depth + 3) / 4;
  for (std::int64_t j = 0; j < p.n; j += 64) {
    const std::uint64_t mask = first_bits(p.n - j);
    __m512i sum[Rows][4];
#pragma GCC unroll 4
    for (int i = 0; i < Rows; ++i) {
      for (int q = 0; q < 4; ++q) sum[i][q] = _mm512_set1_epi32(static_cast<int>(start[i]));
    }
    for (std::int64_t g = 0; g < used; ++g) {
      __m512i row[4];
#pragma GCC unroll 4
      for (int e = 0; e < 4; ++e) {
        const std::int64_t k = 4 * g + e;
        row[e] = _mm512_xor_si512(
            offset, _mm512_maskz_loadu_epi8(k < p.depth ? mask : 0, p.b + k * p.b_row + j));
      }
      const __m512i low01 = _mm512_unpacklo_epi8(row[0], row[1]);
      const __m512i high01 = _mm512_unpackhi_epi8(row[0], row[1]);
      const __m512i low23 = _mm512_unpacklo_epi8(row[2], row[3]);
      const __m512i high23 = _mm512_unpackhi_epi8(row[2], row[3]);
      const __m512i b[4] = {
          _mm512_unpacklo_epi16(low01, low23), _mm512_unpackhi_epi16(low01, low23),
          _mm512_unpacklo_epi16(high01, high23), _mm512_unpackhi_epi16(high01, high23)};
#pragma GCC unroll 4
      for (int i = 0; i < Rows; ++i) {
        const __m512i a_ig = _mm512_set1_epi32(static_cast<int>(a[i][g]));
#pragma GCC unroll 4
        for (int q = 0; q < 4; ++q) sum[i][q] = _mm512_dpbusd_epi32(sum[i][q], b[q], a_ig);
      }
    }
    // Each 128-bit block of the four vectors holds 16 columns.
#pragma GCC unroll 4
    for (int i = 0; i < Rows; ++i) {
      const __m512i lower01 = _mm512_maskz_shuffle_i32x4(all, sum[i][0], sum[i][1], 0x44);
      const __m512i upper01 = _mm512_maskz_shuffle_i32x4(all, sum[i][0], sum[i][1], 0xee);
      const __m512i lower23 = _mm512_maskz_shuffle_i32x4(all, sum[i][2], sum[i][3], 0x44);
      const __m512i upper23 = _mm512_maskz_shuffle_i32x4(all, sum[i][2], sum[i][3], 0xee);
      const __m512i columns[4] = {_mm512_maskz_shuffle_i32x4(all, lower01, lower23, 0x88),
                                  _mm512_maskz_shuffle_i32x4(all, lower01, lower23, 0xdd),
                                  _mm512_maskz_shuffle_i32x4(all, upper01, upper23, 0x88),
                                  _mm512_maskz_shuffle_i32x4(all, upper01, upper23, 0xdd)};
      std::uint32_t* const c = p.c + i * p.ldc + j;
#pragma GCC unroll 4
      for (int q = 0; q < 4; ++q) {
        const auto part = static_cast<__mmask16>(mask >> 16 * q);
        if (part != 0) store(p, c + 16 * q, part, columns[q]);
      }
    }
  }
}

constexpr FewRowsKernels<bfloat16, float> of_bf16 = {
    2 * groups, {bf16_rows<1>, bf16_rows<2>, bf16_rows<3>, bf16_rows<4>}};
constexpr FewRowsKernels<std::int8_t, std::uint32_t> of_i8 = {
    4 * groups, {i8_rows<1>, i8_rows<2>, i8_rows<3>, i8_rows<4>}};

#undef RUNG_AVX512

/// The AVX2 kernels, if AVX2 is this machine's widest extension.
template <class Step>
const FewRowsKernels<typename Step::In, typename Step::Acc>* avx2_kernels() {
  return machine().isa.ends_with_avx2() ? &few_rows_avx2::kernels<Step> : nullptr;
}

}  // namespace

template <>
const FewRowsKernels<bfloat16, float>* few_rows_kernels<bfloat16, float>() {
  if (machine().isa.contains(Isa::avx512_bf16)) return &of_bf16;
  return avx2_kernels<few_rows_avx2::Floats<bfloat16>>();
}

template <>
const FewRowsKernels<float16, float>* few_rows_kernels<float16, float>() {
  return avx2_kernels<few_rows_avx2::Floats<float16>>();
}

template <>
const FewRowsKernels<std::int8_t, std::uint32_t>* few_rows_kernels<std::int8_t, std::uint32_t>() {
  if (machine().isa.contains(Isa::avx512_vnni)) return &of_i8;
  return avx2_kernels<few_rows_avx2::Pairs>();
}

#else

template <>
const FewRowsKernels<bfloat16, float>* few_rows_kernels<bfloat16, float>() {
  return nullptr;
}

template <>
const FewRowsKernels<float16, float>* few_rows_kernels<float16, float>() {
  return nullptr;
}

template <>
const FewRowsKernels<std::int8_t, std::uint32_t>* few_rows_kernels<std::int8_t, std::uint32_t>() {
  return nullptr;
}

#endif

}  // namespace rung::cpu
