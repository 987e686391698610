#pragma once
// Stores the accumulators of wgmma instructions that compute the transpose of a tile of C.

#include <cstdint>
#include <type_traits>

#include "device/cuda/epilogue/equal_boxes.cuh"
#include "device/cuda/epilogue/tma_store.cuh"
#include "device/cuda/load/tma_load.cuh"
#include "device/cuda/ptx/basic.cuh"
#include "device/cuda/ptx/sm_90.cuh"
#include "device/cuda/ptx/stmatrix.cuh"

namespace rung::cuda {

/// One warpgroup's boxes of 64 columns of C, the 64 rows of a wgmma: BM rows of results, the
/// columns of that wgmma, in boxes of equal height. COUNT boxes are in use in turn. Results have two
/// bytes.
template <int BM, class Out, int COUNT>
struct TransposedBoxes {
  static_assert(sizeof(Out) == 2);
  using Sum = Scalar<Out>;

  /// The groups of eight rows in a box: all, if their number has no suitable divisor.
  static constexpr int groups() {
    for (int groups = 13; groups > 3; --groups) {
      if (BM / 8 % groups == 0) return groups;
    }
    return BM / 8;
  }
  static constexpr int HEIGHT = 8 * groups();  // rows per box
  alignas(1024) Out at[COUNT][HEIGHT * 64];

  /// The tensor map of C, or none if TMA cannot store C.
  template <class In>
  static TensorMapSpec map(const Gemm<In, Out>& g) {
    return has_boxes_of_c(g) ? tensor_map_of_c(g, HEIGHT) : TensorMapSpec{};
  }

  /// Stores alpha times the sums d of one wgmma, whose element (i, j) is element (col + j, row + i)
  /// of C: by TMA if `by_tma`, which reads the boxes until wait(). `barrier` is a named barrier of
  /// this warpgroup.
  template <class In>
  __device__ __forceinline__ void store(const Gemm<In, Out>& g, const EncodedTensorMap& map,
                                        std::int64_t col, std::int64_t row,
                                        const Sum (&d)[BM / 8][4], int barrier, bool by_tma) {
    if (!by_tma) return store_by_threads(g, row, col, d);
    const bool sends = threadIdx.x % 128 == 0;
    RUNG_UNROLL
    for (int first = 0; first < BM / 8; first += groups()) {
      Out* const box = at[first / groups() % COUNT];
      // sync: TMA has read the previous contents of the box
      if (sends) ptx::tma_store_wait_group_read<COUNT - 1>();
      ptx::bar_sync(barrier, 128);

      RUNG_UNROLL
      for (int j = 0; j < groups(); ++j) put(g.alpha, box, j * 8, d[first + j]);

      // sync: the box is complete and visible to the async proxy
      ptx::fence_proxy_async();
      ptx::bar_sync(barrier, 128);
      if (!sends) continue;
      ptx::tma_store_2d(&map, static_cast<int>(col), static_cast<int>(row) + first * 8,
                        ptx::cvta_to_shared(box));
      ptx::tma_store_commit_group();
    }
  }

  /// The warpgroup waits until TMA has read the boxes. Call it before the block ends.
  __device__ __forceinline__ void wait() const {
    if (threadIdx.x % 128 == 0) ptx::tma_store_wait_group_read<0>();
  }

 private:
  /// Writes alpha times the warp's 16 x 8 sums, transposed, to the eight rows of a box from `row`.
  static __device__ __forceinline__ void put(const Sum& alpha, Out* box, int row,
                                             const Sum (&d)[4]) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warp = static_cast<int>(threadIdx.x) % 128 / 32;
    // Lanes 0 to 7 have the addresses of the first eight columns, 8 to 15 of the others.
    const int col = warp * 16 + lane / 8 % 2 * 8;
    const auto pair = [&](const Sum& first, const Sum& second) {
      return static_cast<std::uint32_t>(static_cast<Out>(alpha * first).bits) |
             static_cast<std::uint32_t>(static_cast<Out>(alpha * second).bits) << 16;
    };
    ptx::stmatrix_x2_transposed(ptx::cvta_to_shared(box + index_in_box<Out>(row + lane % 8, col)),
                                pair(d[0], d[1]), pair(d[2], d[3]));
  }

  template <class In>
  static __device__ __forceinline__ void store_by_threads(const Gemm<In, Out>& g, std::int64_t row,
                                                          std::int64_t col,
                                                          const Sum (&d)[BM / 8][4]) {
    const int warp = static_cast<int>(threadIdx.x) % 128 / 32;
    RUNG_UNROLL
    for (int j = 0; j < BM / 8; ++j) {
      RUNG_UNROLL
      for (int i = 0; i < 4; ++i) {
        const std::int64_t c_row = row + j * 8 + accumulator_col() + i % 2;
        const std::int64_t c_col = col + warp * 16 + accumulator_row() + i / 2 * 8;
        if (c_row < g.m && c_col < g.n) cuda::store(g, c_row, c_col, d[j][i]);
      }
    }
  }
};

/// The boxes of a product with BN columns or, if TRANSPOSED, with BN rows of C.
template <int BN, class Out, int COUNT, bool TRANSPOSED>
using BoxesOfResults =
    std::conditional_t<TRANSPOSED, TransposedBoxes<BN, Out, COUNT>, EqualBoxes<BN, Out, COUNT>>;

}  // namespace rung::cuda
