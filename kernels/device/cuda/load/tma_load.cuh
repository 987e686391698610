#pragma once
// The tensor maps of a problem's matrices, and TMA loads of their tiles.

#include <cstdint>

#include "core/problem.hpp"
#include "device/cuda/entry/launch.hpp"
#include "device/cuda/ptx/sm_90.cuh"
#include "device/cuda/tile/operand.cuh"

namespace rung::cuda {

template <class In>
inline constexpr bool is_tf32 = false;
template <>
inline constexpr bool is_tf32<tfloat32> = true;

/// The tensor map of an extent x k operand, whose tiles are SwizzledTiles. A box has 128 bytes of
/// k-steps of `box_extent` rows or columns or, MN-major, 64 rows or columns of 64 k-steps.
template <class In>
constexpr TensorMapSpec tensor_map_of(const Matrix<const In>& x, std::int64_t extent,
                                      std::int64_t k, int box_extent) {
  constexpr int BK = 128 / sizeof(In);
  const bool is_k_major = x.col_stride == 1;
  const bool read_k_major = is_k_major || requires_k_major<In>;
  return {.data = x.data,
          .element_bytes = sizeof(In),
          .row_length = read_k_major ? k : extent,
          .rows = read_k_major ? extent : k,
          .ld = is_k_major ? x.row_stride : x.col_stride,
          .box_row_length = BK,
          .box_rows = read_k_major ? box_extent : BK,
          .is_transposed = read_k_major != is_k_major,
          .is_tf32 = is_tf32<In>};
}

template <class In, class Out>
constexpr TensorMapSpec tensor_map_of_a(const Gemm<In, Out>& g, int box_extent) {
  return tensor_map_of(g.a, g.m, g.k, box_extent);
}
template <class In, class Out>
constexpr TensorMapSpec tensor_map_of_b(const Gemm<In, Out>& g, int box_extent) {
  return tensor_map_of(g.b.transposed(), g.n, g.k, box_extent);
}

/// The rows of each box of a K-major tile of EXTENT rows, in an operand that has `extent`: SHARE, or
/// a half, quarter or eighth if fewer rows of the last tile are then outside the operand. TMA takes
/// several times as long for a row outside, and a block that waits for these no longer reads the
/// same lines as its neighbours at the same time (docs/notes/cuda-kernels.md, "Rows outside").
template <int EXTENT, int SHARE = EXTENT>
constexpr int rows_of_box(std::int64_t extent) {
  if (EXTENT <= 64) return SHARE;  // a k-block takes less time than several boxes
  const int rest = static_cast<int>(extent % EXTENT);
  int best = SHARE, least = 0;
  for (int boxes = 1; boxes <= 8; boxes *= 2) {
    if (SHARE % (8 * boxes) != 0) continue;
    const int rows = SHARE / boxes;
    const int outside = (rest + rows - 1) / rows * rows - rest;
    // A box takes as long to issue as a few rows.
    const int cost = outside + 8 * boxes;
    if (boxes > 1 && cost >= least) continue;
    best = rows;
    least = cost;
  }
  return best;
}

/// Adds a third dimension for a batch of one product, which the host extends.
constexpr TensorMapSpec of_batch(TensorMapSpec spec) {
  spec.products = 1;
  return spec;
}

/// The tensor map of C. A box has 128 bytes of each of `box_rows` rows.
template <class In, class Out>
constexpr TensorMapSpec tensor_map_of_c(const Gemm<In, Out>& g, int box_rows) {
  return {.data = g.c.data,
          .element_bytes = sizeof(Out),
          .row_length = g.n,
          .rows = g.m,
          .ld = g.c.row_stride,
          .box_row_length = 128 / sizeof(Out),
          .box_rows = box_rows};
}

#ifdef RUNG_HOST

// Only declared for kernel templates; the host never calls them.
template <int EXTENT>
void load_tile(std::uint32_t tile, const EncodedTensorMap& map, bool k_major, int e, int k,
               std::uint32_t barrier);
template <int EXTENT>
void load_boxes(std::uint32_t tile, const EncodedTensorMap& map, bool k_major, int e, int k,
                std::uint32_t barrier, int rows, std::int64_t extent);
template <int EXTENT>
void load_tile_of(int product, std::uint32_t tile, const EncodedTensorMap& map, bool k_major, int e,
                  int k, std::uint32_t barrier);
template <int EXTENT>
void load_tile_multicast(std::uint16_t blocks, std::uint32_t tile, const EncodedTensorMap& map,
                         bool k_major, int e, int k, std::uint32_t barrier);

#else

/// One thread starts to load the tile that begins at row or column e and step k. Its bytes complete
/// at an mbarrier.
template <int EXTENT>
__device__ __forceinline__ void load_tile(std::uint32_t tile, const EncodedTensorMap& map,
                                          bool k_major, int e, int k, std::uint32_t barrier) {
  if (k_major) {
    ptx::tma_load_2d(tile, &map, k, e, barrier);
  } else {
    RUNG_UNROLL
    for (int part = 0; part < EXTENT; part += 64) {
      ptx::tma_load_2d(tile + part * 128, &map, e + part, k, barrier);
    }
  }
}

/// load_tile() in boxes of `rows` rows, if it is K-major. The tile's first box takes the place of
/// boxes outside the `extent` rows of the operand.
template <int EXTENT>
__device__ __forceinline__ void load_boxes(std::uint32_t tile, const EncodedTensorMap& map,
                                           bool k_major, int e, int k, std::uint32_t barrier,
                                           int rows, std::int64_t extent) {
  if constexpr (EXTENT <= 64) {
    load_tile<EXTENT>(tile, map, k_major, e, k, barrier);
  } else {
    if (!k_major) return load_tile<EXTENT>(tile, map, k_major, e, k, barrier);
    RUNG_NO_UNROLL
    for (int row = 0; row < EXTENT; row += rows) {
      ptx::tma_load_2d(tile + row * 128, &map, k, e + row < extent ? e + row : e, barrier);
    }
  }
}

/// load_tile() for one product of a batch.
template <int EXTENT>
__device__ __forceinline__ void load_tile_of(int product, std::uint32_t tile,
                                             const EncodedTensorMap& map, bool k_major, int e,
                                             int k, std::uint32_t barrier) {
  if (k_major) {
    ptx::tma_load_3d(tile, &map, k, e, product, barrier);
  } else {
    RUNG_UNROLL
    for (int part = 0; part < EXTENT; part += 64) {
      ptx::tma_load_3d(tile + part * 128, &map, e + part, k, product, barrier);
    }
  }
}

/// load_tile() into each block of the cluster whose bit is set in `blocks`.
template <int EXTENT>
__device__ __forceinline__ void load_tile_multicast(std::uint16_t blocks, std::uint32_t tile,
                                                    const EncodedTensorMap& map, bool k_major,
                                                    int e, int k, std::uint32_t barrier) {
  if (k_major) {
    ptx::tma_load_2d_multicast(tile, &map, k, e, barrier, blocks);
  } else {
    RUNG_UNROLL
    for (int part = 0; part < EXTENT; part += 64) {
      ptx::tma_load_2d_multicast(tile + part * 128, &map, e + part, k, barrier, blocks);
    }
  }
}

#endif

}  // namespace rung::cuda
