#pragma once
// Results on their way to C by shared memory: in boxes by TMA, or where that cannot, by threads.

#include <cstdint>

#include "device/cuda/accumulators.cuh"
#include "device/cuda/boxes.cuh"
#include "device/cuda/ptx.cuh"
#include "device/cuda/ptx_barrier.cuh"
#include "device/cuda/ptx_tma.cuh"
#include "device/cuda/store.cuh"

namespace rung::cuda {

/// Whether C can be stored so: it is aligned, and nothing of it is read. TMA stores 16 bytes at a
/// time, beyond the end of a row that ends in between.
template <class In, class Out>
constexpr bool leaves_in_boxes(const Gemm<In, Out>& g) {
  return g.beta == Scalar<Out>{} && g.n * sizeof(Out) % 16 == 0 && boxes_of_c(g, 64).is_aligned();
}

/// One warpgroup's boxes of 64 lines of 128 bytes, for 64 rows of BN results: two take turns, if
/// that comes out even.
template <int BN, class Out = float>
struct ResultBoxes {
  using Sum = Scalar<Out>;
  static constexpr int COUNT = BN * sizeof(Out) % 256 == 0 ? 2 : 1;
  alignas(1024) Out at[COUNT][64 * (128 / sizeof(Out))];

  /// The sums of one wgmma, to row `row` and column `col` of C, which `map` describes; `barrier` is
  /// for this warpgroup alone. What leaves in boxes must stay until wait().
  template <class In, int J>
  __device__ __forceinline__ void store(const Gemm<In, Out>& g, const EncodedBoxes& map,
                                        std::int64_t row, std::int64_t col, const Sum (&d)[J][4],
                                        int barrier) {
    if (leaves_in_boxes(g)) {
      store_by_tma(map, row, col, g.alpha, d, barrier);
    } else {
      store_by_threads(g, row, col, d, barrier);
    }
  }

  /// By the whole warpgroup, before the block ends: its shared memory is read no longer.
  __device__ __forceinline__ void wait() const {
    if (threadIdx.x % 128 == 0) ptx::tma_store_wait_group_read<0>();
  }

 private:
  template <int J>
  __device__ __forceinline__ void store_by_tma(const EncodedBoxes& map, std::int64_t row,
                                               std::int64_t col, Sum alpha, const Sum (&d)[J][4],
                                               int barrier) {
    constexpr int WIDTH = 128 / sizeof(Out) / 8;  // of a box, in eights of columns
    static_assert(J * 8 == BN);
    const bool stores = threadIdx.x % 128 == 0;
    RUNG_UNROLL
    for (int first = 0; first < J; first += WIDTH) {
      Out* const box = at[first / WIDTH % COUNT];
      // sync: TMA has read what was here
      if (stores) ptx::tma_store_wait_group_read<COUNT - 1>();
      ptx::bar_sync(barrier, 128);

      RUNG_UNROLL
      for (int j = 0; j < WIDTH; ++j) put(box, j * 8, alpha, d[first + j]);

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

  /// From a box as well, so that a warp's stores are neighbours in a row of C.
  template <class In, int J>
  __device__ __forceinline__ void store_by_threads(const Gemm<In, Out>& g, std::int64_t row,
                                                   std::int64_t col, const Sum (&d)[J][4],
                                                   int barrier) {
    constexpr int COLS = 128 / sizeof(Sum);
    auto* const box = reinterpret_cast<Sum*>(at[0]);
    RUNG_UNROLL
    for (int first = 0; first < J; first += COLS / 8) {
      // sync: nobody reads what was here any more
      ptx::bar_sync(barrier, 128);
      RUNG_UNROLL
      for (int j = 0; j < COLS / 8; ++j) put(box, j * 8, Sum{1}, d[first + j]);
      // sync: the box is complete
      ptx::bar_sync(barrier, 128);

      RUNG_NO_UNROLL
      for (int i = static_cast<int>(threadIdx.x) % 128; i < 64 * COLS; i += 128) {
        const std::int64_t c_row = row + i / COLS;
        const std::int64_t c_col = col + first * 8 + i % COLS;
        if (c_row < g.m && c_col < g.n) {
          cuda::store(g, c_row, c_col, box[swizzled<Sum>(i / COLS, i % COLS)]);
        }
      }
    }
  }

  /// This thread's elements of 64 x 8 sums, times alpha, to column `col` of the box.
  template <class T>
  static __device__ __forceinline__ void put(T* box, int col, Sum alpha, const Sum (&d)[4]) {
    const int row = static_cast<int>(threadIdx.x) % 128 / 32 * 16 + accumulator_row();
    const std::uint32_t to = ptx::cvta_to_shared(box + swizzled<T>(row, col + accumulator_col()));
    const auto put_pair = [](std::uint32_t pair, T first, T second) {
      if constexpr (sizeof(T) == 2) {
        ptx::st_shared_v2(pair, first.bits, second.bits);
      } else {
        ptx::st_shared_v2(pair, first, second);
      }
    };
    put_pair(to, static_cast<T>(alpha * d[0]), static_cast<T>(alpha * d[1]));
    put_pair(to + 8 * 128, static_cast<T>(alpha * d[2]), static_cast<T>(alpha * d[3]));
  }

  /// Where element (row, col) of a box of T lies: 16-byte pieces of a line change places.
  template <class T>
  static __device__ __forceinline__ int swizzled(int row, int col) {
    constexpr int PIECE = 16 / sizeof(T);
    return row * (128 / sizeof(T)) + (col / PIECE ^ row % 8) * PIECE + col % PIECE;
  }
};

}  // namespace rung::cuda
