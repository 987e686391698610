#pragma once
// Copies tiles of doubles to shared memory with cp.async, from operands of any layout and
// alignment.

#include <cstdint>

#include "core/problem.hpp"
#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/basic.cuh"
#include "device/cuda/tile/block_work.cuh"
#include "device/cuda/tile/f64_tile.cuh"
#include "device/cuda/tile/operand.cuh"

namespace rung::cuda {

/// Copies tiles of an operand, by THREADS threads.
template <int EXTENT, int BK, bool K_MAJOR, int THREADS>
class F64TileLoader {
  using Tile = F64Tile<EXTENT, BK, K_MAJOR>;
  static constexpr int STEP = THREADS / Tile::CHUNKS;  // lines between a thread's chunks
  static constexpr int COUNT = Tile::LINES / STEP;     // chunks per thread
  static_assert(STEP * Tile::CHUNKS == THREADS && COUNT * STEP == Tile::LINES,
                "each thread copies as many chunks");

 public:
  /// For tiles that begin at e0 in the extent and follow each other along k.
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

  /// Starts to copy the next tile, with zeros outside the operand. Interior tiles are copied
  /// without guards, which would be most of the instructions.
  __device__ __forceinline__ void copy(double* tile) {
    const std::uint32_t to =
        ptx::cvta_to_shared(tile) + 8 * static_cast<std::uint32_t>(Tile::at(line_, within_));
    if (vectors_ && e_left_ == EXTENT && left_ >= BK) {
      for_each_chunk(to, [](std::uint32_t chunk, const double* from, int)
                             RUNG_INLINE_LAMBDA { ptx::cp_async<16>(chunk, from, 16); });
    } else {
      copy_guarded(to);
    }
    from_ += K_MAJOR ? BK : BK * ld_;
    left_ -= BK;
  }

 private:
  __device__ __forceinline__ void copy_guarded(std::uint32_t to) const {
    const int k_left = left_ < BK ? static_cast<int>(left_ > 0 ? left_ : 0) : BK;
    const int lines = (K_MAJOR ? e_left_ : k_left) - line_;
    const int length = (K_MAJOR ? k_left : e_left_) - within_;
    const int bytes = length >= 2 ? 16 : length == 1 ? 8 : 0;  // bytes of a chunk
    if (vectors_) {
      for_each_chunk(to, [&](std::uint32_t chunk, const double* from, int line) RUNG_INLINE_LAMBDA {
        ptx::cp_async<16>(chunk, from, line < lines ? bytes : 0);
      });
    } else {
      for_each_chunk(to, [&](std::uint32_t chunk, const double* from, int line) RUNG_INLINE_LAMBDA {
        ptx::cp_async<8>(chunk, from, line < lines && bytes >= 8 ? 8 : 0);
        ptx::cp_async<8>(chunk + 8, from + 1, line < lines && bytes == 16 ? 8 : 0);
      });
    }
  }

  /// Calls f(to, from, line) for each of the thread's chunks, where `line` is relative to the first
  /// one, whose destination is `first`. Since line_ < STEP, the swizzle of other lines differs by a
  /// constant.
  template <class F>
  __device__ __forceinline__ void for_each_chunk(std::uint32_t first, const F& f) const {
    const double* from = from_;
    RUNG_UNROLL
    for (int i = 0; i < COUNT; ++i) {
      f((first ^ i * STEP % 4 * 32) + i * STEP * Tile::LENGTH * 8, from, i * STEP);
      from += STEP * ld_;
    }
  }

  const double* from_;  // source of this thread's first chunk of the next tile
  std::int64_t ld_;
  std::int64_t left_;  // k-steps left
  int line_, within_;  // position of its first chunk
  int e_left_;         // rows or columns of the operand within the tile
  bool vectors_;       // chunks are aligned in memory
};

}  // namespace rung::cuda
