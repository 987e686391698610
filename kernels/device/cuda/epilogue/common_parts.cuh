#pragma once
// A fused epilogue for the most common operations on wgmma accumulators: alpha, a column bias, an
// activation, an aux output or a residual, and 16-bit results. The code for each 64 x 64 part is
// unrolled, so that no accumulators move. fused.cuh supports all operations but takes more
// instructions.

#include <cstdint>

#include "core/epilogue.hpp"
#include "device/cuda/epilogue/activation_formula.cuh"
#include "device/cuda/epilogue/half_pairs.cuh"
#include "device/cuda/epilogue/scaled_bias.cuh"
#include "device/cuda/epilogue/split_k_reduction.cuh"
#include "device/cuda/ptx/basic.cuh"
#include "device/cuda/ptx/mma.cuh"
#include "device/cuda/ptx/sm_90.cuh"
#include "device/cuda/ptx/stmatrix.cuh"
#include "device/cuda/ptx/wgmma.cuh"
#include "device/cuda/tile/operand.cuh"

namespace rung::cuda {

/// A warpgroup's shared memory: boxes for 64 x 64 results each, aligned to 1024 bytes, an mbarrier
/// for each box, and the bias of a tile's columns.
template <int BN, int BOXES>
struct CommonEpilogueMemory {
  unsigned char (&boxes)[BOXES][64 * 128];
  std::uint64_t (&loaded)[BOXES];
  float (&bias)[BN];
};

#ifndef RUNG_HOST

/// The epilogue of one warpgroup for tiles of ROWS x BN sums. C, the aux output and the residual
/// have elements of type In. The boxes form a ring: TMA loads the residual to them and stores
/// results from them.
template <int ROWS, int BN, int BOXES, class In>
class CommonEpilogue {
  static_assert(ROWS % 64 == 0 && BN % 64 == 0 && BOXES >= 2);
  static constexpr int PARTS = ROWS / 64 * BN / 64;  // 64 x 64 parts of a tile
  static constexpr int BOX_BYTES = 64 * 128;
  static constexpr bool is_f16 = ptx::is_type<In, float16>;
  using Memory = CommonEpilogueMemory<BN, BOXES>;
  using Sums = float[8][4];

 public:
  /// `map`: tensor map of C. `other`: tensor map of the aux output or the residual, if any.
  /// `barrier`: a named barrier of this warpgroup.
  __device__ __forceinline__ CommonEpilogue(const EpilogueArgs& args, const EncodedTensorMap& map,
                                            const EncodedTensorMap& other, const Memory& memory,
                                            int barrier)
      : args_(args),
        map_(map),
        other_(other),
        memory_(memory),
        barrier_(barrier),
        bias_(args, memory.bias),
        activation_(args.activation) {
    has_aux_ = args.aux.data != nullptr;
    has_residual_ = args.residual.data != nullptr;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int row = static_cast<int>(threadIdx.x) % 128 / 32 * 16 + lane % 16;
    matrices_ = ptx::cvta_to_shared(memory.boxes[0]) + row * 128 + ((lane / 16 ^ row % 8) << 4);
  }

  /// Prefetches a tile's first operands before its sums are computed. is_part: run_part() follows.
  __device__ __forceinline__ void prefetch(std::int64_t row, std::int64_t col, bool is_part) {
    bias_.prefetch(args_, col);
    if (!has_residual_ || is_part || threadIdx.x % 128 != 0) return;
    ptx::tma_store_wait_group_read<0>();
    RUNG_UNROLL
    for (int part = 0; part < BOXES - 1 && part < PARTS; ++part) load_residual(row, col, part);
  }

  /// Stores the results of a tile whose sums begin at (row, col).
  __device__ __forceinline__ void run(std::int64_t row, std::int64_t col,
                                      float (&acc)[ROWS / 64 * BN / 8][4]) {
    const int thread = static_cast<int>(threadIdx.x) % 128;
    bias_.share(args_);
    // sync: the bias is visible, and TMA has read the boxes of the previous tile
    if (thread == 0 && !has_residual_) ptx::tma_store_wait_group_read<0>();
    ptx::bar_sync(barrier_, 128);
    RUNG_UNROLL
    for (int part = 0; part < PARTS; ++part) {
      const bool is_last = part + 1 == PARTS;
      Sums& t = reinterpret_cast<Sums&>(acc[part * 8]);
      const int box = has_aux_ ? (part * 2 + 1) % BOXES : part % BOXES;
      add_bias(bias_.factor(), bias_.at(col_of(part)), t);
      if (has_aux_) {
        const int aux_box = part * 2 % BOXES;
        put(aux_box, t);
        if (part * 2 + 1 >= BOXES) free_next();
        store(other_, row, col, part, aux_box);
        if (!is_last) commit();
      }
      activation_.apply(t);
      if (has_residual_) {
        // sync: TMA has loaded the residual
        ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&memory_.loaded[box]), parities_ >> box & 1);
        parities_ ^= 1u << box;
        add_residual(box, t);
      }
      put(box, t);
      if (part * 2 + 2 >= BOXES && !is_last) free_next();
      store(map_, row, col, part, box);
      commit();
      if (has_residual_ && part + BOXES - 1 < PARTS && thread == 0) {
        // sync: TMA has read the results of the previous part, whose box is used next
        if (part > 0) ptx::tma_store_wait_group_read<1>();
        load_residual(row, col, part + BOXES - 1);
      }
    }
  }

  /// Stores a share of the results of a split-K tile. `acc` holds partial sums.
  template <int J>
  __device__ __forceinline__ void run_part(const SplitKReduction<J>& sums, std::int64_t row,
                                           std::int64_t col, const float (&acc)[J][4]) const {
    bias_.share(args_);
    sums.reduce(args_.m - row, args_.n - col, acc, barrier_,
                [&](int i, int j, const float(&four)[4])
                    RUNG_INLINE_LAMBDA { store_four(row + i, col + j, memory_.bias + j, four); });
  }

  /// Call after the last tile.
  __device__ __forceinline__ void finish() const {
    if (threadIdx.x % 128 == 0) ptx::tma_store_wait_group_read<0>();
  }

 private:
  static constexpr __device__ int row_of(int part) { return part / (BN / 64) * 64; }
  static constexpr __device__ int col_of(int part) { return part % (BN / 64) * 64; }

  /// Stores the results at (row, col) and (row, col + 1), and those 8 rows below. `bias` points to
  /// the bias of these columns.
  __device__ __forceinline__ void store_four(std::int64_t row, std::int64_t col, const float* bias,
                                             const float (&sums)[4]) const {
    float t[1][4];
    RUNG_UNROLL
    for (int i = 0; i < 4; ++i) t[0][i] = bias_.factor() * sums[i] + bias[i % 2];
    const auto store_to = [&](const EpilogueOperand& operand) RUNG_INLINE_LAMBDA {
      const WordsOfTwoRows words(operand, row, col);
      RUNG_UNROLL
      for (int half = 0; half < 2; ++half) {
        if (row + half * 8 >= args_.m) continue;
        *words.at[half] = narrowed(is_f16, t[0][2 * half], t[0][2 * half + 1]);
      }
    };
    if (has_aux_) store_to(args_.aux);
    activation_.apply(t);
    if (has_residual_) {
      const WordsOfTwoRows words(args_.residual, row, col);
      RUNG_UNROLL
      for (int half = 0; half < 2; ++half) {
        const Two two = widened(is_f16, row + half * 8 < args_.m ? *words.at[half] : 0);
        t[0][2 * half] += two.first;
        t[0][2 * half + 1] += two.second;
      }
    }
    store_to(args_.c);
  }

  /// One thread starts to load the residual of a part of the tile at (row, col).
  __device__ __forceinline__ void load_residual(std::int64_t row, std::int64_t col, int part) {
    const int box = part % BOXES;
    const std::uint32_t barrier = ptx::cvta_to_shared(&memory_.loaded[box]);
    ptx::mbarrier_arrive_expect_tx(barrier, BOX_BYTES);
    ptx::tma_load_2d(ptx::cvta_to_shared(memory_.boxes[box]), &other_,
                     static_cast<int>(col) + col_of(part), static_cast<int>(row) + row_of(part),
                     barrier);
  }

  /// The shared-memory address of a thread's row of four 8 x 8 matrices, which start at column
  /// group j of a box.
  __device__ __forceinline__ std::uint32_t matrices(int box, int j) const {
    return (matrices_ ^ j << 4) + box * BOX_BYTES;
  }

  __device__ __forceinline__ void add_residual(int box, Sums& t) const {
    RUNG_UNROLL
    for (int j = 0; j < 8; j += 2) {
      std::uint32_t words[4];
      ptx::ldmatrix_x4<false>(words, matrices(box, j));
      RUNG_UNROLL
      for (int i = 0; i < 4; ++i) {
        const Two two = widened(is_f16, words[i]);
        t[j + i / 2][i % 2 * 2] += two.first;
        t[j + i / 2][i % 2 * 2 + 1] += two.second;
      }
    }
  }

  __device__ __forceinline__ void put(int box, const Sums& t) const {
    RUNG_UNROLL
    for (int j = 0; j < 8; j += 2) {
      ptx::stmatrix_x4(
          matrices(box, j), narrowed(is_f16, t[j][0], t[j][1]), narrowed(is_f16, t[j][2], t[j][3]),
          narrowed(is_f16, t[j + 1][0], t[j + 1][1]), narrowed(is_f16, t[j + 1][2], t[j + 1][3]));
    }
  }

  /// One thread waits until TMA has read the next box of the ring. A barrier must follow.
  __device__ __forceinline__ void free_next() const {
    if (threadIdx.x % 128 == 0 && !has_residual_) ptx::tma_store_wait_group_read<BOXES - 2>();
  }

  /// Stores a box, a part of the tile at (row, col).
  __device__ __forceinline__ void store(const EncodedTensorMap& map, std::int64_t row,
                                        std::int64_t col, int part, int box) const {
    // sync: the box is complete and visible to the async proxy
    ptx::fence_proxy_async();
    ptx::bar_sync(barrier_, 128);
    if (threadIdx.x % 128 != 0) return;
    ptx::tma_store_2d(&map, static_cast<int>(col) + col_of(part),
                      static_cast<int>(row) + row_of(part),
                      ptx::cvta_to_shared(memory_.boxes[box]));
  }

  /// Commits the stores since the last call as a bulk group.
  __device__ __forceinline__ void commit() const {
    if (threadIdx.x % 128 == 0) ptx::tma_store_commit_group();
  }

  const EpilogueArgs& args_;
  const EncodedTensorMap& map_;
  const EncodedTensorMap& other_;
  const Memory memory_;
  int barrier_;
  ScaledBias<BN> bias_;
  ActivationFormula activation_;
  bool has_aux_, has_residual_;
  std::uint32_t matrices_;      // address of this thread's row in the first matrices
  std::uint32_t parities_ = 0;  // phase parity bits of the boxes' mbarriers
};

#endif

}  // namespace rung::cuda
