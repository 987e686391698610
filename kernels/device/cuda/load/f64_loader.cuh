#pragma once
// Copies tiles of doubles to shared memory by cp.async, from an operand of any layout and alignment.

#include <cstdint>

#include "core/problem.hpp"
#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/basic.cuh"
#include "device/cuda/tile/block_work.cuh"
#include "device/cuda/tile/f64_tile.cuh"
#include "device/cuda/tile/operand.cuh"

namespace rung::cuda {

/// Copies tiles of an operand; one of THREADS threads that do.
template <int EXTENT, int BK, bool K_MAJOR, int THREADS>
class F64TileLoader {
  using Tile = F64Tile<EXTENT, BK, K_MAJOR>;
  static constexpr int COUNT = Tile::LINES * Tile::CHUNKS / THREADS;  // chunks of a thread
  static_assert(COUNT * THREADS == Tile::LINES * Tile::CHUNKS, "each thread copies as many chunks");
  // From a thread's chunk to its next: along a line, or by whole lines.
  static constexpr int LINE_STEP = THREADS >= Tile::CHUNKS ? THREADS / Tile::CHUNKS : 1;
  static constexpr int IN_LINE = THREADS >= Tile::CHUNKS ? 1 : Tile::CHUNKS / THREADS;
  static_assert(THREADS % Tile::CHUNKS == 0 || Tile::CHUNKS % THREADS == 0);

 public:
  /// For the tiles that begin at e0 in the extent, and one after another along k.
  __device__ __forceinline__ F64TileLoader(const Operand<double>& operand, std::int64_t e0,
                                           const KRange& k, int thread)
      : ld_(K_MAJOR ? operand.x.row_stride : operand.x.col_stride),
        left_(k.end - k.begin),
        line_(thread / Tile::CHUNKS),
        within_(thread % Tile::CHUNKS * 2),
        vectors_(ld_ % 2 == 0 && reinterpret_cast<std::uintptr_t>(operand.x.data) % 16 == 0) {
    from_ = K_MAJOR ? &operand.x(e0 + line_, k.begin + within_)
                    : &operand.x(e0 + within_, k.begin + line_);
    const std::int64_t e_left = operand.extent - e0;
    e_left_ = e_left < EXTENT ? static_cast<int>(e_left) : EXTENT;
  }

  /// Starts to copy the next tile, with zeros beyond the operand's edges.
  __device__ __forceinline__ void copy(double* tile) {
    const int k_left = left_ < BK ? static_cast<int>(left_ > 0 ? left_ : 0) : BK;
    const int lines = (K_MAJOR ? e_left_ : k_left) - line_;
    const int length = (K_MAJOR ? k_left : e_left_) - within_;
    const std::uint32_t to = ptx::cvta_to_shared(tile);
    if (vectors_) {
      copy<16>(to, lines, length);
    } else {
      copy<8>(to, lines, length);
    }
    from_ += K_MAJOR ? BK : BK * ld_;
    left_ -= BK;
  }

 private:
  /// In copies of BYTES. From this thread's first chunk on the operand has so many lines, of so many
  /// elements.
  template <int BYTES>
  __device__ __forceinline__ void copy(std::uint32_t tile, int lines, int length) const {
    RUNG_UNROLL
    for (int i = 0; i < COUNT; ++i) {
      const int line = i / IN_LINE * LINE_STEP;
      const int within = i % IN_LINE * THREADS * 2;
      const double* const from = from_ + line * ld_ + within;
      const std::uint32_t to =
          tile + 8 * static_cast<std::uint32_t>(Tile::at(line_ + line, within_ + within));
      const int there = line < lines ? length - within : 0;
      if constexpr (BYTES == 16) {
        ptx::cp_async<16>(to, from, there >= 2 ? 16 : there == 1 ? 8 : 0);
      } else {
        ptx::cp_async<8>(to, from, there >= 1 ? 8 : 0);
        ptx::cp_async<8>(to + 8, from + 1, there >= 2 ? 8 : 0);
      }
    }
  }

  const double* from_;  // of this thread's first chunk of the next tile
  std::int64_t ld_;
  std::int64_t left_;  // steps along k
  int line_, within_;  // of its first chunk
  int e_left_;         // rows or columns of the operand in the tile
  bool vectors_;       // chunks are aligned in memory
};

}  // namespace rung::cuda
