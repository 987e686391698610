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

/// The rows of a box of BM rows of results: at most 104, or all if BM / 8 has no suitable divisor.
constexpr int height_of_boxes(int BM) {
  const int groups = divisor_up_to(13, BM / 8);
  return groups > 3 ? 8 * groups : BM;
}

/// One warpgroup's boxes of 64 columns of C, the 64 rows of a wgmma: BM rows of results, the
/// columns of that wgmma, in boxes of equal height. Rows of a box have 128 bytes, so that two boxes
/// are side by side if results have four bytes.
template <int BM, class Out, int COUNT>
struct TransposedBoxes : BoxesInTurn<Out, 64 * height_of_boxes(BM), COUNT> {
  using Sum = Scalar<Out>;

  static constexpr int HEIGHT = height_of_boxes(BM);
  static constexpr int WIDTH = 128 / sizeof(Out);

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
    this->template store_parts<BM / HEIGHT>(
        barrier,
        [&](Out* boxes, int part) RUNG_INLINE_LAMBDA {
          RUNG_UNROLL
          for (int j = 0; j < HEIGHT / 8; ++j) {
            put(g.alpha, boxes, j * 8, d[part * (HEIGHT / 8) + j]);
          }
        },
        [&](std::uint32_t boxes, int part) RUNG_INLINE_LAMBDA {
          RUNG_UNROLL
          for (int c = 0; c < 64; c += WIDTH) {
            ptx::tma_store_2d(&map, static_cast<int>(col) + c,
                              static_cast<int>(row) + part * HEIGHT,
                              boxes + c / WIDTH * HEIGHT * 128);
          }
        });
  }

 private:
  /// Writes alpha times the warp's 16 x 8 sums, transposed, to the eight rows of the boxes from
  /// `row`.
  static __device__ __forceinline__ void put(const Sum& alpha, Out* boxes, int row,
                                             const Sum (&d)[4]) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warp = static_cast<int>(threadIdx.x) % 128 / 32;
    if constexpr (sizeof(Out) == 2) {
      // Lanes 0 to 7 have the addresses of the first eight columns, 8 to 15 of the others.
      const int col = warp * 16 + lane / 8 % 2 * 8;
      const auto pair = [&](const Sum& first, const Sum& second) {
        return static_cast<std::uint32_t>(static_cast<Out>(alpha * first).bits) |
               static_cast<std::uint32_t>(static_cast<Out>(alpha * second).bits) << 16;
      };
      ptx::stmatrix_x2_transposed(
          ptx::cvta_to_shared(boxes + index_in_box<Out>(row + lane % 8, col)), pair(d[0], d[1]),
          pair(d[2], d[3]));
    } else {
      // The 32 lanes, eight columns of four rows, have different banks.
      Out* const box = boxes + warp / 2 * HEIGHT * WIDTH;
      const int col = warp % 2 * 16 + accumulator_row();
      RUNG_UNROLL
      for (int i = 0; i < 4; ++i) {
        box[index_in_box<Out>(row + accumulator_col() + i % 2, col + i / 2 * 8)] =
            static_cast<Out>(alpha * d[i]);
      }
    }
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
