#pragma once
// Warpgroups of several blocks whose sums, as wgmma leaves them in registers, are parts of the same
// results: each writes its own to memory, as they lie, and adds up a share of all. The order of a
// sum is fixed, so the result has the same bits every time.

#include <cstdint>

#include "device/cuda/accumulators.cuh"
#include "device/cuda/pieces.cuh"
#include "device/cuda/ptx_barrier.cuh"
#include "device/cuda/split.cuh"
#include "device/cuda/tile.cuh"
#include "device/cuda/vector.cuh"

namespace rung::cuda {

/// The sums of one warpgroup in each of several blocks, 64 rows of 8 J columns, in vectors of what
/// a thread has of 16 rows and 8 columns: two columns of two rows, 8 apart.
template <int J, class Sum = float>
class SharedSums {
 public:
  /// Of warpgroup `group`, one of `groups`, that computes a part of a tile.
  __device__ __forceinline__ SharedSums(void* workspace, const Piece& piece, unsigned groups,
                                        unsigned group)
      : meeting_(static_cast<Meeting*>(workspace) + piece.cut * groups + group),
        stride_(std::int64_t{groups} * COUNT),
        part_(piece.part),
        parts_(piece.parts) {
    auto* const sums = static_cast<unsigned char*>(workspace) + meetings_bytes;
    const unsigned first_piece = piece.piece - static_cast<unsigned>(piece.part);
    first_ = reinterpret_cast<Quad*>(sums) + first_piece * stride_ + group * COUNT;
  }

  /// Writes the sums of this part, waits for the others, and stores a share of the results, whose
  /// first is element (row, col) of C. `barrier` is for this warpgroup alone.
  template <class In, class Out>
  __device__ __forceinline__ void store(const Gemm<In, Out>& g, std::int64_t row, std::int64_t col,
                                        const Sum (&acc)[J][4], int barrier) const {
    const int thread = static_cast<int>(threadIdx.x) % 128;
    const int warp = thread / 32;
    // Of what lies beyond the edges of C nothing is written.
    const int warps = pieces_of<16>(g.m - row, 4);
    const int columns = pieces_of<8>(g.n - col, J);
    if (warp < warps) {
      Quad* const mine = first_ + part_ * stride_ + warp * columns * 32 + thread % 32;
      RUNG_UNROLL
      for (int j = 0; j < J; ++j) {
        if (j < columns) mine[j * 32] = {acc[j][0], acc[j][1], acc[j][2], acc[j][3]};
      }
    }

    // sync: all have written theirs
    ptx::bar_sync(barrier, 128);
    if (thread == 0) meet_alone(*meeting_, parts_);
    ptx::bar_sync(barrier, 128);

    const int count = warps * columns * 32;
    const int begin = count * part_ / parts_;
    const int end = count * (part_ + 1) / parts_;
    if (parts_ <= 4) {
      add_up<4, 4>(g, row, col, columns, begin, end);
    } else {
      add_up<1, 16>(g, row, col, columns, begin, end);
    }
  }

 private:
  static constexpr int COUNT = J * 128;
  using Quad = Vector<Sum, 4>;

  /// The vectors from begin to end, ROUND of a thread's at a time, with loads of AHEAD parts on
  /// their way.
  template <int ROUND, int AHEAD, class In, class Out>
  __device__ __forceinline__ void add_up(const Gemm<In, Out>& g, std::int64_t row, std::int64_t col,
                                         int columns, int begin, int end) const {
    for (int i = begin + static_cast<int>(threadIdx.x) % 128; i < end; i += ROUND * 128) {
      Quad total[ROUND] = {};
      for (int part = 0; part < parts_; part += AHEAD) {
        Quad theirs[AHEAD][ROUND] = {};
        RUNG_UNROLL
        for (int p = 0; p < AHEAD; ++p) {
          RUNG_UNROLL
          for (int r = 0; r < ROUND; ++r) {
            const int at = i + r * 128;
            if (part + p < parts_ && at < end) theirs[p][r] = first_[(part + p) * stride_ + at];
          }
        }
        RUNG_UNROLL
        for (int p = 0; p < AHEAD; ++p) {
          RUNG_UNROLL
          for (int r = 0; r < ROUND; ++r) {
            RUNG_UNROLL
            for (int e = 0; e < 4; ++e) total[r].at[e] += theirs[p][r].at[e];
          }
        }
      }
      RUNG_UNROLL
      for (int r = 0; r < ROUND; ++r) {
        if (i + r * 128 < end) store_quad(g, row, col, columns, i + r * 128, total[r]);
      }
    }
  }

  template <class In, class Out>
  static __device__ __forceinline__ void store_quad(const Gemm<In, Out>& g, std::int64_t row,
                                                    std::int64_t col, int columns, int i,
                                                    const Quad& sums) {
    const int warp = i / 32 / columns;
    row += warp * 16 + i % 32 / 4;
    col += (i / 32 - warp * columns) * 8 + i % 4 * 2;
    store_pair(g, row, col, sums.at[0], sums.at[1]);
    store_pair(g, row + 8, col, sums.at[2], sums.at[3]);
  }

  /// How many pieces of SIZE cover an extent; at most `most`.
  template <int SIZE>
  static __device__ __forceinline__ int pieces_of(std::int64_t extent, int most) {
    return extent >= most * SIZE ? most
           : extent <= 0         ? 0
                                 : static_cast<int>(ceil_div(extent, SIZE));
  }

  Meeting* meeting_;
  Quad* first_;          // those of part 0
  std::int64_t stride_;  // from part to part
  int part_, parts_;
};

}  // namespace rung::cuda
