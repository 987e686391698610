#pragma once
// Applies an epilogue to wgmma accumulators, 64 or 128 columns at a time, and stores the results by
// TMA. Each operation is a uniform branch, so one kernel supports every epilogue.

#include <cstdint>

#include "core/epilogue.hpp"
#include "device/cuda/epilogue/fused_boxes.cuh"
#include "device/cuda/epilogue/fused_parts.cuh"
#include "device/cuda/epilogue/scaled_bias.cuh"
#include "device/cuda/epilogue/split_k_reduction.cuh"
#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/ptx/basic.cuh"
#include "device/cuda/ptx/sm_90.cuh"
#include "device/cuda/tile/operand.cuh"

namespace rung::cuda {

/// A warpgroup's shared memory for results: two or more boxes of 64 rows of 128 bytes.
template <int COUNT>
using FusedBoxes = unsigned char[COUNT][64 * 128];

#ifndef RUNG_HOST

/// The epilogue of one warpgroup for tiles of ROWS x BN sums, in slabs of 64 rows. With one box per
/// 64 x 64 results, the whole tile is stored at once; with two boxes, stores alternate between
/// them.
template <int ROWS, int BN, int BOXES>
class FusedEpilogue {
  static_assert(ROWS % 64 == 0 && BN % 64 == 0);
  // Columns of a slab, the unit of processing. A consumer of 128 rows lacks registers for wider
  // slabs.
  static constexpr int COLS = ROWS == 64 && BN % 128 == 0 ? 128 : 64;
  static constexpr int J = COLS / 8;
  static constexpr bool HAS_GATE = COLS == 128;  // 128 columns of sums give a box of results
  using Sums = float[J][4];

 public:
  using Boxes = FusedBoxes<BOXES>;

  /// `map` and `aux`: tensor maps of C and of the aux output, if any. `boxes` and `bias`: shared
  /// memory of this warpgroup; boxes are aligned to 1024 bytes. `barrier`: a named barrier of the
  /// warpgroup.
  __device__ __forceinline__ FusedEpilogue(const EpilogueArgs& args, const EncodedTensorMap& map,
                                           const EncodedTensorMap& aux, Boxes& boxes,
                                           float (&bias)[BN], int barrier)
      : args_(args),
        map_(map),
        aux_(aux),
        boxes_(boxes),
        bias_(args, bias),
        barrier_(barrier),
        parts_(args) {}

  /// Prefetches a tile's first operands before its sums are computed. is_part: run_part() follows.
  __device__ __forceinline__ void prefetch(std::int64_t row, std::int64_t col, bool is_part) {
    bias_.prefetch(args_, col);
    if (args_.residual.data != nullptr && !is_part) {
      FusedParts::fetch(args_.residual, results_of(row, col, 0), residual_);
    }
  }

  /// Stores the results of a tile whose sums begin at (row, col).
  __device__ __forceinline__ void run(std::int64_t row, std::int64_t col,
                                      float (&acc)[ROWS / 64 * BN / 8][4]) {
    bias_.share(args_);
    // sync: the bias is visible, and TMA has read the boxes of the previous tile
    if (threadIdx.x % 128 == 0) ptx::tma_store_wait_group_read<0>();
    ptx::bar_sync(barrier_, 128);
    // Move the sums of the next slab to the front, so that the code for a slab is compiled only
    // once.
    RUNG_NO_UNROLL
    for (int slab = 0; slab < SLABS; ++slab) {
      Sums& t = reinterpret_cast<Sums&>(acc);
      const float* const bias = bias_.at(col_of(slab));
      if (parts_.is_simple()) {
        add_bias(bias_.factor(), bias, t);
      } else {
        parts_.before_activation(pairs_of(row, col, slab), bias_.factor(), bias, t);
        if (args_.aux.data != nullptr) store_aux(row, col, slab, t);
      }
      if (is_gated()) {
        parts_.gate(t);
      } else {
        parts_.activate(t);
      }
      if (!parts_.is_simple()) {
        if (args_.residual.data != nullptr) {
          parts_.add_residual(residual_, t);
          if (slab + 1 < SLABS) {
            FusedParts::fetch(args_.residual, results_of(row, col, slab + 1), residual_);
          }
        }
        parts_.scale_results(results_of(row, col, slab), t);
      }
      store_slab(row, result_col(col), slab, t);
      if (slab + 1 == SLABS) return;
      RUNG_UNROLL
      for (int j = 0; j < (SLABS - 1) * J; ++j) {
        RUNG_UNROLL
        for (int i = 0; i < 4; ++i) acc[j][i] = acc[j + J][i];
      }
    }
  }

  /// Stores a share of the results of a split-K tile. `acc` holds partial sums.
  __device__ __forceinline__ void run_part(const SplitKReduction<ROWS / 64 * BN / 8>& sums,
                                           std::int64_t row, std::int64_t col,
                                           const float (&acc)[ROWS / 64 * BN / 8][4]) {
    bias_.share(args_);
    sums.reduce(args_.m - row, args_.n - col, acc, barrier_,
                [&](int i, int j, const float(&four)[4]) RUNG_INLINE_LAMBDA {
                  parts_.store_four(row + i, col + j, bias_.factor(), bias_.begin() + j, four);
                });
  }

  /// Call after the last tile.
  __device__ __forceinline__ void finish() const {
    if (threadIdx.x % 128 == 0) ptx::tma_store_wait_group_read<0>();
    parts_.store_largest();
  }

 private:
  static constexpr int SLABS = ROWS / 64 * BN / COLS;  // slabs of 64 x COLS sums per tile
  static constexpr int PARTS = COLS / 64;              // 64 x 64 parts per slab

  static constexpr __device__ int row_of(int slab) { return slab / (BN / COLS) * 64; }
  static constexpr __device__ int col_of(int slab) { return slab % (BN / COLS) * COLS; }

  __device__ __forceinline__ bool is_gated() const { return HAS_GATE && parts_.is_gated(); }
  /// The column of C at which the results for sums from column `col` begin.
  __device__ __forceinline__ std::int64_t result_col(std::int64_t col) const {
    return is_gated() ? col / 2 : col;
  }
  /// The number of 64 x 64 result parts per slab.
  __device__ __forceinline__ int result_parts() const { return is_gated() ? PARTS / 2 : PARTS; }

  /// The positions of this thread's sums, and of its results, in a slab of the tile at (row, col).
  __device__ __forceinline__ PairsOfRows pairs_of(std::int64_t row, std::int64_t col,
                                                  int slab) const {
    return {args_.m, args_.n, row + row_of(slab) + my_row(), col + col_of(slab) + accumulator_col(),
            COLS};
  }
  __device__ __forceinline__ PairsOfRows results_of(std::int64_t row, std::int64_t col,
                                                    int slab) const {
    return {args_.m, result_col(args_.n), row + row_of(slab) + my_row(),
            result_col(col + col_of(slab)) + accumulator_col(), result_parts() * 64};
  }
  static __device__ __forceinline__ int my_row() {
    return static_cast<int>(threadIdx.x) % 128 / 32 * 16 + accumulator_row();
  }

  /// Stores the results of a slab of the tile at (row, col), or keeps them in boxes until more can
  /// be stored with them. 64 x 64 results fill two boxes if they have 4 bytes, and half a box if
  /// they have 1 byte.
  __device__ __forceinline__ void store_slab(std::int64_t row, std::int64_t col, int slab,
                                             const Sums& t) const {
    const auto bytes = static_cast<int>(bytes_of(args_.c.type));
    const int parts = result_parts();
    const int first = slab * parts;
    const bool at_once = stores_at_once(bytes);
    const int half = at_once ? first * bytes : first * bytes % 4;
    // sync: TMA has read the previous contents of the box
    if (args_.aux.data != nullptr) {
      free_boxes<0>();
    } else if (!at_once && first * bytes >= 4 && half % 2 == 0) {
      if (parts * bytes >= 4) {
        free_boxes<0>();
      } else {
        free_boxes<1>();
      }
    }
    RUNG_UNROLL
    for (int part = 0; part < PARTS; ++part) {
      if (part >= parts) break;
      if (bytes == 4 && part > 0) {
        store(map_, bytes, row, col, first, first, 0);
        free_boxes<0>();
      }
      const int to = bytes == 4 ? 0 : half + part * bytes;
      put_results(args_.c.type, box(to / 2), to % 2, part_of(t, part));
    }
    const int last = first + parts - 1;
    if (bytes == 4) {
      store(map_, bytes, row, col, last, last, 0);
    } else if (at_once) {
      if (slab + 1 == SLABS) store(map_, bytes, row, col, 0, last, 0);
    } else if (bytes == 2 || last % 2 == 1) {
      store(map_, bytes, row, col, bytes == 2 ? first : last - 1, last, half / 2);
    }
  }

  /// Stores a slab of the aux output, with 2-byte elements, through boxes that hold no results.
  __device__ __forceinline__ void store_aux(std::int64_t row, std::int64_t col, int slab,
                                            const Sums& t) const {
    const auto bytes = static_cast<int>(bytes_of(args_.c.type));
    const int first = slab * PARTS;
    int first_box = stores_at_once(bytes) ? first : first % 2;
    // In each pair of slabs, 1-byte results of the first wait in a box for those of the second.
    if (bytes == 1 && PARTS == 1) first_box = 1 - slab / 2 % 2;
    // sync: TMA has read the previous contents of the box
    if (slab > 0) free_boxes<0>();
    RUNG_UNROLL
    for (int part = 0; part < PARTS; ++part) {
      put_16_bits(args_.aux.type, box(first_box + part), part_of(t, part));
    }
    store(aux_, 2, row, col, first, first + PARTS - 1, first_box);
  }

  /// True if a whole tile is stored at once. bytes: size of a result.
  static constexpr __device__ bool stores_at_once(int bytes) {
    return SLABS * PARTS <= BOXES && bytes <= 2;
  }

  /// The shared-memory address of a box.
  __device__ __forceinline__ std::uint32_t box(int index) const {
    return ptx::cvta_to_shared(boxes_[0]) + index * int{sizeof boxes_[0]};
  }

  static __device__ __forceinline__ auto part_of(const Sums& t, int part) -> const float (&)[8][4] {
    return reinterpret_cast<const float(&)[8][4]>(t[part * 8]);
  }

  /// Waits until TMA has read the boxes, except those of its last PENDING store groups.
  template <int PENDING>
  __device__ __forceinline__ void free_boxes() const {
    if (threadIdx.x % 128 == 0) ptx::tma_store_wait_group_read<PENDING>();
    ptx::bar_sync(barrier_, 128);
  }

  /// Stores parts `first` to `last` of the tile at (row, col), which are in consecutive boxes from
  /// `first_box`. bytes: size of an element.
  __device__ __forceinline__ void store(const EncodedTensorMap& map, int bytes, std::int64_t row,
                                        std::int64_t col, int first, int last,
                                        int first_box) const {
    // sync: the boxes are complete and visible to the async proxy
    ptx::fence_proxy_async();
    ptx::bar_sync(barrier_, 128);
    if (threadIdx.x % 128 != 0) return;
    std::uint32_t from = box(first_box);
    RUNG_NO_UNROLL
    for (int part = first; part <= last; part += bytes == 1 ? 2 : 1) {
      const int x = static_cast<int>(col) + part % (BN / 64) * 64;
      const int y = static_cast<int>(row) + part / (BN / 64) * 64;
      ptx::tma_store_2d(&map, x, y, from);
      from += sizeof boxes_[0];
      if (bytes == 4 && x + 32 < result_col(args_.n)) ptx::tma_store_2d(&map, x + 32, y, from);
    }
    ptx::tma_store_commit_group();
  }

  const EpilogueArgs& args_;
  const EncodedTensorMap& map_;
  const EncodedTensorMap& aux_;
  Boxes& boxes_;
  ScaledBias<BN> bias_;
  int barrier_;
  FusedParts parts_;
  std::uint32_t residual_[J][2];  // residual of the next slab's columns
};

#endif

}  // namespace rung::cuda
