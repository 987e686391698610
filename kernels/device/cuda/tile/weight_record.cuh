#pragma once
// A warp's part of a record of packed weights (device/weight_layout.hpp): 16-bit fragments of the
// elements, scaled exactly by a power of two, and the scales of its rows.

#include <cstdint>

#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/half_pairs.cuh"
#include "device/cuda/ptx/ld_shared.cuh"
#include "device/cuda/types.cuh"
#include "device/weight_layout.hpp"

namespace rung::cuda {

/// Constants for converting packed elements to 16-bit numbers, scaled by a power of two, with a
/// single FMA. The bits of an element replace low bits of `base`: the lowest ones, or the next
/// four. bfloat16 has only seven fraction bits, so `base` is 0 there: below 2^-125, bits have the
/// same weight in subnormal and normal numbers, so all eight bits are a multiple of 2^-133.
template <class In, int BITS>
struct WeightPair;
template <>
struct WeightPair<bfloat16, 4> {
  static constexpr float inverse_of_fraction = 4;
  static constexpr std::uint32_t low_base = 0x43004300, low_factor = 0x3e803e80;
  static constexpr std::uint32_t minus_low = 0xc200c200;  // unit in the last place: 1 / 4
  static constexpr std::uint32_t high_base = 0, high_factor = 0x7f007f00;
  static constexpr std::uint32_t one = 0x3f803f80, low_less_high = 0x42004200;
};
template <>
struct WeightPair<float16, 4> {
  static constexpr float inverse_of_fraction = 1;
  static constexpr std::uint32_t low_base = 0x64006400, low_factor = 0x3c003c00;
  static constexpr std::uint32_t minus_low = 0xe400e400;  // unit in the last place: 1
  static constexpr std::uint32_t high_base = 0x64006400, high_factor = 0x2c002c00;
  static constexpr std::uint32_t one = 0x3c003c00, low_less_high = 0x63806380;
};
/// The 8 bits are the element plus 128, a subnormal number in both types.
template <>
struct WeightPair<bfloat16, 8> {
  static constexpr float inverse_of_fraction = 64;
  static constexpr std::uint32_t factor = 0x7f007f00, minus_128 = 0xc000c000;
};
template <>
struct WeightPair<float16, 8> {
  static constexpr float inverse_of_fraction = 512;
  static constexpr std::uint32_t factor = 0x78007800, minus_128 = 0xb400b400;
};

/// The maximum size of a record, which includes float scales and zero points of two groups.
template <int BITS>
inline constexpr int max_record_bytes = WeightLayout::rows * WeightLayout::steps * BITS / 8 + 160;

/// Frequently used properties of a WeightLayout, computed once to avoid divisions.
template <int BITS>
struct RecordForm {
  static constexpr int scales_at = WeightLayout::rows * WeightLayout::steps * BITS / 8;

  int bytes, zeros_at;
  WeightScale scale;
  bool has_zeros, has_two_groups;

  __device__ __forceinline__ explicit RecordForm(const WeightLayout& layout)
      : bytes(layout.record_bytes()),
        zeros_at(layout.zeros_at()),
        scale(layout.scale),
        has_zeros(layout.has_zeros),
        has_two_groups(layout.group != WeightLayout::steps) {}

  /// group_of(): the group of step k in a record. ends_before(): true if a group ends before step
  /// k.
  __device__ __forceinline__ int group_of(int k) const {
    return has_two_groups ? k / (WeightLayout::steps / 2) : 0;
  }
  __device__ __forceinline__ bool ends_before(int k) const {
    return k == WeightLayout::steps || (has_two_groups && k == WeightLayout::steps / 2);
  }
};

/// The number of k-steps in 512 bytes of a record.
template <int BITS>
inline constexpr int chunk_steps = 256 / BITS;

/// Unpacks the fragment of 16 rows and 16 k-steps from a lane's words of a chunk, scaled as in
/// WeightPair. STEP: 0, 16, … `minus_zero`: minus_zeros_of(), for 4 bits.
template <class In, int BITS, int STEP>
__device__ __forceinline__ void unpack_fragment(std::uint32_t (&fragment)[4],
                                                const std::uint32_t (&words)[4],
                                                const std::uint32_t (&minus_zero)[2]) {
  using Pair = WeightPair<In, BITS>;
  if constexpr (BITS == 4) {
    RUNG_UNROLL
    for (int i = 0; i < 4; i += 2) {
      const std::uint32_t elements = words[STEP / 16] >> (4 * i);
      fragment[i] = ptx::fma_rn_x2<In>(ptx::and_or(elements, 0x000f000f, Pair::low_base),
                                       Pair::low_factor, minus_zero[0]);
      fragment[i + 1] = ptx::fma_rn_x2<In>(ptx::and_or(elements, 0x00f000f0, Pair::high_base),
                                           Pair::high_factor, minus_zero[1]);
    }
  } else {
    // Two's complement with an inverted sign bit is the element plus 128.
    RUNG_UNROLL
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t elements = words[STEP / 8 + i / 2] >> (8 * (i % 2));
      fragment[i] = ptx::fma_rn_x2<In>(ptx::and_xor(elements, 0x00ff00ff, 0x00800080), Pair::factor,
                                       Pair::minus_128);
    }
  }
}

/// The record with step k of a tile of 16 rows. For a row tile past the end, returns the last
/// tile's record; the caller does not store its results.
__device__ __forceinline__ const unsigned char* record_of(const unsigned char* weights,
                                                          const WeightLayout& layout,
                                                          std::int64_t row_tile, std::int64_t k) {
  const std::int64_t last = layout.row_tiles() - 1;
  return weights + layout.record_at(row_tile < last ? row_tile : last, k / WeightLayout::steps);
}

/// Loads the scales of a lane's two rows, lane / 4 and 8 below, for a group of a record, times a
/// factor.
template <int BITS>
__device__ __forceinline__ void load_scales(float (&to)[2], const unsigned char* record,
                                            const RecordForm<BITS>& form, int group, float factor) {
  const unsigned char* const scales = record + form.scales_at;
  const int at = group * WeightLayout::rows + static_cast<int>(threadIdx.x) % 32 / 4;
  const auto load = [&]<class T>(const T* of_type) RUNG_INLINE_LAMBDA {
    to[0] = factor * static_cast<float>(of_type[at]);
    to[1] = factor * static_cast<float>(of_type[at + 8]);
  };
  if (form.scale == WeightScale::f32) {
    load(reinterpret_cast<const float*>(scales));
  } else if (form.scale == WeightScale::f16) {
    load(reinterpret_cast<const float16*>(scales));
  } else {
    load(reinterpret_cast<const bfloat16*>(scales));
  }
}

/// Loads a lane's words from 512 bytes of a record, which start at step `chunk` *
/// chunk_steps<BITS>.
__device__ __forceinline__ void load_words(std::uint32_t (&words)[4], const unsigned char* record,
                                           int chunk) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const auto vector =
      *reinterpret_cast<const Vector<std::uint32_t, 4>*>(record + (chunk * 32 + lane) * 16);
  RUNG_UNROLL
  for (int w = 0; w < 4; ++w) words[w] = vector.at[w];
}

/// unpack_fragment()'s minus_zero for the zero points of a lane's two rows: the negated sum of base
/// and zero point, first for row lane / 4, whose elements are the low bits, then for the row 8
/// below, whose elements are the high bits.
template <class In>
__device__ __forceinline__ void minus_zeros_of(std::uint32_t (&minus_zeros)[2],
                                               const std::uint32_t (&zeros)[2]) {
  using Pair = WeightPair<In, 4>;
  RUNG_UNROLL
  for (int half = 0; half < 2; ++half) {
    minus_zeros[half] = Pair::minus_low + zeros[half] * 0x00010001;
  }
  minus_zeros[1] = ptx::fma_rn_x2<In>(minus_zeros[1], Pair::one, Pair::low_less_high);
}

/// minus_zeros_of() for the k-steps of a record from k. 4-bit elements without zero points have an
/// implicit zero point of 8.
template <class In, int BITS>
__device__ __forceinline__ void load_minus_zeros(std::uint32_t (&minus_zeros)[2],
                                                 const unsigned char* record,
                                                 const RecordForm<BITS>& form, int k) {
  std::uint32_t zeros[2] = {8, 8};
  if (form.has_zeros) {
    const unsigned char* const from = record + form.zeros_at +
                                      form.group_of(k) * WeightLayout::rows +
                                      static_cast<int>(threadIdx.x) % 32 / 4;
    zeros[0] = from[0];
    zeros[1] = from[8];
  }
  minus_zeros_of<In>(minus_zeros, zeros);
}

/// Unpacks the four fragments of half a record (64 k-steps, 16 each) from a lane's words.
template <int HALF, class In, int BITS, int CHUNKS>
__device__ __forceinline__ void unpack_half(std::uint32_t (&fragments)[4][4],
                                            const Vector<std::uint32_t, 4> (&words)[CHUNKS],
                                            const unsigned char* record,
                                            const RecordForm<BITS>& form) {
  std::uint32_t minus_zeros[2] = {};
  if constexpr (BITS == 4) {
    load_minus_zeros<In>(minus_zeros, record, form, HALF * WeightLayout::steps / 2);
  }
  RUNG_UNROLL
  for (int chunk = 0; chunk < CHUNKS; ++chunk) {
    constexpr int EACH = 4 / CHUNKS;
    unpack_fragment<In, BITS, 0>(fragments[chunk * EACH], words[chunk].at, minus_zeros);
    unpack_fragment<In, BITS, 16>(fragments[chunk * EACH + 1], words[chunk].at, minus_zeros);
    if constexpr (BITS == 4) {
      unpack_fragment<In, BITS, 32>(fragments[2], words[chunk].at, minus_zeros);
      unpack_fragment<In, BITS, 48>(fragments[3], words[chunk].at, minus_zeros);
    }
  }
}

/// acc += scaled sums of a group, in the layout of mma.m16n8k16.
template <int J>
__device__ __forceinline__ void promote(const float (&scales)[2], const float (&sums)[J][4],
                                        float (&acc)[J][4]) {
  RUNG_UNROLL
  for (int j = 0; j < J; ++j) {
    RUNG_UNROLL
    for (int i = 0; i < 4; ++i) acc[j][i] += scales[i / 2] * sums[j][i];
  }
}

/// Loads a lane's words of both halves of the record at a shared-memory address.
template <int CHUNKS>
__device__ __forceinline__ void load_words(Vector<std::uint32_t, 4> (&words)[2][CHUNKS],
                                           std::uint32_t record) {
  RUNG_UNROLL
  for (int half = 0; half < 2; ++half) {
    RUNG_UNROLL
    for (int chunk = 0; chunk < CHUNKS; ++chunk) {
      ptx::ld_shared(words[half][chunk],
                     record + (half * CHUNKS + chunk) * 512 + threadIdx.x % 32 * 16);
    }
  }
}

}  // namespace rung::cuda
