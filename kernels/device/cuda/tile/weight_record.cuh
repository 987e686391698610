#pragma once
// A warp's part of a record of packed weights (device/weight_layout.hpp): 16-bit fragments of small
// integers, which are exact, and the scales of its rows.

#include <cstdint>

#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/half_pairs.cuh"
#include "device/cuda/types.cuh"
#include "device/weight_layout.hpp"

namespace rung::cuda {

/// 16-bit numbers whose last bit counts 1: 128 in bfloat16, 1024 in float16. Low bits of such a
/// number are replaced by an element, and subtracting the number leaves the element.
template <class In>
struct HalfPair;
template <>
struct HalfPair<bfloat16> {
  static constexpr std::uint32_t one = 0x3f803f80, base = 0x43004300, minus_base = 0xc300c300;
};
template <>
struct HalfPair<float16> {
  static constexpr std::uint32_t one = 0x3c003c00, base = 0x64006400, minus_base = 0xe400e400;
};

/// The most bytes of a record: those of float scales and zero points of two groups.
template <int BITS>
inline constexpr int most_record_bytes = WeightLayout::rows * WeightLayout::steps * BITS / 8 + 160;

/// What kernels need of a WeightLayout again and again, without its divisions.
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

  /// That of step k of a record, and whether one ends before step k.
  __device__ __forceinline__ int group_of(int k) const {
    return has_two_groups ? k / (WeightLayout::steps / 2) : 0;
  }
  __device__ __forceinline__ bool ends_before(int k) const {
    return k == WeightLayout::steps || (has_two_groups && k == WeightLayout::steps / 2);
  }
};

/// Steps of k in 512 bytes of a record.
template <int BITS>
inline constexpr int chunk_steps = 256 / BITS;

/// The fragment of 16 rows and 16 steps from a lane's words of a chunk. STEP: 0, 16, …
/// `minus_zero`: of each row, the base of HalfPair plus the zero point, negative; for 4 bits.
template <class In, int BITS, int STEP>
__device__ __forceinline__ void unpack_fragment(std::uint32_t (&fragment)[4],
                                                const std::uint32_t (&words)[4],
                                                const std::uint32_t (&minus_zero)[2]) {
  using Pair = HalfPair<In>;
  if constexpr (BITS == 4) {
    RUNG_UNROLL
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t element =
          ptx::and_or(words[STEP / 16] >> (4 * i), 0x000f000f, Pair::base);
      fragment[i] = ptx::fma_rn_x2<In>(element, Pair::one, minus_zero[i % 2]);
    }
  } else {
    // Two's complement: seven bits, less 128 times the eighth.
    RUNG_UNROLL
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t element = words[STEP / 8 + i / 2] >> (8 * (i % 2));
      fragment[i] = ptx::fma_rn_x2<In>(ptx::and_or(element, 0x007f007f, Pair::base), Pair::one,
                                       ptx::and_or(element, 0x00800080, Pair::minus_base));
    }
  }
}

/// The record of 16 rows and the steps from k on. Beyond the last rows, it is that of the last ones,
/// whose results are not stored.
__device__ __forceinline__ const unsigned char* record_of(const unsigned char* weights,
                                                          const WeightLayout& layout,
                                                          std::int64_t row_tile, std::int64_t k) {
  const std::int64_t last = layout.row_tiles() - 1;
  return weights + layout.record_at(row_tile < last ? row_tile : last, k / WeightLayout::steps);
}

/// The scales of a lane's two rows, lane / 4 and 8 below, for a group of a record.
template <int BITS>
__device__ __forceinline__ void load_scales(float (&to)[2], const unsigned char* record,
                                            const RecordForm<BITS>& form, int group) {
  const unsigned char* const scales = record + form.scales_at;
  const int at = group * WeightLayout::rows + static_cast<int>(threadIdx.x) % 32 / 4;
  const auto load = [&]<class T>(const T* of_type) RUNG_INLINE_LAMBDA {
    to[0] = static_cast<float>(of_type[at]);
    to[1] = static_cast<float>(of_type[at + 8]);
  };
  if (form.scale == WeightScale::f32) {
    load(reinterpret_cast<const float*>(scales));
  } else if (form.scale == WeightScale::f16) {
    load(reinterpret_cast<const float16*>(scales));
  } else {
    load(reinterpret_cast<const bfloat16*>(scales));
  }
}

/// The words of 512 bytes of a record, from `chunk` * chunk_steps<BITS> on, that a lane has.
__device__ __forceinline__ void load_words(std::uint32_t (&words)[4], const unsigned char* record,
                                           int chunk) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const auto vector =
      *reinterpret_cast<const Vector<std::uint32_t, 4>*>(record + (chunk * 32 + lane) * 16);
  RUNG_UNROLL
  for (int w = 0; w < 4; ++w) words[w] = vector.at[w];
}

/// unpack_fragment()'s minus_zero of a lane's two rows, for the steps of a record from k on. Without zero
/// points, elements of 4 bits have 8.
template <class In, int BITS>
__device__ __forceinline__ void load_minus_zeros(std::uint32_t (&minus_zero)[2],
                                                 const unsigned char* record,
                                                 const RecordForm<BITS>& form, int k) {
  const int row = static_cast<int>(threadIdx.x) % 32 / 4;
  RUNG_UNROLL
  for (int half = 0; half < 2; ++half) {
    std::uint32_t zero = 8;
    if (form.has_zeros) {
      zero = record[form.zeros_at + form.group_of(k) * WeightLayout::rows + row + half * 8];
    }
    minus_zero[half] = HalfPair<In>::minus_base + zero * 0x00010001;
  }
}

/// The fragments of a whole record, for each 16 steps one.
template <class In, int BITS>
__device__ __forceinline__ void unpack_record(
    std::uint32_t (&fragments)[WeightLayout::steps / 16][4], const unsigned char* record,
    const RecordForm<BITS>& form) {
  constexpr int CHUNK = chunk_steps<BITS>;
  RUNG_UNROLL
  for (int k = 0; k < WeightLayout::steps; k += CHUNK) {
    std::uint32_t words[4], minus_zero[2] = {};
    load_words(words, record, k / CHUNK);
    if constexpr (BITS == 4) load_minus_zeros<In>(minus_zero, record, form, k);
    unpack_fragment<In, BITS, 0>(fragments[k / 16], words, minus_zero);
    unpack_fragment<In, BITS, 16>(fragments[k / 16 + 1], words, minus_zero);
    if constexpr (BITS == 4) {
      unpack_fragment<In, BITS, 32>(fragments[k / 16 + 2], words, minus_zero);
      unpack_fragment<In, BITS, 48>(fragments[k / 16 + 3], words, minus_zero);
    }
  }
}

/// acc += sums times the scales of a group, as mma.m16n8k16 has them.
template <int BITS, int J>
__device__ __forceinline__ void promote(const unsigned char* record, const RecordForm<BITS>& form,
                                        int group, const float (&sums)[J][4], float (&acc)[J][4]) {
  float scales[2];
  load_scales(scales, record, form, group);
  RUNG_UNROLL
  for (int j = 0; j < J; ++j) {
    RUNG_UNROLL
    for (int i = 0; i < 4; ++i) acc[j][i] += scales[i / 2] * sums[j][i];
  }
}

}  // namespace rung::cuda
