#pragma once
// Results on their way to C by TMA: sums go to shared memory, and from there in boxes.

#include <cstdint>

#include "device/cuda/accumulators.cuh"
#include "device/cuda/boxes.cuh"
#include "device/cuda/ptx.cuh"
#include "device/cuda/ptx_barrier.cuh"
#include "device/cuda/ptx_tma.cuh"
#include "device/cuda/vector.cuh"

namespace rung::cuda {

/// Whether C can be stored so: it is aligned, and nothing of it is read. TMA stores 16 bytes at a
/// time, beyond the end of a row that ends in between.
template <class In, class Out>
constexpr bool leaves_in_boxes(const Gemm<In, Out>& g) {
  return g.beta == Scalar<Out>{} && g.n * sizeof(Out) % 16 == 0 && boxes_of_c(g, 0, 0).is_aligned();
}

/// One warpgroup's boxes of 64 x COLS results, of which COUNT can be on their way at a time.
template <int COLS, int COUNT, class Out = float>
struct ResultBoxes {
  static_assert(COLS * sizeof(Out) == 128, "lines as TMA swizzles them");
  using Sum = Scalar<Out>;
  alignas(1024) Out at[COUNT][64 * COLS];

  /// alpha times the sums of one wgmma, to row `row` and column `col` of C; `barrier` is for this
  /// warpgroup alone. What is stored must stay until wait().
  template <int J>
  __device__ __forceinline__ void store(const EncodedBoxes& map, std::int64_t row, std::int64_t col,
                                        Sum alpha, const Sum (&d)[J][4], int barrier) {
    const bool stores = threadIdx.x % 128 == 0;
    RUNG_UNROLL
    for (int first = 0; first < J; first += COLS / 8) {
      Out* const box = at[first / (COLS / 8) % COUNT];
      // sync: TMA has read what was here
      if (stores) ptx::tma_store_wait_group_read<COUNT - 1>();
      ptx::bar_sync(barrier, 128);

      RUNG_UNROLL
      for (int j = 0; j < COLS / 8; ++j) put(box, j * 8, alpha, d[first + j]);

      // sync: the box is complete, for TMA too
      ptx::fence_proxy_async();
      ptx::bar_sync(barrier, 128);
      if (stores) {
        ptx::tma_store_2d(&map, static_cast<int>(col) + first * 8, static_cast<int>(row),
                          ptx::cvta_to_shared(box));
        ptx::tma_store_commit_group();
      }
    }
  }

  /// By the whole warpgroup, before the block ends: its shared memory is read no longer.
  __device__ __forceinline__ void wait() const {
    if (threadIdx.x % 128 == 0) ptx::tma_store_wait_group_read<0>();
  }

 private:
  /// This lane's elements of 16 x 8 sums, to column `col` of the box.
  static __device__ __forceinline__ void put(Out* box, int col, Sum alpha, const Sum (&d)[4]) {
    constexpr int PIECE = 16 / sizeof(Out);
    const int row = static_cast<int>(threadIdx.x) % 128 / 32 * 16 + accumulator_row();
    col += accumulator_col();
    const int swizzled = (col / PIECE ^ row % 8) * PIECE + col % PIECE;
    Out* const to = box + row * COLS + swizzled;
    *reinterpret_cast<Vector<Out, 2>*>(to) = {static_cast<Out>(alpha * d[0]),
                                              static_cast<Out>(alpha * d[1])};
    *reinterpret_cast<Vector<Out, 2>*>(to + 8 * COLS) = {static_cast<Out>(alpha * d[2]),
                                                         static_cast<Out>(alpha * d[3])};
  }
};

}  // namespace rung::cuda
