#pragma once
// Products of up to four rows of A on 256-bit vectors: B is converted to floats, or to pairs of
// int16, in registers.

#include "device/cpu/few_rows_kernels.hpp"

#if defined(__x86_64__)
#include <hwy/base.h>
#include <immintrin.h>

#include <algorithm>

HWY_PUSH_ATTRIBUTES("avx2,fma,f16c")
namespace rung::cpu::few_rows_avx2 {

constexpr std::int64_t columns = 16;

/// 16-bit elements, converted to floats.
template <class T>
struct Floats {
  using In = T;
  using Acc = float;
  static constexpr std::int64_t group = 1;  // rows of B per multiplication
  static constexpr std::int64_t depth = 8;

  static float group_of(const In* a, std::int64_t /*a_k*/, std::int64_t /*count*/) {
    return static_cast<float>(*a);
  }
  static HWY_INLINE __m256 widened(const bfloat16* at) {
    const __m128i elements = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(elements), 16));
  }
  static HWY_INLINE __m256 widened(const float16* at) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
  }
  static HWY_INLINE void load(const In* b, std::int64_t /*row*/, __m256 (&wide)[2]) {
    wide[0] = widened(b);
    wide[1] = widened(b + 8);
  }
  static HWY_INLINE __m256 add(__m256 sum, const float& a, __m256 b) {
    return _mm256_fmadd_ps(_mm256_broadcast_ss(&a), b, sum);
  }
  static HWY_INLINE __m256 zero() { return _mm256_setzero_ps(); }
  static HWY_INLINE void store(__m256 sum, float alpha, float beta, float* c) {
    sum = _mm256_mul_ps(sum, _mm256_set1_ps(alpha));
    if (beta != 0) sum = _mm256_fmadd_ps(_mm256_set1_ps(beta), _mm256_loadu_ps(c), sum);
    _mm256_storeu_ps(c, sum);
  }
};

/// int8 of two rows, interleaved as int16: vpmaddwd adds two products, which always fit in 32 bits.
struct Pairs {
  using In = std::int8_t;
  using Acc = std::uint32_t;
  static constexpr std::int64_t group = 2;
  static constexpr std::int64_t depth = 16;

  static std::uint32_t group_of(const In* a, std::int64_t a_k, std::int64_t count) {
    const std::uint32_t first = static_cast<std::uint16_t>(a[0]);
    return count == 1 ? first : first | std::uint32_t{static_cast<std::uint16_t>(a[a_k])} << 16;
  }
  static HWY_INLINE void load(const In* b, std::int64_t row, __m256i (&wide)[2]) {
    const __m128i r0 = _mm_loadu_si128(reinterpret_cast<const __m128i*>(b));
    const __m128i r1 = _mm_loadu_si128(reinterpret_cast<const __m128i*>(b + row));
    wide[0] = _mm256_cvtepi8_epi16(_mm_unpacklo_epi8(r0, r1));
    wide[1] = _mm256_cvtepi8_epi16(_mm_unpackhi_epi8(r0, r1));
  }
  static HWY_INLINE __m256i add(__m256i sum, std::uint32_t a, __m256i b) {
    return _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_set1_epi32(static_cast<int>(a)), b));
  }
  static HWY_INLINE __m256i zero() { return _mm256_setzero_si256(); }
  static HWY_INLINE void store(__m256i sum, Acc alpha, Acc beta, Acc* c) {
    auto* const at = reinterpret_cast<__m256i*>(c);
    if (alpha != 1) sum = _mm256_mullo_epi32(sum, _mm256_set1_epi32(static_cast<int>(alpha)));
    if (beta != 0) {
      const __m256i betas = _mm256_set1_epi32(static_cast<int>(beta));
      sum = _mm256_add_epi32(sum, _mm256_mullo_epi32(_mm256_loadu_si256(at), betas));
    }
    _mm256_storeu_si256(at, sum);
  }
};

/// C (Rows x 16) for `depth` rows of B.
template <class Step, int Rows, class Acc = typename Step::Acc>
HWY_INLINE void multiply_columns(const Acc (&a)[Step::depth / Step::group][Rows],
                                 std::int64_t depth, const typename Step::In* b, std::int64_t b_row,
                                 Acc alpha, Acc beta, Acc* c, std::int64_t ldc) {
  decltype(Step::zero()) sum[Rows][2], wide[2];
#pragma GCC unroll 4
  for (int i = 0; i < Rows; ++i) sum[i][0] = sum[i][1] = Step::zero();
  for (std::int64_t k = 0; k < depth; k += Step::group, b += Step::group * b_row) {
    // An odd last row is paired with itself, times 0.
    Step::load(b, k + Step::group <= depth ? b_row : 0, wide);
#pragma GCC unroll 4
    for (int i = 0; i < Rows; ++i) {
      sum[i][0] = Step::add(sum[i][0], a[k / Step::group][i], wide[0]);
      sum[i][1] = Step::add(sum[i][1], a[k / Step::group][i], wide[1]);
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < Rows; ++i) {
    Step::store(sum[i][0], alpha, beta, c + i * ldc);
    Step::store(sum[i][1], alpha, beta, c + i * ldc + 8);
  }
}

template <class Step, int Rows>
void multiply(const FewRows<typename Step::In, typename Step::Acc>& p) {
  using In = typename Step::In;
  using Acc = typename Step::Acc;
  Acc a[Step::depth / Step::group][Rows] = {};
  for (std::int64_t k = 0; k < p.depth; k += Step::group) {
    for (int i = 0; i < Rows; ++i) {
      a[k / Step::group][i] =
          Step::group_of(p.a + i * p.a_row + k * p.a_k, p.a_k, std::min(Step::group, p.depth - k));
    }
  }
  const Acc alpha = p.alpha, beta = p.beta;  // read once: stores to C may alias them
  const std::int64_t depth = p.depth, n = p.n;
  std::int64_t j = 0;
  for (; j + columns <= n; j += columns) {
    multiply_columns<Step, Rows>(a, depth, p.b + j, p.b_row, alpha, beta, p.c + j, p.ldc);
  }
  if (j == n) return;
  // Handle the last columns in copies padded to whole vectors.
  In b[Step::depth * columns] = {};
  Acc c[Rows * columns] = {};
  for (std::int64_t k = 0; k < depth; ++k) {
    std::copy_n(p.b + k * p.b_row + j, n - j, b + k * columns);
  }
  for (int i = 0; i < Rows && beta != Acc{}; ++i) {
    std::copy_n(p.c + i * p.ldc + j, n - j, c + i * columns);
  }
  multiply_columns<Step, Rows>(a, depth, b, columns, alpha, beta, c, columns);
  for (int i = 0; i < Rows; ++i) std::copy_n(c + i * columns, n - j, p.c + i * p.ldc + j);
}

template <class Step>
inline constexpr FewRowsKernels<typename Step::In, typename Step::Acc> kernels = {
    Step::depth, {multiply<Step, 1>, multiply<Step, 2>, multiply<Step, 3>, multiply<Step, 4>}};

}  // namespace rung::cpu::few_rows_avx2
HWY_POP_ATTRIBUTES

#endif
