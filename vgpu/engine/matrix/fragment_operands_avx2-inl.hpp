// The operands of fragment_sums-inl.hpp for AVX2: the layout is the same, but a vector holds half
// as many elements. Included once per instruction set.

#if defined(RUNG_VGPU_ENGINE_FRAGMENT_OPERANDS_AVX2_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef RUNG_VGPU_ENGINE_FRAGMENT_OPERANDS_AVX2_INL_HPP
#else
#define RUNG_VGPU_ENGINE_FRAGMENT_OPERANDS_AVX2_INL_HPP
#endif

#include <array>
#include <cstdint>

#include "vgpu/engine/matrix/fragment_range-inl.hpp"
#include "vgpu/model/warp.hpp"

#undef RUNG_VGPU_AVX2_FRAGMENTS
#define RUNG_VGPU_AVX2_FRAGMENTS (HWY_TARGET == HWY_AVX2)
#if RUNG_VGPU_AVX2_FRAGMENTS
HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {
namespace {

constexpr int vectors_of_register = warp_size / 8;  // each vector holds two rows of C or A

HWY_INLINE __m256i loaded(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}
HWY_INLINE void stored(__m256i x, void* to) { _mm256_store_si256(static_cast<__m256i*>(to), x); }
HWY_INLINE __m256i in_both_rows(const void* words) {
  return _mm256_broadcastsi128_si256(_mm_load_si128(static_cast<const __m128i*>(words)));
}

/// Per 16-bit half of each word: the exponent (0 for a zero, otherwise at least 1), and a number
/// whose sign bit is set for negative elements other than -0.
struct HalfExponents {
  __m256i exponents, signs;
};

template <Element type>
HWY_INLINE HalfExponents half_exponents(__m256i words) {
  const __m256i bits = _mm256_and_si256(words, _mm256_set1_epi16(0x7FFF));
  const __m256i is_zero = _mm256_cmpeq_epi16(bits, _mm256_setzero_si256());
  const __m256i placed = _mm256_srli_epi16(bits, mantissa_of<type>);
  const __m256i normal = _mm256_max_epu16(placed, _mm256_set1_epi16(1));
  return {_mm256_andnot_si256(is_zero, normal), _mm256_andnot_si256(is_zero, words)};
}

HWY_INLINE int largest_half(__m256i halves) {
  const __m128i of_128 =
      _mm_max_epu16(_mm256_castsi256_si128(halves), _mm256_extracti128_si256(halves, 1));
  const __m128i complement = _mm_xor_si128(of_128, _mm_set1_epi16(-1));
  return 0xFFFF - (_mm_cvtsi128_si32(_mm_minpos_epu16(complement)) & 0xFFFF);
}

/// Distances from the largest exponent, as described in fragment_sums-inl.hpp, one per half. 0 for
/// zeros and for elements out of reach.
HWY_INLINE __m256i places_of(__m256i exponents, int largest) {
  const __m256i raised = _mm256_add_epi16(exponents, _mm256_set1_epi16(reach + 1));
  const auto least = static_cast<std::int16_t>(largest + 1);
  const __m256i places = _mm256_subs_epu16(raised, _mm256_set1_epi16(least));
  const __m256i is_zero = _mm256_cmpeq_epi16(exponents, _mm256_setzero_si256());
  return _mm256_andnot_si256(is_zero, places);
}

/// Sign bits of elements. If `low` holds rows 0 and 1, and `high` rows 2 and 3, the bytes of the
/// result are rows 0, 2, 1 and 3.
HWY_INLINE std::uint32_t sign_bits(const HalfExponents& low, const HalfExponents& high) {
  return static_cast<std::uint32_t>(
      _mm256_movemask_epi8(_mm256_packs_epi16(low.signs, high.signs)));
}

/// Converts 8 16-bit elements to f32.
template <Element type>
HWY_INLINE __m256 values_of(__m128i halves) {
  if constexpr (type == Element::f16) return _mm256_cvtph_ps(halves);
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
}

/// Converts the elements in the lower or upper halves of words to f32.
template <Element type>
HWY_INLINE __m256 values_of_half(__m256i words, bool upper) {
  if constexpr (type == Element::bf16) {
    return _mm256_castsi256_ps(upper ? _mm256_and_si256(words, _mm256_set1_epi32(~0xFFFF))
                                     : _mm256_slli_epi32(words, 16));
  }
  const __m256i halves =
      upper ? _mm256_srli_epi32(words, 16) : _mm256_and_si256(words, _mm256_set1_epi32(0xFFFF));
  const __m256i twice = _mm256_packus_epi32(halves, halves);
  return _mm256_cvtph_ps(_mm256_castsi256_si128(_mm256_permute4x64_epi64(twice, 0x08)));
}

HWY_INLINE __m256d low_wide(__m256 x) { return _mm256_cvtps_pd(_mm256_castps256_ps128(x)); }
HWY_INLINE __m256d high_wide(__m256 x) { return _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1)); }

/// Adds a positive number that is too small to change any other element than zero.
HWY_INLINE __m256d without_zeros(__m256d x) { return _mm256_add_pd(x, _mm256_set1_pd(0x1p-1000)); }

/// Transposes the 4 x 4 words in each 128-bit half of the vectors.
HWY_INLINE void transpose_words(__m256i (&x)[4]) {
  const __m256i low01 = _mm256_unpacklo_epi32(x[0], x[1]);
  const __m256i high01 = _mm256_unpackhi_epi32(x[0], x[1]);
  const __m256i low23 = _mm256_unpacklo_epi32(x[2], x[3]);
  const __m256i high23 = _mm256_unpackhi_epi32(x[2], x[3]);
  x[0] = _mm256_unpacklo_epi64(low01, low23);
  x[1] = _mm256_unpackhi_epi64(low01, low23);
  x[2] = _mm256_unpacklo_epi64(high01, high23);
  x[3] = _mm256_unpackhi_epi64(high01, high23);
}

/// Converts bytes that hold the signs of four steps in each half to bytes that hold four steps in
/// the lower half.
HWY_INLINE __m256i split_signs(__m256i twice) {
  const __m256i even = _mm256_and_si256(twice, _mm256_set1_epi32(0x000F000F));
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(twice, 4), _mm256_set1_epi32(0x0F000F00));
  return _mm256_or_si256(even, odd);
}

/// Computes FragmentRows::wide for a register.
template <Element type>
HWY_INLINE void set_wide_rows(const std::uint32_t* words, double* to) {
  const auto row = [&](int i) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(words + 4 * i));
  };
  __m256i of_steps[4];  // [row], words of two steps each; transposed below
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) of_steps[i] = _mm256_set_m128i(row(i + 4), row(i));
  transpose_words(of_steps);
#pragma GCC unroll 4
  for (int pair = 0; pair < 4; ++pair, to += 8 * row_blocks) {
    const __m256 low = values_of<type>(_mm256_castsi256_si128(of_steps[pair]));
    const __m256 high = values_of<type>(_mm256_extracti128_si256(of_steps[pair], 1));
    _mm256_store_pd(to, without_zeros(low_wide(low)));
    _mm256_store_pd(to + 4, without_zeros(high_wide(low)));
    _mm256_store_pd(to + 8, without_zeros(low_wide(high)));
    _mm256_store_pd(to + 12, without_zeros(high_wide(high)));
  }
}

/// Implements TensorProducts::set_fragment_rows.
template <Element type>
void set_fragment_rows_of(const std::uint32_t* const* registers, FragmentRows& to) {
  HalfExponents of[4][vectors_of_register];
  __m256i most = _mm256_setzero_si256();
  for (int i = 0; i < 4; ++i) {
    for (int part = 0; part < vectors_of_register; ++part) {
      of[i][part] = half_exponents<type>(loaded(registers[i] + 8 * part));
      most = _mm256_max_epu16(most, of[i][part].exponents);
    }
    set_wide_rows<type>(registers[i], to.wide.data() + i / 2 * 32 * row_blocks + i % 2 * 16);
  }
  const int encoded = largest_half(most);
  to.largest = checked_largest<type>(encoded);
  for (int i = 0; i < 4; ++i) {
    for (int part = 0; part < 2; ++part) {
      const __m256i first = places_of(of[i][part].exponents, encoded);
      const __m256i second = places_of(of[i][part + 2].exponents, encoded);
      const __m256i both = _mm256_or_si256(first, _mm256_slli_epi16(second, 8));
      auto* steps = to.places.data() + i / 2 * 8;
#pragma GCC unroll 8
      for (int step = 0; step < 8; ++step, ++steps) {
        const __m256i from = _mm256_set1_epi32(0x01010000 + 0x02020202 * step);
        stored(_mm256_shuffle_epi8(both, from),
               (*steps)[static_cast<std::size_t>(i % 2)].data() + 32 * part);
      }
    }
  }
  const __m256i of_rows[2] = {
      _mm256_set_m128i(_mm_set1_epi32(0x06060202), _mm_set1_epi32(0x04040000)),
      _mm256_set_m128i(_mm_set1_epi32(0x07070303), _mm_set1_epi32(0x05050101))};
  for (int block = 0; block < row_blocks; ++block) {
    const auto bits = [&](int i) {
      return sign_bits(of[i][block % 2 * 2], of[i][block % 2 * 2 + 1]);
    };
    const std::uint64_t masks = std::uint64_t{bits(block / 2 + 2)} << 32 | bits(block / 2);
    const __m256i everywhere = _mm256_set1_epi64x(static_cast<std::int64_t>(masks));
    std::uint32_t* const signs = to.signs[static_cast<std::size_t>(block)].data();
    stored(split_signs(_mm256_shuffle_epi8(everywhere, of_rows[0])), signs);
    stored(split_signs(_mm256_shuffle_epi8(everywhere, of_rows[1])), signs + 8);
  }
}

/// Computes FragmentColumns::wide for a register. The lower halves of its vectors are even columns.
template <Element type>
HWY_INLINE void set_wide_columns(const std::uint32_t* words, std::array<double, 8>* to) {
  const __m256d more = _mm256_set1_pd(1 + 0x1p-30);  // see fma_sums-inl.hpp
  const __m256d tiny = _mm256_set1_pd(0x1p-1000);    // see without_zeros()
  __m256i of_steps[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) of_steps[i] = loaded(words + 8 * i);
  transpose_words(of_steps);
#pragma GCC unroll 8
  for (int step = 0; step < 8; ++step, ++to) {
    const __m256 values = values_of_half<type>(of_steps[step / 2], step % 2 != 0);
    _mm256_store_pd(to->data(), _mm256_fmadd_pd(low_wide(values), more, tiny));
    _mm256_store_pd(to->data() + 4, _mm256_fmadd_pd(high_wide(values), more, tiny));
  }
}

/// Computes FragmentColumns::places from the exponents of columns 2 i and 2 i + 1 of both
/// registers. Each half of a word holds the bytes of one step.
HWY_INLINE void set_column_places(const HalfExponents (&of)[2][4], int encoded,
                                  FragmentColumns& to) {
  // [column pair]: the first four steps of a register, and the last four.
  __m256i of_low[4], of_high[4];
  for (int i = 0; i < 4; ++i) {
    const __m256i first = places_of(of[0][i].exponents, encoded);
    const __m256i second = places_of(of[1][i].exponents, encoded);
    const __m256i even = _mm256_permute2x128_si256(first, second, 0x20);
    const __m256i odd = _mm256_permute2x128_si256(first, second, 0x31);
    const __m256i both = _mm256_or_si256(even, _mm256_slli_epi16(odd, 8));
    of_low[i] = _mm256_unpacklo_epi16(both, both);
    of_high[i] = _mm256_unpackhi_epi16(both, both);
  }
  transpose_words(of_low);
  transpose_words(of_high);
  const auto set = [&](int step, __m128i bytes) {
    _mm_store_si128(reinterpret_cast<__m128i*>(to.places[static_cast<std::size_t>(step)].data()),
                    bytes);
  };
  for (int step = 0; step < 4; ++step) {
    set(step, _mm256_castsi256_si128(of_low[step]));
    set(step + 4, _mm256_castsi256_si128(of_high[step]));
    set(step + 8, _mm256_extracti128_si256(of_low[step], 1));
    set(step + 12, _mm256_extracti128_si256(of_high[step], 1));
  }
}

/// Implements TensorProducts::set_fragment_columns.
template <Element type>
void set_fragment_columns_of(const std::uint32_t* const* registers, FragmentColumns& to) {
  HalfExponents of[2][4];
  __m256i most = _mm256_setzero_si256();
  for (int i = 0; i < 2; ++i) {
    for (int part = 0; part < vectors_of_register; ++part) {
      of[i][part] = half_exponents<type>(loaded(registers[i] + 8 * part));
      most = _mm256_max_epu16(most, of[i][part].exponents);
    }
    set_wide_columns<type>(registers[i], to.wide.data() + 8 * i);
  }
  const int encoded = largest_half(most);
  to.largest = checked_largest<type>(encoded);
  set_column_places(of, encoded, to);
  const auto masks = [&](int i) {
    const std::uint64_t low = sign_bits(of[i][0], of[i][1]), high = sign_bits(of[i][2], of[i][3]);
    return static_cast<std::int64_t>(high << 32 | low);
  };
  const __m256i both = _mm256_broadcastsi128_si256(_mm_set_epi64x(masks(1), masks(0)));
  const __m256i of_column =
      _mm256_setr_epi8(0, 0, 8, 8, 1, 1, 9, 9, 4, 4, 12, 12, 5, 5, 13, 13,  //
                       2, 2, 10, 10, 3, 3, 11, 11, 6, 6, 14, 14, 7, 7, 15, 15);
  stored(split_signs(_mm256_shuffle_epi8(both, of_column)), to.signs.data());
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

}  // namespace
}  // namespace rung::vgpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#endif
