#pragma once
// C as an additional operand: if results depend on C, TMA loads a tile of C through the pipeline's
// stages after the last k-block, so that it arrives while the tensor cores still multiply.

#include <cstdint>

#include "device/cuda/epilogue/tma_store.cuh"
#include "device/cuda/ptx/sm_90.cuh"

namespace rung::cuda {

/// Columns of C in one stage, which has 128 bytes per row.
template <class Out>
inline constexpr int staged_columns = 128 / sizeof(Out);

/// How a kernel handles C. Determined before the first tile, because tensor cores would wait for it
/// at the end of a tile.
template <class Out>
struct CStages {
  bool has_boxes;     // TMA can copy C
  bool is_read;       // results depend on C; if k is split, the reduction reads C instead
  Scalar<Out> scale;  // factor for stored sums: add_staged_c() has already scaled them

  template <class In>
  __device__ __forceinline__ explicit CStages(const Gemm<In, Out>& g)
      : has_boxes(has_boxes_of_c(g)),
        is_read(g.beta != Scalar<Out>{} && has_boxes),
        scale(is_read ? Scalar<Out>{1} : g.alpha) {}
};

#ifdef RUNG_HOST

// Only declared for kernel templates; the host never calls it.
template <int ROWS>
void load_staged_c(std::uint32_t stage, const EncodedTensorMap& map, int row, int col,
                   std::uint32_t barrier);

#else

/// One thread starts to load ROWS rows of C, in boxes of 64 rows, from element (row, col). The
/// bytes complete at an mbarrier.
template <int ROWS>
__device__ __forceinline__ void load_staged_c(std::uint32_t stage, const EncodedTensorMap& map,
                                              int row, int col, std::uint32_t barrier) {
  RUNG_UNROLL
  for (int r = 0; r < ROWS; r += 64) ptx::tma_load_2d(stage + r * 128, &map, col, row + r, barrier);
}

#endif

/// Converts a warpgroup's sums in the columns of one box, starting at column 8 j, to results by
/// adding the elements of C in the box. Does not round them to Out.
template <class In, class Out, int J>
__device__ __forceinline__ void add_staged_c(const Gemm<In, Out>& g, const Out* box, int j,
                                             Scalar<Out> (&sums)[J][4]) {
  using Sum = Scalar<Out>;
  const auto add = [&](const Out* pair, Sum& first, Sum& second) RUNG_INLINE_LAMBDA {
    const auto c = *reinterpret_cast<const Vector<Out, 2>*>(pair);
    first = g.alpha * first + g.beta * static_cast<Sum>(c.at[0]);
    second = g.alpha * second + g.beta * static_cast<Sum>(c.at[1]);
  };
  RUNG_UNROLL
  for (int i = 0; i < staged_columns<Out> / 8; ++i) {
    const Out* const mine = box + my_index_in_box<Out>(i * 8);
    add(mine, sums[j + i][0], sums[j + i][1]);
    add(mine + 8 * staged_columns<Out>, sums[j + i][2], sums[j + i][3]);
  }
  // sync: all lanes of the warp have read the box
  ptx::bar_warp_sync();
}

}  // namespace rung::cuda
