// Packs a matrix into panels of k-groups: see dot_kernels.hpp. Included once per target, with the
// include guard of Highway's own -inl.h headers.

#if defined(RUNG_DEVICE_CPU_PACK_GROUPS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef RUNG_DEVICE_CPU_PACK_GROUPS_INL_HPP
#undef RUNG_DEVICE_CPU_PACK_GROUPS_INL_HPP
#else
#define RUNG_DEVICE_CPU_PACK_GROUPS_INL_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "device/cpu/dot_kernels.hpp"
#include "device/cpu/transpose-inl.hpp"
#include "rung/types.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Gathers the `count` elements of a group, which are `stride` apart.
template <class Element, class In>
HWY_INLINE KGroup gather_group(const In* at, std::int64_t stride, std::int64_t count) {
  constexpr int bits = 8 * sizeof(Element);
  KGroup group = 0;
  for (std::int64_t e = 0; e < count; ++e) {
    if constexpr (std::is_same_v<In, bfloat16>) {
      group |= KGroup{at[e * stride].bits} << bits * e;
    } else {
      using Bits = std::make_unsigned_t<Element>;
      group |= KGroup{static_cast<Bits>(Element{at[e * stride]})} << bits * e;
    }
  }
  return group;
}

/// Packs groups from index `first` for columns [c, c_end). The last group may be partial.
template <class Element, class In>
void pack_groups(std::int64_t k, const Matrix<const In>& matrix, std::int64_t first, std::int64_t c,
                 std::int64_t c_end, std::int64_t width, KGroup* panel) {
  constexpr std::int64_t group = sizeof(KGroup) / sizeof(Element);
  const std::int64_t whole = k / group;
  for (std::int64_t step = first; step < whole; ++step) {
    for (std::int64_t i = c; i < c_end; ++i) {
      panel[step * width + i] =
          gather_group<Element>(&matrix(step * group, i), matrix.row_stride, group);
    }
  }
  if (whole * group == k) return;
  for (std::int64_t i = c; i < c_end; ++i) {
    panel[whole * width + i] =
        gather_group<Element>(&matrix(whole * group, i), matrix.row_stride, k - whole * group);
  }
}

#if HWY_TARGET != HWY_SCALAR

/// Four consecutive groups of a column with contiguous elements, converted to Element.
template <class Element, class In>
HWY_INLINE hn::Vec<hn::FixedTag<KGroup, 4>> four_groups(const In* at) {
  const hn::FixedTag<KGroup, 4> d;
  if constexpr (sizeof(Element) == sizeof(In)) {
    const hn::FixedTag<std::uint8_t, 16> bytes;
    return hn::BitCast(d, hn::LoadU(bytes, reinterpret_cast<const std::uint8_t*>(at)));
  } else {
    const hn::FixedTag<Element, 8> wide;
    return hn::BitCast(d, hn::PromoteTo(wide, hn::LoadU(hn::Rebind<In, decltype(wide)>(), at)));
  }
}

/// Transposes four columns by four groups. Columns beyond `Columns` are 0.
template <class Element, int Columns, class In>
HWY_INLINE void transpose_groups(const In* matrix, std::int64_t stride, std::int64_t width,
                                 KGroup* panel) {
  const hn::FixedTag<KGroup, 4> d;
  const auto c0 = four_groups<Element>(matrix);
  auto c1 = hn::Zero(d), c2 = c1, c3 = c1;
  if constexpr (Columns > 1) c1 = four_groups<Element>(matrix + stride);
  if constexpr (Columns > 2) c2 = four_groups<Element>(matrix + 2 * stride);
  if constexpr (Columns > 3) c3 = four_groups<Element>(matrix + 3 * stride);
  store_transposed(d, c0, c1, c2, c3, width, panel);
}

/// Transposes `steps` groups (a multiple of four) of up to four columns.
template <class Element, int Columns, class In>
void transpose_columns(std::int64_t steps, const In* matrix, std::int64_t stride,
                       std::int64_t width, KGroup* panel) {
  constexpr std::int64_t group = sizeof(KGroup) / sizeof(Element);
  for (std::int64_t step = 0; step < steps; step += 4) {
    transpose_groups<Element, Columns>(matrix + step * group, stride, width, panel + step * width);
  }
}

/// Interleaves 16 bytes from each row of a k-step into groups.
template <class Element>
HWY_INLINE void interleave_rows(const bfloat16* matrix, std::int64_t stride, KGroup* panel) {
  const hn::FixedTag<std::uint16_t, 8> d;
  const hn::FixedTag<KGroup, 4> groups;
  const auto r0 = hn::LoadU(d, &matrix->bits);
  const auto r1 = hn::LoadU(d, &matrix[stride].bits);
  hn::StoreU(hn::BitCast(groups, hn::InterleaveLower(d, r0, r1)), groups, panel);
  hn::StoreU(hn::BitCast(groups, hn::InterleaveUpper(d, r0, r1)), groups, panel + 4);
}
template <class Element>
  requires(sizeof(Element) == 1)
HWY_INLINE void interleave_rows(const std::int8_t* matrix, std::int64_t stride, KGroup* panel) {
  const hn::FixedTag<std::int8_t, 16> d;
  const hn::FixedTag<std::int16_t, 8> pairs;
  const hn::FixedTag<KGroup, 4> groups;
  const auto r0 = hn::LoadU(d, matrix), r1 = hn::LoadU(d, matrix + stride);
  const auto r2 = hn::LoadU(d, matrix + 2 * stride), r3 = hn::LoadU(d, matrix + 3 * stride);
  const auto lower01 = hn::BitCast(pairs, hn::InterleaveLower(d, r0, r1));
  const auto lower23 = hn::BitCast(pairs, hn::InterleaveLower(d, r2, r3));
  const auto upper01 = hn::BitCast(pairs, hn::InterleaveUpper(d, r0, r1));
  const auto upper23 = hn::BitCast(pairs, hn::InterleaveUpper(d, r2, r3));
  const auto store = [&](auto interleaved, int at) {
    hn::StoreU(hn::BitCast(groups, interleaved), groups, panel + at);
  };
  store(hn::InterleaveLower(pairs, lower01, lower23), 0);
  store(hn::InterleaveUpper(pairs, lower01, lower23), 4);
  store(hn::InterleaveLower(pairs, upper01, upper23), 8);
  store(hn::InterleaveUpper(pairs, upper01, upper23), 12);
}

/// Interleaves bytes as int16, in groups of two rows.
template <class Element>
  requires(sizeof(Element) == 2)
HWY_INLINE void interleave_rows(const std::int8_t* matrix, std::int64_t stride, KGroup* panel) {
  const hn::FixedTag<std::int8_t, 16> d;
  const hn::FixedTag<std::int16_t, 8> wide;
  const hn::FixedTag<KGroup, 4> groups;
  const auto r0 = hn::LoadU(d, matrix), r1 = hn::LoadU(d, matrix + stride);
  const auto lower = hn::InterleaveLower(d, r0, r1), upper = hn::InterleaveUpper(d, r0, r1);
  const auto store = [&](auto bytes, int at) {
    hn::StoreU(hn::BitCast(groups, hn::PromoteTo(wide, bytes)), groups, panel + at);
  };
  store(hn::LowerHalf(lower), 0);
  store(hn::UpperHalf(hn::Half<decltype(d)>(), lower), 4);
  store(hn::LowerHalf(upper), 8);
  store(hn::UpperHalf(hn::Half<decltype(d)>(), upper), 12);
}

#if HWY_TARGET == HWY_AVX3

/// Interleaves 32 columns of two rows of 16-bit elements.
HWY_INLINE void interleave_32_columns(const bfloat16* matrix, std::int64_t stride, KGroup* panel) {
  // Indices of elements 0 to 15 of the first row, interleaved with those of the second: 0, 32, 1,
  // 33, …
  const __m512i count = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  const __m512i first = _mm512_add_epi32(_mm512_or_si512(count, _mm512_slli_epi32(count, 16)),
                                         _mm512_set1_epi32(32 << 16));
  const __m512i second = _mm512_add_epi16(first, _mm512_set1_epi16(16));
  const __m512i r0 = _mm512_loadu_si512(matrix);
  const __m512i r1 = _mm512_loadu_si512(matrix + stride);
  _mm512_storeu_si512(panel, _mm512_permutex2var_epi16(r0, first, r1));
  _mm512_storeu_si512(panel + 16, _mm512_permutex2var_epi16(r0, second, r1));
}

/// Interleaves 32 columns of four rows of bytes.
HWY_INLINE void interleave_32_columns(const std::int8_t* matrix, std::int64_t stride,
                                      KGroup* panel) {
  const auto row = [&](int i) HWY_ATTR {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(matrix + i * stride));
  };
  const __m256i r0 = row(0), r1 = row(1), r2 = row(2), r3 = row(3);
  const __m256i lower01 = _mm256_unpacklo_epi8(r0, r1), upper01 = _mm256_unpackhi_epi8(r0, r1);
  const __m256i lower23 = _mm256_unpacklo_epi8(r2, r3), upper23 = _mm256_unpackhi_epi8(r2, r3);
  // Each 128-bit half pair holds four columns and the four columns that are sixteen further on.
  const auto pair = [](__m256i low, __m256i high) HWY_ATTR {
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
  };
  const __m512i columns_0 =
      pair(_mm256_unpacklo_epi16(lower01, lower23), _mm256_unpackhi_epi16(lower01, lower23));
  const __m512i columns_8 =
      pair(_mm256_unpacklo_epi16(upper01, upper23), _mm256_unpackhi_epi16(upper01, upper23));
  _mm512_storeu_si512(panel, _mm512_shuffle_i64x2(columns_0, columns_8, 0x88));
  _mm512_storeu_si512(panel + 16, _mm512_shuffle_i64x2(columns_0, columns_8, 0xDD));
}

#endif

/// Packs the part that whole vectors cover: all groups before the returned index, of the columns
/// before the returned `c`. Columns from `valid` on are 0.
template <class Element, class In>
std::int64_t pack_vectors(std::int64_t k, const Matrix<const In>& matrix, std::int64_t valid,
                          std::int64_t width, KGroup* panel, std::int64_t& c) {
  constexpr std::int64_t group = sizeof(KGroup) / sizeof(Element);
  const std::int64_t whole = k / group;
  if (matrix.row_stride == 1) {
    const std::int64_t done = whole / 4 * 4, stride = matrix.col_stride;
    for (; c < valid && c + 4 <= width; c += 4) {
      const In* const from = &matrix(0, c);
      switch (valid - c) {
        case 1: transpose_columns<Element, 1>(done, from, stride, width, panel + c); break;
        case 2: transpose_columns<Element, 2>(done, from, stride, width, panel + c); break;
        case 3: transpose_columns<Element, 3>(done, from, stride, width, panel + c); break;
        default: transpose_columns<Element, 4>(done, from, stride, width, panel + c);
      }
    }
    return done;
  }
  constexpr std::int64_t columns = 16 / sizeof(In);
  c = valid / columns * columns;
  for (std::int64_t step = 0; step < whole; ++step) {
    const In* const row = &matrix(step * group, 0);
    KGroup* const packed = panel + step * width;
    std::int64_t i = 0;
#if HWY_TARGET == HWY_AVX3
    if constexpr (sizeof(Element) == sizeof(In)) {
      for (; i + 32 <= c; i += 32) interleave_32_columns(row + i, matrix.row_stride, packed + i);
    }
#endif
    for (; i < c; i += columns) {
      interleave_rows<Element>(row + i, matrix.row_stride, packed + i);
    }
  }
  return whole;
}

#endif

/// Packs a panel. The elements of the matrix are converted to Element.
template <class Element, class In>
void pack_panel_of_groups(std::int64_t k, const Matrix<const In>& matrix, std::int64_t valid,
                          std::int64_t width, KGroup* panel) {
  constexpr std::int64_t group = sizeof(KGroup) / sizeof(Element);
  const std::int64_t steps = (k + group - 1) / group;
  std::int64_t first = steps, c = 0;
#if HWY_TARGET != HWY_SCALAR
  first = pack_vectors<Element>(k, matrix, valid, width, panel, c);
  pack_groups<Element>(k, matrix, first, 0, std::min(c, valid), width, panel);
#endif
  pack_groups<Element>(k, matrix, 0, c, valid, width, panel);
  const auto clear = [&](std::int64_t begin, std::int64_t end, std::int64_t from) {
    if (from >= width) return;
    for (std::int64_t step = begin; step < end; ++step) {
      std::fill(panel + step * width + from, panel + (step + 1) * width, KGroup{0});
    }
  };
  clear(0, first, std::max(c, valid));
  clear(first, steps, valid);
}

}  // namespace rung::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
