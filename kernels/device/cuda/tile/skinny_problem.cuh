#pragma once
// A product with few rows or few columns, as one problem: the operand with few rows, of A or B^T,
// times the one with many.

#include <cstdint>

#include "core/problem.hpp"
#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/mma.cuh"
#include "device/cuda/tile/block_work.cuh"
#include "device/cuda/tile/operand.cuh"
#include "device/cuda/types.cuh"

namespace rung::cuda {

/// An element as a factor: of tf32 with the bits that tensor cores would multiply.
template <class Sum, class In>
__device__ __forceinline__ Sum as_sum(const In& element) {
  if constexpr (requires { element.value; }) {
    return ptx::cvt_rna_tf32(element.value);
  } else {
    return static_cast<Sum>(element);
  }
}

/// Elements of one access to the long operand.
template <class In>
inline constexpr int skinny_width = vector_width<In> < 8 ? vector_width<In> : 8;

/// The tile with the most rows of the short operand: four in f32 and i32, otherwise two. Tensor cores
/// are faster for more, where the elements have them.
template <class In>
inline constexpr int skinny_last_tile = 1;
template <>
inline constexpr int skinny_last_tile<float> = 2;
template <>
inline constexpr int skinny_last_tile<std::uint32_t> = 2;

template <class In, class Out>
struct SkinnyProblem {
  using Sum = Scalar<Out>;

  const Gemm<In, Out>& g;
  Operand<In> few, many;
  std::int64_t few_stride, many_stride;  // of C

  __device__ __forceinline__ explicit SkinnyProblem(const Gemm<In, Out>& problem)
      : g(problem),
        few(operand_a(g)),
        many(operand_b(g)),
        few_stride(g.c.row_stride),
        many_stride(1) {
    if (g.m <= g.n) return;
    few = operand_b(g);
    many = operand_a(g);
    few_stride = 1;
    many_stride = g.c.row_stride;
  }

  /// Whether steps of k of the long operand are contiguous.
  __device__ __forceinline__ bool is_k_major() const { return many.x.col_stride == 1; }

  /// Whether its vectors of skinny_width elements are aligned.
  __device__ __forceinline__ bool has_vectors() const {
    constexpr int W = skinny_width<In>;
    const std::int64_t ld = many.x.row_stride * many.x.col_stride;
    return ld % W == 0 && reinterpret_cast<std::uintptr_t>(many.x.data) % (W * sizeof(In)) == 0;
  }

  /// Calls f(k0, steps) for each STEPS steps of a range. The block has then copied that panel of
  /// ROWS rows of the short operand, from few0 on: step t of row s to panel[s * ROW + t * STEP], and
  /// zeros beyond the edges, up to a multiple of FILL steps.
  template <int ROWS, int STEPS, int ROW, int STEP, int FILL, int THREADS, class F>
  __device__ __forceinline__ void for_each_panel(std::int64_t few0, const KRange& range, Sum* panel,
                                                 const F& f) const {
    static_assert(STEPS % FILL == 0);
    for (std::int64_t k0 = range.begin; k0 < range.end; k0 += STEPS) {
      const int steps = static_cast<int>(range.end - k0 < STEPS ? range.end - k0 : STEPS);
      const int filled = (steps + FILL - 1) / FILL * FILL;
      // sync: all reads of the previous panel are done
      __syncthreads();
      for (int t = static_cast<int>(threadIdx.x); t < filled; t += THREADS) {
        RUNG_UNROLL
        for (int s = 0; s < ROWS; ++s) {
          const bool exists = t < steps && few0 + s < few.extent;
          panel[s * ROW + t * STEP] = exists ? as_sum<Sum>(few.x(few0 + s, k0 + t)) : Sum{};
        }
      }
      // sync: the panel is complete
      __syncthreads();
      f(k0, steps);
    }
  }

  /// Stores the result of two rows.
  __device__ __forceinline__ void store(std::int64_t few_row, std::int64_t many_row,
                                        const Sum& sum) const {
    Out& c = g.c.data[few_row * few_stride + many_row * many_stride];
    c = Epilogue<Out>(g).replace(sum, c);
  }
};

}  // namespace rung::cuda
