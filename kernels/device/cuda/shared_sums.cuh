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
    add_up(g, row, col, columns, begin, end);
  }

 private:
  static constexpr int COUNT = J * 128;
  using Quad = Vector<Sum, 4>;

  /// The vectors from begin to end, with sixteen loads of a thread on their way: of four vectors,
  /// or where there are more than four parts, of sixteen parts of one.
  template <class In, class Out>
  __device__ __forceinline__ void add_up(const Gemm<In, Out>& g, std::int64_t row, std::int64_t col,
                                         int columns, int begin, int end) const {
    const bool few = parts_ <= 4;
    const int vectors = few ? 4 : 1;
    for (int i = begin + static_cast<int>(threadIdx.x) % 128; i < end; i += vectors * 128) {
      Quad total[4] = {};
      for (int part = 0; part < parts_; part += 16 / vectors) {
        Quad theirs[4][4] = {};
        RUNG_UNROLL
        for (int p = 0; p < 4; ++p) {
          RUNG_UNROLL
          for (int v = 0; v < 4; ++v) {
            const int from = part + (few ? p : p * 4 + v);
            const int at = i + (few ? v * 128 : 0);
            if (from < parts_ && at < end) theirs[p][v] = first_[from * stride_ + at];
          }
        }
        RUNG_UNROLL
        for (int p = 0; p < 4; ++p) {
          RUNG_UNROLL
          for (int v = 0; v < 4; ++v) total[v] = sum(total[v], theirs[p][v]);
        }
      }
      if (!few) total[0] = sum(sum(total[0], total[1]), sum(total[2], total[3]));
      // The next to be stored is always the first, so that one store is compiled, not four.
      RUNG_NO_UNROLL
      for (int v = 0; v < vectors; ++v) {
        if (i + v * 128 < end) store_quad(g, row, col, columns, i + v * 128, total[0]);
        total[0] = total[1];
        total[1] = total[2];
        total[2] = total[3];
      }
    }
  }

  static __device__ __forceinline__ Quad sum(const Quad& a, const Quad& b) {
    return {a.at[0] + b.at[0], a.at[1] + b.at[1], a.at[2] + b.at[2], a.at[3] + b.at[3]};
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
