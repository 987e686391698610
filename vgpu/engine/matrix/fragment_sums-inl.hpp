// Sums of products of 16-bit floats in the fragment layout: lanes of vectors are lanes of the warp,
// so no data are transposed. FMAs truncate terms as in fma_sums-inl.hpp. Included once per
// instruction set.
//
// A vector holds 16 words of a register of C: 4 rows x 4 columns, as words [row][column]. A tile of
// C has 4 blocks of 4 rows, each with one vector of even columns and one of odd columns. A sum in
// f64 takes two vectors: columns 0 and 2, 4 and 6, 1 and 3, 5 and 7, as [row][column].
//
// The largest exponent of a sum is computed in bytes, for four vectors of C at once. The byte of an
// element is its exponent minus (the largest exponent of its tile - `reach`), or 0 for elements
// below that and for zeros. If one of two factors has byte 0, the sum of their bytes is at most
// `reach`. Such sums are left to tensor_core_products.hpp.

#if defined(RUNG_VGPU_ENGINE_FRAGMENT_SUMS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef RUNG_VGPU_ENGINE_FRAGMENT_SUMS_INL_HPP
#else
#define RUNG_VGPU_ENGINE_FRAGMENT_SUMS_INL_HPP
#endif

#include <array>
#include <cstdint>

#include "vgpu/engine/matrix/fma_sums-inl.hpp"
#include "vgpu/engine/matrix/fragment_range-inl.hpp"
#include "vgpu/model/warp.hpp"

#if RUNG_VGPU_FMA_SUMS
HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {
namespace {

/// Exponents and signs of the 16-bit halves of a tile's words.
struct HalfExponents {
  __m512i exponents;  // 0 for a zero, otherwise at least 1
  __mmask32 negative, nonzero;
};

template <Element type>
HWY_INLINE HalfExponents half_exponents(__m512i words) {
  const __m512i magnitude = _mm512_set1_epi16(0x7FFF);
  HalfExponents result;
  result.nonzero = _mm512_test_epi16_mask(words, magnitude);
  result.negative = _mm512_movepi16_mask(words) & result.nonzero;
  const __m512i bits = _mm512_and_si512(words, magnitude);
  const __m512i placed = _mm512_srli_epi16(bits, mantissa_of<type>);
  result.exponents = _mm512_maskz_max_epu16(result.nonzero, placed, _mm512_set1_epi16(1));
  return result;
}

HWY_INLINE int largest_half(__m512i halves) {
  const __m256i of_256 =
      _mm256_max_epu16(_mm512_castsi512_si256(halves), _mm512_extracti64x4_epi64(halves, 1));
  const __m128i of_128 =
      _mm_max_epu16(_mm256_castsi256_si128(of_256), _mm256_extracti128_si256(of_256, 1));
  const __m128i complement = _mm_xor_si128(of_128, _mm_set1_epi16(-1));
  return 0xFFFF - (_mm_cvtsi128_si32(_mm_minpos_epu16(complement)) & 0xFFFF);
}

/// Distances from the largest exponent, as described above, one per half.
HWY_INLINE __m512i places_of(const HalfExponents& of, int largest) {
  const __m512i raised = _mm512_add_epi16(of.exponents, _mm512_set1_epi16(reach + 1));
  const auto least = static_cast<std::int16_t>(largest + 1);
  return _mm512_maskz_subs_epu16(of.nonzero, raised, _mm512_set1_epi16(least));
}

/// Converts 16 16-bit elements to f32.
template <Element type>
HWY_INLINE __m512 values_of(__m256i halves) {
  if constexpr (type == Element::f16) return _mm512_cvtph_ps(halves);
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
}

/// Replaces zeros by a tiny positive number.
HWY_INLINE __m512 without_zeros(__m512 x) {
  const auto is_zero = _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_EQ_OQ);
  return _mm512_mask_mov_ps(x, is_zero, _mm512_set1_ps(0x1p-126f));
}

HWY_INLINE __m512d low_wide(__m512 x) { return _mm512_cvtps_pd(_mm512_castps512_ps256(x)); }
HWY_INLINE __m512d high_wide(__m512 x) { return _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1)); }

/// Converts bytes that hold the signs of four steps in each half to bytes that hold four steps in
/// the lower half.
HWY_INLINE __m512i split_signs(__m512i twice) {
  const __m512i even = _mm512_and_si512(twice, _mm512_set1_epi32(0x000F000F));
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(twice, 4), _mm512_set1_epi32(0x0F000F00));
  return _mm512_or_si512(even, odd);
}

/// Implements TensorProducts::set_fragment_rows.
template <Element type>
void set_fragment_rows_of(const std::uint32_t* const* registers, FragmentRows& to) {
  HalfExponents of[4][2];
  __m512i most = _mm512_setzero_si512();
  const __m512i by_step = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  for (int i = 0; i < 4; ++i) {
    for (int half = 0; half < 2; ++half) {
      const __m512i words = _mm512_loadu_si512(registers[i] + 16 * half);
      of[i][half] = half_exponents<type>(words);
      most = _mm512_max_epu16(most, of[i][half].exponents);
      const __m512i ordered = _mm512_permutexvar_epi32(by_step, words);
      const __m512 low = without_zeros(values_of<type>(_mm512_castsi512_si256(ordered)));
      const __m512 high = without_zeros(values_of<type>(_mm512_extracti64x4_epi64(ordered, 1)));
      double* const wide = to.wide.data() + (i / 2 * 4 * row_blocks + i % 2 * 2 + half) * 8;
      _mm512_store_pd(wide, low_wide(low));
      _mm512_store_pd(wide + 8 * row_blocks, high_wide(low));
      _mm512_store_pd(wide + 16 * row_blocks, low_wide(high));
      _mm512_store_pd(wide + 24 * row_blocks, high_wide(high));
    }
  }
  const int encoded = largest_half(most);
  to.largest = checked_largest<type>(encoded);
  const __m512i of_step = _mm512_broadcast_i32x4(_mm_set1_epi32(0x01010000));
  for (int i = 0; i < 4; ++i) {
    const __m512i both = _mm512_or_si512(places_of(of[i][0], encoded),
                                         _mm512_slli_epi16(places_of(of[i][1], encoded), 8));
    for (int step = 0; step < 8; ++step) {
      const __m512i from = _mm512_add_epi8(of_step, _mm512_set1_epi8(static_cast<char>(2 * step)));
      auto& at =
          to.places[static_cast<std::size_t>(i / 2 * 8 + step)][static_cast<std::size_t>(i % 2)];
      _mm512_store_si512(at.data(), _mm512_shuffle_epi8(both, from));
    }
  }
  // The sign mask has one byte for each row.
  const __m512i of_row = _mm512_inserti64x4(
      _mm512_castsi256_si512(
          _mm256_set_m128i(_mm_set1_epi32(0x05050101), _mm_set1_epi32(0x04040000))),
      _mm256_set_m128i(_mm_set1_epi32(0x07070303), _mm_set1_epi32(0x06060202)), 1);
  for (int block = 0; block < row_blocks; ++block) {
    const auto first = of[block / 2][block % 2].negative,
               second = of[block / 2 + 2][block % 2].negative;
    const __m512i masks =
        _mm512_set1_epi64(static_cast<std::int64_t>(std::uint64_t{second} << 32 | first));
    _mm512_store_si512(to.signs[static_cast<std::size_t>(block)].data(),
                       split_signs(_mm512_shuffle_epi8(masks, of_row)));
  }
}

/// Implements TensorProducts::set_fragment_columns.
template <Element type>
void set_fragment_columns_of(const std::uint32_t* const* registers, FragmentColumns& to) {
  HalfExponents of[2][2];
  __m512i most = _mm512_setzero_si512();
  const __m512d more = _mm512_set1_pd(1 + 0x1p-30);  // see fma_sums-inl.hpp
  const __m512i in_order =
      _mm512_setr_epi32(0, 8, 16, 24, 4, 12, 20, 28, 1, 9, 17, 25, 5, 13, 21, 29);
  for (int i = 0; i < 2; ++i) {
    const __m512i words[2] = {_mm512_loadu_si512(registers[i]),
                              _mm512_loadu_si512(registers[i] + 16)};
    for (int half = 0; half < 2; ++half) {
      of[i][half] = half_exponents<type>(words[half]);
      most = _mm512_max_epu16(most, of[i][half].exponents);
    }
    for (int pair = 0; pair < 4; pair += 2) {  // two pairs of steps
      const __m512i places = _mm512_add_epi32(in_order, _mm512_set1_epi32(pair));
      const __m512i of_pairs = _mm512_permutex2var_epi32(words[0], places, words[1]);
      for (int odd = 0; odd < 2; ++odd) {
        const __m512i shifted = odd == 0 ? of_pairs : _mm512_srli_epi32(of_pairs, 16);
        const __m512 values = without_zeros(values_of<type>(_mm512_cvtepi32_epi16(shifted)));
        const auto step = static_cast<std::size_t>(8 * i + 2 * pair + odd);
        _mm512_store_pd(to.wide[step].data(), _mm512_mul_pd(low_wide(values), more));
        _mm512_store_pd(to.wide[step + 2].data(), _mm512_mul_pd(high_wide(values), more));
      }
    }
  }
  const int encoded = largest_half(most);
  to.largest = checked_largest<type>(encoded);
  const __m512i of_columns =
      _mm512_broadcast_i32x4(_mm_setr_epi8(0, 2, 0, 2, 4, 6, 4, 6, 8, 10, 8, 10, 12, 14, 12, 14));
  const __m512i column = _mm512_broadcast_i32x4(_mm_setr_epi16(0, 8, 16, 24, 32, 40, 48, 56));
  alignas(64) constexpr std::uint16_t four_steps[32] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1,
                                                        1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2,
                                                        2, 2, 3, 3, 3, 3, 3, 3, 3, 3};
  const __m512i of_four_steps = _mm512_add_epi16(column, _mm512_load_si512(four_steps));
  for (int i = 0; i < 2; ++i) {
    const __m512i low = places_of(of[i][0], encoded), high = places_of(of[i][1], encoded);
    for (int first = 0; first < 8; first += 4) {
      const __m512i from =
          _mm512_add_epi16(of_four_steps, _mm512_set1_epi16(static_cast<std::int16_t>(first)));
      const __m512i by_column = _mm512_permutex2var_epi16(low, from, high);
      _mm512_store_si512(to.places[static_cast<std::size_t>(8 * i + first)].data(),
                         _mm512_shuffle_epi8(by_column, of_columns));
    }
  }
  const auto masks = [&](int i) {
    return static_cast<std::int64_t>(std::uint64_t{of[i][1].negative} << 32 | of[i][0].negative);
  };
  const __m256i both = _mm256_broadcastsi128_si256(_mm_set_epi64x(masks(1), masks(0)));
  const __m256i of_column =
      _mm256_setr_epi8(0, 0, 8, 8, 2, 2, 10, 10, 4, 4, 12, 12, 6, 6, 14, 14,  //
                       1, 1, 9, 9, 3, 3, 11, 11, 5, 5, 13, 13, 7, 7, 15, 15);
  const __m512i twice = _mm512_castsi256_si512(_mm256_shuffle_epi8(both, of_column));
  _mm256_store_si256(reinterpret_cast<__m256i*>(to.signs.data()),
                     _mm512_castsi512_si256(split_signs(twice)));
}

HWY_INLINE __m512i in_each_row(const void* words) {
  return _mm512_broadcast_i32x4(_mm_load_si128(static_cast<const __m128i*>(words)));
}

/// Moves byte `at` of each word to the position of the f32 exponent.
HWY_INLINE __m512i exponent_in_place(__m512i bytes, int at) {
  const __m512i moved = at == 3 ? _mm512_srli_epi32(bytes, 1)
                                : _mm512_slli_epi32(bytes, static_cast<unsigned>(23 - 8 * at));
  return _mm512_and_si512(moved, _mm512_set1_epi32(0x7F800000));
}

void set_fragment_rows(Element type, const std::uint32_t* const* registers, FragmentRows& to) {
  if (type == Element::bf16) return set_fragment_rows_of<Element::bf16>(registers, to);
  set_fragment_rows_of<Element::f16>(registers, to);
}

void set_fragment_columns(Element type, const std::uint32_t* const* registers,
                          FragmentColumns& to) {
  if (type == Element::bf16) return set_fragment_columns_of<Element::bf16>(registers, to);
  set_fragment_columns_of<Element::f16>(registers, to);
}

constexpr int sum_vectors = 2 * row_blocks;  // of f32: even and odd columns of each block

/// Vector i of a tile of C or D, which is in four registers. The two vectors of a block are halves
/// of two of them.
template <class T>
HWY_INLINE T* sum_vector(T* const* registers, int i) {
  return registers[i / 4 * 2 + i % 2] + i / 2 % 2 * 16;
}

/// For each vector of sums: the largest exponent of its terms, in the f32 exponent position, and
/// the sums in units, starting from 1.5 * 2^52. `low` holds the even pairs of columns, `high` the
/// odd ones.
struct RunningSums {
  __m512i exponents[sum_vectors];
  __m512d low[sum_vectors], high[sum_vectors];
};

/// Computes the largest exponents of products, in bytes. Returns false if one is out of reach.
HWY_INLINE bool find_exponents(const FragmentRows& a, const FragmentColumns& b, int largest,
                               __m512i (&most)[2]) {
  most[0] = most[1] = _mm512_setzero_si512();
#pragma GCC unroll 16
  for (std::size_t step = 0; step < fragment_steps; ++step) {
    const __m512i of_b = in_each_row(b.places[step].data());
    for (std::size_t half = 0; half < 2; ++half) {
      const __m512i of_a = _mm512_load_si512(a.places[step][half].data());
      most[half] = _mm512_max_epu8(most[half], _mm512_add_epi8(of_a, of_b));
    }
  }
  const __m512i least = _mm512_min_epu8(most[0], most[1]);
  if (_mm512_cmplt_epu8_mask(least, _mm512_set1_epi8(reach + 1)) != 0) return false;
  const __m512i base = _mm512_set1_epi8(static_cast<char>(largest - 2 * reach));
  for (__m512i& bytes : most) bytes = _mm512_add_epi8(bytes, base);
  return true;
}

/// Initializes the sums with the units that negative products will lose. Returns the largest
/// exponents, as powers of two.
HWY_INLINE __m512 start_sums(const FragmentRows& a, const FragmentColumns& b,
                             const __m512i (&product_exponents)[2], const float* const* c,
                             RunningSums& sums) {
  const __m512i in_place = _mm512_set1_epi32(0x7F800000);
  const __m512i of_columns[2] = {in_each_row(b.signs[0].data()), in_each_row(b.signs[1].data())};
  __m512 largest = _mm512_setzero_ps();
#pragma GCC unroll 8
  for (int i = 0; i < sum_vectors; ++i) {
    const __m512i of_c = _mm512_and_si512(_mm512_loadu_si512(sum_vector(c, i)), in_place);
    const __m512i of_ab = exponent_in_place(product_exponents[i / 4], i % 4);
    const __m512 most = _mm512_max_ps(_mm512_castsi512_ps(of_c), _mm512_castsi512_ps(of_ab));
    largest = _mm512_max_ps(largest, most);
    sums.exponents[i] = _mm512_castps_si512(most);
    constexpr int bias = 1023 + 52 - 127 - fragment_fraction;
    const __m512i high_words = _mm512_add_epi32(_mm512_srli_epi32(sums.exponents[i], 3),
                                                _mm512_set1_epi32(bias << 20 | 1 << 19));
    const VI of_rows{_mm512_load_si512(a.signs[static_cast<std::size_t>(i / 2)].data())};
    const __m512i lost = different_signs(of_rows, VI{of_columns[i % 2]}).raw;
    sums.low[i] = _mm512_castsi512_pd(_mm512_unpacklo_epi32(lost, high_words));
    sums.high[i] = _mm512_castsi512_pd(_mm512_unpackhi_epi32(lost, high_words));
  }
  return largest;
}

HWY_INLINE void add_products(const FragmentRows& a, const FragmentColumns& b, RunningSums& sums) {
  const double* of_a = a.wide.data();
  const double* of_b = b.wide[0].data();
  for (int pair = 0; pair < fragment_steps / 2; ++pair, of_a += 8 * row_blocks, of_b += 16) {
#pragma GCC unroll 2
    for (int odd_step = 0; odd_step < 2; ++odd_step) {
      __m512d columns[4];
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) {
        columns[j] = _mm512_broadcast_f64x2(_mm_load_pd(of_b + 8 * odd_step + 2 * j));
      }
#pragma GCC unroll 8
      for (int i = 0; i < sum_vectors; ++i) {
        constexpr int down = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
        const __m512d rows = _mm512_movedup_pd(_mm512_loadu_pd(of_a + 8 * (i / 2) + odd_step));
        const int first = i % 2 * 2;
        sums.low[i] = _mm512_fmadd_round_pd(rows, columns[first], sums.low[i], down);
        sums.high[i] = _mm512_fmadd_round_pd(rows, columns[first + 1], sums.high[i], down);
      }
    }
  }
}

/// Adds C and rounds. Returns false, with D unchanged, if 32-bit integers would overflow.
HWY_INLINE bool finish_sums(const RunningSums& sums, const float* const* c, float* const* d) {
  const __m512i of_units =
      _mm512_set1_epi32(static_cast<std::int32_t>(unsigned{2 * 127 + fragment_fraction} << 23));
  __m512i units[sum_vectors];
  VI overflows = hn::Zero(di);
#pragma GCC unroll 8
  for (int i = 0; i < sum_vectors; ++i) {
    const VI products = units_of(sums.low[i], sums.high[i]);
    const __m512 scale = _mm512_castsi512_ps(_mm512_sub_epi32(of_units, sums.exponents[i]));
    const VI of_c = cut(V{_mm512_mul_ps(_mm512_loadu_ps(sum_vector(c, i)), scale)});
    const VI sum = hn::Add(products, of_c);
    overflows = hn::Or(overflows, overflow(products, of_c, sum));
    units[i] = sum.raw;
  }
  if (HWY_UNLIKELY(_mm512_movepi32_mask(overflows.raw) != 0)) return false;
#pragma GCC unroll 8
  for (int i = 0; i < sum_vectors; ++i) {
    const __m512i unit =
        _mm512_sub_epi32(sums.exponents[i], _mm512_set1_epi32(fragment_fraction << 23));
    const __m512 sum = _mm512_castsi512_ps(cut_to_float(VI{units[i]}).raw);
    _mm512_storeu_ps(sum_vector(d, i), _mm512_mul_ps(sum, _mm512_castsi512_ps(unit)));
  }
  return true;
}

/// Implements TensorProducts::add_fragments.
bool add_fragments(const FragmentRows& a, const FragmentColumns& b, const float* const* c,
                   float* const* d) {
  const int largest = a.largest + b.largest - 127;
  if (a.largest == 0 || b.largest == 0 || largest < least_product || largest > max_product) {
    return false;
  }
  __m512i product_exponents[2];
  if (!find_exponents(a, b, largest, product_exponents)) return false;
  RunningSums sums;
  const __m512 most = start_sums(a, b, product_exponents, c, sums);
  const __m512 limit = _mm512_castsi512_ps(_mm512_set1_epi32(highest << 23));
  if (HWY_UNLIKELY(_mm512_cmp_ps_mask(most, limit, _CMP_GT_OQ) != 0)) return false;
  add_products(a, b, sums);
  return finish_sums(sums, c, d);
}

}  // namespace
}  // namespace rung::vgpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif
