#pragma once
// Converts exact sums of products of residues to results. Each thread stores the residues of its
// elements of C in global memory, where only it reads them, until it has those of all moduli.

#include <cstdint>

#include "core/problem.hpp"
#include "core/residues.hpp"
#include "device/cuda/entry/launch.hpp"
#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/library/split_operand.hpp"
#include "device/cuda/ptx/sums.cuh"
#include "device/cuda/ptx/warp.cuh"
#include "device/cuda/tile/operand.cuh"

namespace rung::cuda {

/// The sums of one warpgroup (of THREADS / 128): 64 rows and 8 J columns.
template <int J, int THREADS>
class ResidueSums {
  static constexpr int WIDTH = 16;  // residues per vector: eight fragments, one row each
  static constexpr int VECTORS = 4 * J / WIDTH;
  static_assert(J % 8 == 0);
  using Words = Vector<std::uint32_t, WIDTH / 4>;

 public:
  /// `thread`: in [0, THREADS). `room`: 4 J THREADS bytes for each modulus.
  __device__ __forceinline__ ResidueSums(void* room, int thread)
      : mine_(static_cast<Words*>(room) + thread) {}

  /// Reduces sums by a modulus in place, so that more k-steps can be added.
  static __device__ __forceinline__ void reduce(const residues::Divisor& by,
                                                std::int32_t (&sums)[J][4]) {
    RUNG_UNROLL
    for (int j = 0; j < J; ++j) {
      RUNG_UNROLL
      for (int i = 0; i < 4; ++i) sums[j][i] = by.rest(sums[j][i]);
    }
  }

  /// Stores the residues of sums for a modulus.
  __device__ __forceinline__ void keep(int modulus, const std::int32_t (&rests)[J][4]) const {
    RUNG_UNROLL
    for (int vector = 0; vector < VECTORS; ++vector) {
      Words words;
      RUNG_UNROLL
      for (int w = 0; w < WIDTH / 4; ++w) {
        const auto& first = rests[vector / 2 * 8 + 2 * w];
        const auto& second = rests[vector / 2 * 8 + 2 * w + 1];
        const int i = vector % 2 * 2;
        words.at[w] = static_cast<std::uint32_t>(first[i] | first[i + 1] << 8 | second[i] << 16 |
                                                 second[i + 1] << 24);
      }
      mine_[(modulus * VECTORS + vector) * THREADS] = words;
    }
  }

  /// Computes the elements of C from (row, col) from their residues and stores them.
  __device__ __forceinline__ void store(const Gemm<double>& g, const OperandScales& scales,
                                        std::int64_t row, std::int64_t col) const {
    row += static_cast<int>(threadIdx.x) % 128 / 32 * 16 + accumulator_row();
    col += accumulator_col();
    RUNG_NO_UNROLL
    for (int vector = 0; vector < VECTORS; ++vector) {
      Words words[residues::count];
      RUNG_UNROLL
      for (int modulus = 0; modulus < residues::count; ++modulus) {
        words[modulus] = mine_[(modulus * VECTORS + vector) * THREADS];
      }
      const std::int64_t my_row = row + vector % 2 * 8;
      const std::int64_t my_col = col + vector / 2 * WIDTH / 2 * 8;
      const OperandScale of_a = scale_at(scales.a, my_row, g.m);
      bool any_lost = false;
      RUNG_UNROLL
      for (int pair = 0; pair < WIDTH / 2; ++pair) {
        double results[2];
        bool is_lost = of_a.loss > 0;
        RUNG_UNROLL
        for (int i = 0; i < 2; ++i) {
          const OperandScale of_b = scale_at(scales.b, my_col + pair * 8 + i, g.n);
          residues::Recovery sum;
          residues::for_each_modulus([&]<int I>() RUNG_INLINE_LAMBDA {
            sum.add<I>(words[I].at[pair / 2] >> (pair % 2 * 16 + 8 * i) & 255);
          });
          results[i] = residues::in_units(sum.integer(), of_a.exponent, of_b.exponent);
          is_lost |= of_b.loss > 0;
        }
        any_lost |= is_lost;
        store_pair(g, is_lost ? g.m : my_row, my_col + pair * 8, results[0], results[1]);
      }
      if (ptx::vote_ballot(any_lost) != 0) compute_again(g, scales, my_row, my_col);
    }
  }

 private:
  static __device__ __forceinline__ OperandScale scale_at(const OperandScale* scales,
                                                          std::int64_t i, std::int64_t count) {
    const bool exists = i < count && scales != nullptr;  // null if k is 0
    return exists ? scales[i] : OperandScale{0, 0.0f, 0.0f, 0.0f};
  }

  /// Recomputes, as sums of products of doubles, the elements of a vector at (row, col) whose row
  /// or column is not finite. The warp processes its lanes' elements one after another.
  static __device__ __forceinline__ void compute_again(const Gemm<double>& g,
                                                       const OperandScales& scales,
                                                       std::int64_t row, std::int64_t col) {
    const int my_lane = static_cast<int>(threadIdx.x) % 32;
    const OperandScale of_a = scale_at(scales.a, row, g.m);
    RUNG_NO_UNROLL
    for (int pair = 0; pair < WIDTH / 2; ++pair, col += 8) {
      const float loss =
          of_a.loss + scale_at(scales.b, col, g.n).loss + scale_at(scales.b, col + 1, g.n).loss;
      std::uint32_t lanes = ptx::vote_ballot(loss > 0 && row < g.m && col < g.n);
      RUNG_NO_UNROLL
      for (int lane = 0; lanes != 0; ++lane, lanes >>= 1) {
        if ((lanes & 1) == 0) continue;
        const std::int64_t its_row = row + lane / 4 - my_lane / 4;
        const std::int64_t its_col = col + lane % 4 * 2 - my_lane % 4 * 2;
        RUNG_NO_UNROLL
        for (int i = 0; i < 2 && its_col + i < g.n; ++i) {
          const double sum = sum_of_warp(g, its_row, its_col + i, my_lane);
          if (lane == my_lane) cuda::store(g, row, col + i, sum);
        }
      }
    }
  }

  /// The sum of a row times a column, computed by the warp and returned in all lanes.
  static __device__ __forceinline__ double sum_of_warp(const Gemm<double>& g, std::int64_t row,
                                                       std::int64_t col, int my_lane) {
    double sum = 0;
    RUNG_NO_UNROLL
    for (std::int64_t k = my_lane; k < g.k; k += 32) sum += g.a(row, k) * g.b(k, col);
    RUNG_UNROLL
    for (unsigned by = 16; by > 0; by /= 2) sum += ptx::shfl_down(sum, by);
    return ptx::shfl_idx(sum, 0);
  }

  Words* mine_;
};

}  // namespace rung::cuda
