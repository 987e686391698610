// Vector code around tile products: fills tiles from matrices and adds sums to C. No include guard:
// amx.cpp includes it once, where functions are compiled for AVX-512. tile_vectors_model-inl.hpp
// has the same functions in plain C++.

/// A mask of the lowest `count` bits, up to 64.
inline std::uint64_t first_bits(std::int64_t count) {
  if (count <= 0) return 0;
  return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

/// Loads 32 columns of a row of B: all of them if `whole`, otherwise only `columns` of the first
/// `k` rows.
template <bool whole>
inline __m512i row_of(const bfloat16* row, std::int64_t i, std::int64_t k, std::uint32_t columns) {
  if constexpr (whole) return _mm512_loadu_si512(row);
  return _mm512_maskz_loadu_epi16(i < k ? columns : 0, row);
}
template <bool whole>
inline __m256i row_of(const std::int8_t* row, std::int64_t i, std::int64_t k,
                      std::uint32_t columns) {
  if constexpr (whole) return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row));
  return _mm256_maskz_loadu_epi8(i < k ? columns : 0, row);
}

/// Interleaves two rows into one row of the left tile and one of the right tile.
template <bool whole>
inline void interleave_step(const bfloat16* from, std::int64_t stride, std::int64_t k,
                            std::uint32_t columns, KGroup* left) {
  // Each 128-bit block gets four columns of the left tile, then the four that are 16 columns
  // further on.
  const __m512i order = _mm512_set_epi64(7, 3, 6, 2, 5, 1, 4, 0);
  const __m512i r0 = _mm512_permutexvar_epi64(order, row_of<whole>(from, 0, k, columns));
  const __m512i r1 = _mm512_permutexvar_epi64(order, row_of<whole>(from + stride, 1, k, columns));
  _mm512_store_si512(left, _mm512_unpacklo_epi16(r0, r1));
  _mm512_store_si512(left + tile_size, _mm512_unpackhi_epi16(r0, r1));
}

/// Interleaves four rows of bytes.
template <bool whole>
inline void interleave_step(const std::int8_t* from, std::int64_t stride, std::int64_t k,
                            std::uint32_t columns, KGroup* left) {
  const __m512i order = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
  const auto pair = [&](std::int64_t i) {
    const __m256i low = row_of<whole>(from + i * stride, i, k, columns);
    const __m256i high = row_of<whole>(from + (i + 2) * stride, i + 2, k, columns);
    return _mm512_permutexvar_epi32(order,
                                    _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1));
  };
  const __m512i even = pair(0), odd = pair(1);
  const __m512i r01 = _mm512_unpacklo_epi8(even, odd), r23 = _mm512_unpackhi_epi8(even, odd);
  _mm512_store_si512(left, _mm512_unpacklo_epi16(r01, r23));
  _mm512_store_si512(left + tile_size, _mm512_unpackhi_epi16(r01, r23));
}

/// Fills two adjacent tiles of B from contiguous rows, up to the depth of a tile.
template <class In>
inline void interleave_rows(const In* from, std::int64_t stride, std::int64_t k, std::int64_t cols,
                            KGroup* tiles) {
  constexpr std::int64_t group = sizeof(KGroup) / sizeof(In);
  const auto columns = static_cast<std::uint32_t>(first_bits(cols));
  if (cols == tile_block && k == tile_depth<In>) {
#pragma GCC unroll 4
    for (std::int64_t g = 0; g < tile_groups; ++g, from += group * stride) {
      interleave_step<true>(from, stride, k, columns, tiles + g * tile_rows);
    }
    return;
  }
  for (std::int64_t g = 0; g < tile_groups; ++g, from += group * stride) {
    interleave_step<false>(from, stride, k - g * group, columns, tiles + g * tile_rows);
  }
}

/// Transposes 16 vectors of groups. Only the first `valid` are loaded; the rest are 0.
inline void transpose_tile(const void* from, std::int64_t stride_bytes, std::uint64_t bytes,
                           std::int64_t valid, KGroup* tile) {
  __m512i row[16], mixed[16];
#pragma GCC unroll 16
  for (std::int64_t i = 0; i < 16; ++i) {
    const auto* const at = static_cast<const unsigned char*>(from) + i * stride_bytes;
    row[i] = _mm512_maskz_loadu_epi8(i < valid ? bytes : 0, at);
  }
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 2) {
    mixed[i] = _mm512_unpacklo_epi32(row[i], row[i + 1]);
    mixed[i + 1] = _mm512_unpackhi_epi32(row[i], row[i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4) {
    row[i] = _mm512_unpacklo_epi64(mixed[i], mixed[i + 2]);
    row[i + 1] = _mm512_unpackhi_epi64(mixed[i], mixed[i + 2]);
    row[i + 2] = _mm512_unpacklo_epi64(mixed[i + 1], mixed[i + 3]);
    row[i + 3] = _mm512_unpackhi_epi64(mixed[i + 1], mixed[i + 3]);
  }
  // 128-bit block q of row[4 * p + r] holds elements 4p to 4p + 3 of column 4q + r.
#pragma GCC unroll 4
  for (int r = 0; r < 4; ++r) {
    const __m512i even01 = _mm512_shuffle_i32x4(row[r], row[4 + r], 0x88);
    const __m512i odd01 = _mm512_shuffle_i32x4(row[r], row[4 + r], 0xdd);
    const __m512i even23 = _mm512_shuffle_i32x4(row[8 + r], row[12 + r], 0x88);
    const __m512i odd23 = _mm512_shuffle_i32x4(row[8 + r], row[12 + r], 0xdd);
    const auto store = [&](int column, __m512i value) {
      _mm512_store_si512(tile + column * 16, value);
    };
    store(r, _mm512_shuffle_i32x4(even01, even23, 0x88));
    store(4 + r, _mm512_shuffle_i32x4(odd01, odd23, 0x88));
    store(8 + r, _mm512_shuffle_i32x4(even01, even23, 0xdd));
    store(12 + r, _mm512_shuffle_i32x4(odd01, odd23, 0xdd));
  }
}

/// Fills two adjacent tiles of B from contiguous columns, up to the depth of a tile.
template <class In>
inline void transpose_columns(const In* from, std::int64_t stride, std::int64_t k,
                              std::int64_t cols, KGroup* tiles) {
  const std::int64_t bytes = stride * std::int64_t{sizeof(In)};
  const std::uint64_t mask = first_bits(k * std::int64_t{sizeof(In)});
  transpose_tile(from, bytes, mask, cols, tiles);
  if (cols > tile_rows) {
    transpose_tile(from + tile_rows * stride, bytes, mask, cols - tile_rows, tiles + tile_size);
  }
}

/// Transposes a tile, which converts a tile of A to the tile of B with the same data, and back.
inline void transpose_in_place(KGroup* tile) { transpose_tile(tile, 64, ~0ull, 16, tile); }

/// Fills two tiles of A, one below the other, from contiguous rows.
template <class In>
inline void copy_rows(const In* from, std::int64_t stride, std::int64_t k, std::int64_t rows,
                      KGroup* tiles) {
  const std::uint64_t bytes = first_bits(k * std::int64_t{sizeof(In)});
  for (std::int64_t i = 0; i < tile_block; ++i) {
    _mm512_store_si512(tiles + i * tile_groups,
                       _mm512_maskz_loadu_epi8(i < rows ? bytes : 0, from + i * stride));
  }
}

inline __m512 load_row(const float* sums) { return _mm512_load_ps(sums); }
inline __m512i load_row(const std::uint32_t* sums) { return _mm512_load_si512(sums); }
inline __m512 add(__m512 x, __m512 y) { return _mm512_add_ps(x, y); }
inline __m512i add(__m512i x, __m512i y) { return _mm512_add_epi32(x, y); }

inline void store_scaled(__m512 sum, float alpha, float beta, __mmask16 mask, float* c) {
  sum = _mm512_mul_ps(sum, _mm512_set1_ps(alpha));
  if (beta != 0) {
    sum = _mm512_fmadd_ps(_mm512_set1_ps(beta), _mm512_maskz_loadu_ps(mask, c), sum);
  }
  _mm512_mask_storeu_ps(c, mask, sum);
}
inline void store_scaled(__m512i sum, std::uint32_t alpha, std::uint32_t beta, __mmask16 mask,
                         std::uint32_t* c) {
  if (alpha != 1) sum = _mm512_mullo_epi32(sum, _mm512_set1_epi32(static_cast<int>(alpha)));
  if (beta != 0) {
    const __m512i before = _mm512_maskz_loadu_epi32(mask, c);
    sum = _mm512_add_epi32(sum,
                           _mm512_mullo_epi32(before, _mm512_set1_epi32(static_cast<int>(beta))));
  }
  _mm512_mask_storeu_epi32(c, mask, sum);
}

/// C = alpha * (the sum of `count` tiles that are `apart` tiles apart) + beta * C, for up to 16 x
/// 16 elements.
template <class Acc>
inline void add_to_c(const Acc* sums, int count, int apart, std::int64_t rows, std::int64_t cols,
                     Acc alpha, Acc beta, Acc* c, std::int64_t ldc) {
  const auto mask = static_cast<__mmask16>(first_bits(cols));
  for (std::int64_t i = 0; i < rows; ++i) {
    const Acc* const row = sums + i * tile_rows;
    auto sum = load_row(row);
    for (int s = 1; s < count; ++s) sum = add(sum, load_row(row + s * apart * tile_size));
    store_scaled(sum, alpha, beta, mask, c + i * ldc);
  }
}
