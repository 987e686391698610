#pragma once
// 16-byte vectors as words of mma fragments, from elements of any alignment.

#include <cstdint>
#include <type_traits>

#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/mma.cuh"
#include "device/cuda/tile/operand.cuh"
#include "device/cuda/types.cuh"

namespace rung::cuda {

template <int COUNT>
using Words = Vector<std::uint32_t, COUNT>;

/// The largest load size (at most 16 bytes) for which loads of an operand's contiguous elements are
/// aligned and stay within a row (or column) if their first byte does.
template <class In>
__device__ __forceinline__ int aligned_bytes(const Operand<In>& operand) {
  const std::int64_t ld = operand.x.row_stride * operand.x.col_stride;
  const std::int64_t length = operand.x.col_stride == 1 ? operand.k : operand.extent;
  const std::uint64_t bits = static_cast<std::uint64_t>((ld | length) * sizeof(In)) |
                             reinterpret_cast<std::uintptr_t>(operand.x.data) | 16;
  return static_cast<int>(bits & (0 - bits));
}

/// Loads COUNT words of elements that are `stride` apart. `count` elements exist (possibly more);
/// the rest become zeros. BYTES is the size of a load: all words, one word (both exist completely
/// or not at all), or one element.
template <int BYTES, int COUNT, class In>
__device__ __forceinline__ Words<COUNT> load_words(const In* from, std::int64_t count,
                                                   std::int64_t stride = 1) {
  if constexpr (BYTES == 4 * COUNT) {
    return count > 0 ? *reinterpret_cast<const Words<COUNT>*>(from) : Words<COUNT>{};
  } else if constexpr (BYTES == 4 && sizeof(In) < 4) {
    constexpr int PER_WORD = 4 / sizeof(In);
    Words<COUNT> words;
    RUNG_UNROLL
    for (int w = 0; w < COUNT; ++w) {
      const In* const at = from + w * PER_WORD;
      words.at[w] = w * PER_WORD < count ? *reinterpret_cast<const std::uint32_t*>(at) : 0;
    }
    return words;
  } else {
    constexpr int W = 4 * COUNT / sizeof(In);
    Vector<In, W> elements = {};
    RUNG_UNROLL
    for (int w = 0; w < W; ++w) {
      if (w < count) elements.at[w] = from[w * stride];
    }
    return __builtin_bit_cast(Words<COUNT>, elements);
  }
}

/// The words as mma expects them for In: tf32 is rounded, because mma would truncate.
template <class In>
__device__ __forceinline__ Words<4> as_operand(Words<4> words) {
  if constexpr (std::is_same_v<In, tfloat32>) {
    RUNG_UNROLL
    for (std::uint32_t& word : words.at) {
      word = __builtin_bit_cast(std::uint32_t, ptx::cvt_rna_tf32(__builtin_bit_cast(float, word)));
    }
  }
  return words;
}

/// Packs the low (or high) 16-bit halves of two words into one word, the first one in the lower
/// half.
__device__ __forceinline__ std::uint32_t low_halves(std::uint32_t first, std::uint32_t second) {
  return (first & 0xFFFFu) | second << 16;
}
__device__ __forceinline__ std::uint32_t high_halves(std::uint32_t first, std::uint32_t second) {
  return first >> 16 | (second & 0xFFFF0000u);
}

}  // namespace rung::cuda
