// The sums of fragment_sums-inl.hpp for AVX2. FMAs have no static rounding mode there, so the CPU's
// rounding mode is changed around them. Included once per instruction set.

#if defined(RUNG_VGPU_ENGINE_FRAGMENT_SUMS_AVX2_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef RUNG_VGPU_ENGINE_FRAGMENT_SUMS_AVX2_INL_HPP
#else
#define RUNG_VGPU_ENGINE_FRAGMENT_SUMS_AVX2_INL_HPP
#endif

#include <cstdint>

#include "vgpu/engine/matrix/fragment_operands_avx2-inl.hpp"

#if RUNG_VGPU_AVX2_FRAGMENTS
HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {
namespace {

constexpr int sum_vectors = 4 * vectors_of_register;

/// The data from which D is written once all sums are known: for each vector, the largest exponent
/// of its terms, in the f32 exponent position, and the sums in units.
struct FinishedSums {
  alignas(32) std::int32_t exponents[sum_vectors][8];
  alignas(32) std::int32_t units[sum_vectors][8];
};

/// Vector i of C or D, in the order of the bytes in a word of find_exponents(): two rows of two
/// blocks, even columns and odd columns.
template <class T>
HWY_INLINE T* sum_vector(T* const* registers, int i) {
  return registers[i / 8 * 2 + i % 2] + i / 4 % 2 * 8 + i / 2 % 2 * 16;
}

/// Computes the largest exponents of products, in bytes. Returns false if one is out of reach.
HWY_INLINE bool find_exponents(const FragmentRows& a, const FragmentColumns& b, int largest,
                               __m256i (&most)[4]) {
  for (__m256i& bytes : most) bytes = _mm256_setzero_si256();
#pragma GCC unroll 16
  for (std::size_t step = 0; step < fragment_steps; ++step) {
    const __m256i of_b = in_both_rows(b.places[step].data());
    const std::uint8_t* const of_a = a.places[step][0].data();
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      most[i] = _mm256_max_epu8(most[i], _mm256_add_epi8(loaded(of_a + 32 * i), of_b));
    }
  }
  const __m256i least =
      _mm256_min_epu8(_mm256_min_epu8(most[0], most[1]), _mm256_min_epu8(most[2], most[3]));
  const __m256i enough = _mm256_max_epu8(least, _mm256_set1_epi8(reach + 1));
  if (_mm256_movemask_epi8(_mm256_cmpeq_epi8(least, enough)) != -1) return false;
  const __m256i base = _mm256_set1_epi8(static_cast<char>(largest - 2 * reach));
  for (__m256i& bytes : most) bytes = _mm256_add_epi8(bytes, base);
  return true;
}

/// Moves byte `at` of each word to the position of the f32 exponent.
HWY_INLINE __m256i exponent_in_place(__m256i bytes, int at) {
  const __m256i moved =
      at == 3 ? _mm256_srli_epi32(bytes, 1) : _mm256_slli_epi32(bytes, 23 - 8 * at);
  return _mm256_and_si256(moved, _mm256_set1_epi32(0x7F800000));
}

/// The number of steps, out of 16, at which signs differ. Signs are in the lower halves of four
/// bytes.
HWY_INLINE __m256i different_signs(__m256i of_rows, __m256i of_columns) {
  const __m256i ones_of_four_bits =
      _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,  //
                       0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
  const __m256i counts =
      _mm256_shuffle_epi8(ones_of_four_bits, _mm256_xor_si256(of_rows, of_columns));
  const __m256i of_two = _mm256_maddubs_epi16(counts, _mm256_set1_epi8(1));
  return _mm256_madd_epi16(of_two, _mm256_set1_epi16(1));
}

/// Adds the products of a block of A to sums in units, by FMAs that round down. sums: [row
/// pair][odd column][half of the column pairs].
HWY_INLINE void add_products(const double* of_a, const double* of_b, __m256d (&sums)[8]) {
#pragma GCC unroll 2
  for (int pair = 0; pair < fragment_steps / 2; ++pair, of_a += 8 * row_blocks, of_b += 16) {
    const __m256d rows[2] = {_mm256_load_pd(of_a), _mm256_load_pd(of_a + 4)};
#pragma GCC unroll 2
    for (int odd_step = 0; odd_step < 2; ++odd_step) {
      __m256d of_rows[2];
      for (int i = 0; i < 2; ++i) {
        of_rows[i] = odd_step == 0 ? _mm256_movedup_pd(rows[i]) : _mm256_permute_pd(rows[i], 15);
      }
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) {
        const auto* const at = reinterpret_cast<const __m128d*>(of_b + 8 * odd_step + 2 * j);
        const __m256d columns = _mm256_broadcast_pd(at);
        sums[j] = _mm256_fmadd_pd(of_rows[0], columns, sums[j]);
        sums[4 + j] = _mm256_fmadd_pd(of_rows[1], columns, sums[4 + j]);
      }
    }
  }
}

/// The low 32 bits of the mantissas of both halves of a vector's sums: the sums in units.
HWY_INLINE __m256i units_of(__m256d low, __m256d high) {
  return _mm256_castps_si256(
      _mm256_shuffle_ps(_mm256_castpd_ps(low), _mm256_castpd_ps(high), _MM_SHUFFLE(2, 0, 2, 0)));
}

/// Maxima over all sums: exponents as powers of two, and sums of products in units.
struct Largest {
  __m256 powers;
  __m256i units;
};

/// Computes the sums of block 2 half + odd_block. `product_exponents`: the largest exponents of that
/// half's products. A sum starts at 1.5 * 2^52 units plus the units that its negative products will
/// lose.
template <int odd_block>
HWY_INLINE void add_block(const FragmentRows& a, const FragmentColumns& b, int half,
                          const __m256i* product_exponents, const float* const* c, FinishedSums& to,
                          Largest& largest) {
  const auto block = static_cast<std::size_t>(2 * half + odd_block);
  const __m256i in_place = _mm256_set1_epi32(0x7F800000);
  const auto vector_at = [&](int i) { return 8 * half + i / 2 * 4 + 2 * odd_block + i % 2; };
  __m256i exponents[4];  // [row pair][odd column]
  __m256d sums[8];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const __m256i of_c = _mm256_and_si256(loaded(sum_vector(c, vector_at(i))), in_place);
    const __m256i of_ab = exponent_in_place(product_exponents[i / 2], 2 * odd_block + i % 2);
    const __m256 most = _mm256_max_ps(_mm256_castsi256_ps(of_c), _mm256_castsi256_ps(of_ab));
    largest.powers = _mm256_max_ps(largest.powers, most);
    exponents[i] = _mm256_castps_si256(most);
    constexpr int bias = 1023 + 52 - 127 - fragment_fraction;
    const __m256i high_words = _mm256_add_epi32(_mm256_srli_epi32(exponents[i], 3),
                                                _mm256_set1_epi32(bias << 20 | 1 << 19));
    const __m256i lost = different_signs(loaded(a.signs[block].data() + i / 2 * 8),
                                         in_both_rows(b.signs[i % 2].data()));
    sums[2 * i] = _mm256_castsi256_pd(_mm256_unpacklo_epi32(lost, high_words));
    sums[2 * i + 1] = _mm256_castsi256_pd(_mm256_unpackhi_epi32(lost, high_words));
    stored(exponents[i], to.exponents[vector_at(i)]);
  }
  add_products(a.wide.data() + 8 * block, b.wide[0].data(), sums);
  const __m256i of_units =
      _mm256_set1_epi32(static_cast<std::int32_t>(unsigned{2 * 127 + fragment_fraction} << 23));
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const __m256i products = units_of(sums[2 * i], sums[2 * i + 1]);
    largest.units = _mm256_max_epu32(largest.units, _mm256_abs_epi32(products));
    const __m256 scale =
        _mm256_castsi256_ps(_mm256_sub_epi32(of_units, loaded(to.exponents[vector_at(i)])));
    const __m256 of_c = _mm256_mul_ps(_mm256_loadu_ps(sum_vector(c, vector_at(i))), scale);
    stored(_mm256_add_epi32(products, _mm256_cvttps_epi32(of_c)), to.units[vector_at(i)]);
  }
}

/// True if all exponents are in range and no sum overflows 32 bits after C is added: C is below
/// 2^26 units.
HWY_INLINE bool fit(const Largest& largest) {
  const __m256 limit = _mm256_castsi256_ps(_mm256_set1_epi32(highest << 23));
  const __m256i most = _mm256_set1_epi32(INT32_MAX - (1 << 26));
  const __m256i is_most = _mm256_cmpeq_epi32(_mm256_max_epu32(largest.units, most), most);
  return _mm256_movemask_ps(_mm256_cmp_ps(largest.powers, limit, _CMP_GT_OQ)) == 0 &&
         _mm256_movemask_epi8(is_most) == -1;
}

/// Writes D; the conversions truncate.
HWY_INLINE void store_sums(const FinishedSums& sums, float* const* d) {
#pragma GCC unroll 16
  for (int i = 0; i < sum_vectors; ++i) {
    const __m256i unit =
        _mm256_sub_epi32(loaded(sums.exponents[i]), _mm256_set1_epi32(fragment_fraction << 23));
    const __m256 sum = _mm256_cvtepi32_ps(loaded(sums.units[i]));
    _mm256_storeu_ps(sum_vector(d, i), _mm256_mul_ps(sum, _mm256_castsi256_ps(unit)));
  }
}

/// Sets the CPU's rounding mode. The barriers keep the compiler from moving arithmetic across the
/// change: the operands are loaded from memory after it, and the results are stored before the next
/// one, including `sums`, which the compiler could otherwise keep in registers.
HWY_INLINE void set_rounding(unsigned mxcsr, FinishedSums& sums) {
  __asm__ volatile("" ::"r"(&sums) : "memory");
  _mm_setcsr(mxcsr);
  __asm__ volatile("" ::"r"(&sums) : "memory");
}

/// Implements TensorProducts::add_fragments.
bool add_fragments(const FragmentRows& a, const FragmentColumns& b, const float* const* c,
                   float* const* d) {
  const int most = a.largest + b.largest - 127;
  if (a.largest == 0 || b.largest == 0 || most < least_product || most > max_product) {
    return false;
  }
  alignas(32) __m256i product_exponents[4];
  if (!find_exponents(a, b, most, product_exponents)) return false;
  FinishedSums sums;
  Largest largest = {_mm256_setzero_ps(), _mm256_setzero_si256()};
  const unsigned before = _mm_getcsr();
  const unsigned others = before & ~unsigned{_MM_ROUND_MASK};
  set_rounding(others | _MM_ROUND_DOWN, sums);
#pragma GCC unroll 1
  for (int half = 0; half < 2; ++half) {
    add_block<0>(a, b, half, product_exponents + 2 * half, c, sums, largest);
    add_block<1>(a, b, half, product_exponents + 2 * half, c, sums, largest);
  }
  set_rounding(others | _MM_ROUND_TOWARD_ZERO, sums);
  const bool all_fit = fit(largest);
  if (all_fit) store_sums(sums, d);
  set_rounding(before, sums);
  return all_fit;
}

}  // namespace
}  // namespace rung::vgpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif
