#pragma once
// Panels of the short operand of a product with few rows or columns, in shared memory.

#include <cstdint>

#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/basic.cuh"
#include "device/cuda/tile/operand.cuh"
#include "device/cuda/tile/skinny_problem.cuh"
#include "device/cuda/tile/skinny_words.cuh"
#include "device/cuda/types.cuh"

namespace rung::cuda {

/// STEPS k-steps of each of ROWS rows, copied by THREADS threads.
template <class In, int ROWS, int STEPS, int THREADS>
struct SkinnyPanel {
  static constexpr int W = vector_width<In>;
  static constexpr int PITCH = STEPS + 4 * W;  // two rows by four vectors are in different banks

  alignas(16) In elements[ROWS * PITCH];

  /// Four words of a row from step t, a multiple of W.
  __device__ __forceinline__ Words<4> words(int row, int t) const {
    return *reinterpret_cast<const Words<4>*>(elements + row * PITCH + t);
  }

  /// Starts to copy `rows` rows from s0 (a multiple of 8) with `steps` k-steps from k0. Pads with
  /// zeros outside the operand and up to `filled` k-steps (a multiple of W). Forms one group of
  /// asynchronous copies.
  __device__ __forceinline__ void copy(const Operand<In>& operand, std::int64_t s0, std::int64_t k0,
                                       int rows, int steps, int filled) {
    const auto& x = operand.x;
    const In* const from = &x(s0, k0);
    const int left = operand.extent - s0 < rows ? static_cast<int>(operand.extent - s0) : rows;
    const bool is_k_major = x.col_stride == 1;
    if (is_k_major && x.row_stride % W == 0 && reinterpret_cast<std::uintptr_t>(x.data) % 16 == 0) {
      copy_vectors(from, x.row_stride, rows, left, steps, filled / W);
    } else {
      copy_elements(from, x.row_stride, x.col_stride, rows, left, steps, filled / W);
    }
    ptx::cp_async_commit_group();
  }

 private:
  /// Copies `vectors` vectors of each row; only `left` rows exist.
  __device__ __forceinline__ void copy_vectors(const In* from, std::int64_t row_stride, int rows,
                                               int left, int steps, int vectors) {
    constexpr int SIZE = sizeof(In);
    const std::uint32_t to = ptx::cvta_to_shared(elements);
    for (int i = static_cast<int>(threadIdx.x); i < rows * vectors; i += THREADS) {
      const int s = i / vectors, t = i % vectors * W;
      const int count = s < left && t < steps ? (steps - t < W ? steps - t : W) : 0;
      ptx::cp_async<16>(to + static_cast<std::uint32_t>((s * PITCH + t) * SIZE),
                        count > 0 ? from + s * row_stride + t : from, count * SIZE);
    }
  }

  /// Adjacent threads load adjacent elements in memory.
  __device__ RUNG_NO_INLINE void copy_elements(const In* from, std::int64_t row_stride,
                                               std::int64_t col_stride, int rows, int left,
                                               int steps, int vectors) {
    constexpr int AT_ONCE = 2;  // vectors in flight per thread
    const bool is_k_major = col_stride == 1;
    for (int first = static_cast<int>(threadIdx.x); first < rows * vectors;
         first += AT_ONCE * THREADS) {
      Words<4> loaded[AT_ONCE];
      int at[AT_ONCE];
      RUNG_UNROLL
      for (int v = 0; v < AT_ONCE; ++v) {
        const int i = first + v * THREADS;
        const int s = is_k_major ? i / vectors : i % rows;
        const int t = (is_k_major ? i % vectors : i / rows) * W;
        at[v] = s * PITCH + t;
        loaded[v] = load_words<sizeof(In), 4>(from + s * row_stride + t * col_stride,
                                              s < left ? steps - t : 0, col_stride);
      }
      RUNG_UNROLL
      for (int v = 0; v < AT_ONCE; ++v) {
        if (first + v * THREADS < rows * vectors) {
          *reinterpret_cast<Words<4>*>(elements + at[v]) = loaded[v];
        }
      }
    }
  }
};

/// Two panels of ROWS rows: one is copied while the other is multiplied. k-steps are processed in
/// chunks of CHUNK, padded with zeros.
template <class In, int ROWS, int CHUNK, int THREADS>
struct SkinnyPanels {
  static constexpr int STEPS = 32768 / static_cast<int>(sizeof(In)) / ROWS;
  static_assert(STEPS % CHUNK == 0);

  SkinnyPanel<In, ROWS, STEPS, THREADS> panels[2];

  /// For each COUNT k-steps of the block's part of k, calls multiply(panel, t), where t is their
  /// position in the panel, and then load(k) for the following k-steps. At the end, the panels are
  /// free.
  template <int COUNT, class Multiply, class Load>
  __device__ __forceinline__ void for_each(const Operand<In>& few, const SkinnyPlace& place,
                                           const Multiply& multiply, const Load& load) {
    static_assert(CHUNK % COUNT == 0);
    const auto steps_from = [&](std::int64_t k) RUNG_INLINE_LAMBDA {
      const std::int64_t left = place.range.end - k;
      return static_cast<int>(left < STEPS ? left : STEPS);
    };
    int next = 0;
    for (std::int64_t k = place.range.begin - STEPS; k < place.range.end; k += STEPS) {
      // sync: a panel is complete, and all reads of the previous one are done
      ptx::cp_async_wait_group<0>();
      __syncthreads();
      const int copied = steps_from(k + STEPS);
      if (copied > 0) {
        panels[next].copy(few, place.few0, k + STEPS, place.rows, copied,
                          (copied + CHUNK - 1) / CHUNK * CHUNK);
      }
      next = 1 - next;
      if (k < place.range.begin) continue;
      const int steps = steps_from(k);
      for (int t = 0; t < steps; t += COUNT) {
        multiply(panels[next], t);
        load(k + t + COUNT);
      }
    }
    // sync: all reads of panels are done
    __syncthreads();
  }
};

}  // namespace rung::cuda
