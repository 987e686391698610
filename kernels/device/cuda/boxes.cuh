#pragma once
// The matrices of a problem as boxes, for TMA, and how a thread asks for a tile of them.

#include <cstdint>

#include "core/problem.hpp"
#include "device/cuda/launch.hpp"
#include "device/cuda/operand.cuh"
#include "device/cuda/ptx_tma.cuh"

namespace rung::cuda {

template <class In>
inline constexpr bool is_tf32 = false;
template <>
inline constexpr bool is_tf32<tfloat32> = true;

/// An operand as extent x k, whose tiles are SwizzledLines: boxes of 128 bytes of steps and
/// `box_extent` rows or columns, or of 64 and 64.
template <class In>
constexpr Boxes boxes_of(const Matrix<const In>& x, std::int64_t extent, std::int64_t k,
                         int box_extent) {
  constexpr int LINE = 128 / sizeof(In);
  const bool lies_along_k = x.col_stride == 1;
  const bool along_k = lies_along_k || is_read_along_k<In>;
  return {.data = x.data,
          .element_bytes = sizeof(In),
          .length = along_k ? k : extent,
          .lines = along_k ? extent : k,
          .ld = lies_along_k ? x.row_stride : x.col_stride,
          .box_length = LINE,
          .box_lines = along_k ? box_extent : LINE,
          .is_transposed = along_k != lies_along_k,
          .is_tf32 = is_tf32<In>};
}

template <class In, class Out>
constexpr Boxes boxes_of_a(const Gemm<In, Out>& g, int box_extent) {
  return boxes_of(g.a, g.m, g.k, box_extent);
}
template <class In, class Out>
constexpr Boxes boxes_of_b(const Gemm<In, Out>& g, int box_extent) {
  return boxes_of(g.b.transposed(), g.n, g.k, box_extent);
}

/// Boxes of 128 bytes of a row.
template <class In, class Out>
constexpr Boxes boxes_of_c(const Gemm<In, Out>& g, int box_rows) {
  return {.data = g.c.data,
          .element_bytes = sizeof(Out),
          .length = g.n,
          .lines = g.m,
          .ld = g.c.row_stride,
          .box_length = 128 / sizeof(Out),
          .box_lines = box_rows};
}

#ifdef RUNG_HOST

// Declared for kernel templates to name, defined nowhere.
template <int EXTENT>
void load_tile(std::uint32_t tile, const EncodedBoxes& map, bool along_k, int e, int k,
               std::uint32_t barrier);
template <int EXTENT>
void load_tile_for(std::uint16_t blocks, std::uint32_t tile, const EncodedBoxes& map, bool along_k,
                   int e, int k, std::uint32_t barrier);

#else

/// By one thread: the tile that begins at row or column e and step k comes, and its bytes complete
/// at a barrier.
template <int EXTENT>
__device__ __forceinline__ void load_tile(std::uint32_t tile, const EncodedBoxes& map, bool along_k,
                                          int e, int k, std::uint32_t barrier) {
  if (along_k) {
    ptx::tma_load_2d(tile, &map, k, e, barrier);
  } else {
    RUNG_UNROLL
    for (int part = 0; part < EXTENT; part += 64) {
      ptx::tma_load_2d(tile + part * 128, &map, e + part, k, barrier);
    }
  }
}

/// The same for each block of the cluster whose bit is set in `blocks`.
template <int EXTENT>
__device__ __forceinline__ void load_tile_for(std::uint16_t blocks, std::uint32_t tile,
                                              const EncodedBoxes& map, bool along_k, int e, int k,
                                              std::uint32_t barrier) {
  if (along_k) {
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
