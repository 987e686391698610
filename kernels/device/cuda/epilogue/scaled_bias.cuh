#pragma once
// The first operations of every fused epilogue: alpha, the scales of the operands, and a column
// bias.

#include <cstdint>

#include "core/epilogue.hpp"
#include "device/cuda/epilogue/element.cuh"
#include "device/cuda/epilogue/half_pairs.cuh"
#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/basic.cuh"

#ifndef RUNG_HOST

namespace rung::cuda {

/// t = factor * t + bias, where a thread holds two of each 8 columns; `bias` points to its first
/// one.
template <int J>
__device__ __forceinline__ void add_bias(float factor, const float* bias, float (&t)[J][4]) {
  RUNG_UNROLL
  for (int j = 0; j < J; ++j) {
    const auto two = *reinterpret_cast<const Vector<float, 2>*>(bias + j * 8);
    RUNG_UNROLL
    for (int i = 0; i < 4; ++i) t[j][i] = factor * t[j][i] + two.at[i % 2];
  }
}

/// The column bias of a warpgroup's tiles, which have BN columns; zeros if there is no bias.
template <int BN>
class ScaledBias {
 public:
  /// `shared`: shared memory of this warpgroup.
  __device__ __forceinline__ ScaledBias(const EpilogueArgs& args, float (&shared)[BN])
      : shared_(shared) {
    factor_ = static_cast<float>(args.alpha) * scale_of<float>(args.scale_a) *
              scale_of<float>(args.scale_b);
  }

  /// Loads the bias of a tile whose columns begin at `col`, before its sums are computed.
  __device__ __forceinline__ void prefetch(const EpilogueArgs& args, std::int64_t col) {
    const int thread = static_cast<int>(threadIdx.x) % 128;
    RUNG_UNROLL
    for (int i = 0; i < WORDS; ++i) {
      const std::int64_t at = col + i * 128 + thread;
      const bool exists = args.col_bias.data != nullptr && at < args.n;
      bits_[i] = exists ? vector_bits(args.col_bias, at) : 0;
    }
  }

  /// Writes the bias to shared memory, which the warpgroup may read after a barrier.
  __device__ __forceinline__ void share(const EpilogueArgs& args) const {
    const int thread = static_cast<int>(threadIdx.x) % 128;
    RUNG_UNROLL
    for (int i = 0; i < WORDS; ++i) {
      if (i * 128 + thread < BN)
        shared_[i * 128 + thread] = number_of(args.col_bias.type, bits_[i]);
    }
  }

  /// The factor of the sums.
  __device__ __forceinline__ float factor() const { return factor_; }

  /// The bias of the tile's columns.
  __device__ __forceinline__ const float* begin() const { return shared_; }
  /// The bias of a thread's pairs from column `col` of the tile, for add_bias().
  __device__ __forceinline__ const float* at(int col) const {
    return shared_ + col + accumulator_col();
  }

 private:
  static constexpr int WORDS = (BN + 127) / 128;  // words per thread

  float (&shared_)[BN];
  float factor_;
  std::uint32_t bits_[WORDS];  // not converted, to avoid waiting for the loads
};

}  // namespace rung::cuda

#endif
