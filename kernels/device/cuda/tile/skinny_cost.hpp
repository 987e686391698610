#pragma once
// A product with few rows or columns, as the hosts of skinny and skinny_mma see it: its tiles, and what a
// launch costs, to choose the parts of k.

#include <cstdint>

#include "core/integers.hpp"
#include "core/problem.hpp"

namespace rung::cuda {

/// The operand of A and B^T with many rows, and how many rows both have.
template <class In>
struct SkinnyShape {
  Matrix<const In> x;
  std::int64_t few, many;

  template <class Out>
  explicit SkinnyShape(const Gemm<In, Out>& g)
      : x(g.m <= g.n ? g.b.transposed() : g.a),
        few(g.m <= g.n ? g.m : g.n),
        many(g.m <= g.n ? g.n : g.m) {}

  bool is_k_major() const { return x.col_stride == 1; }
  std::int64_t leading_dimension() const { return x.row_stride * x.col_stride; }
  std::int64_t tiles(int few_rows, int many_rows) const {
    return ceil_div(few, few_rows) * ceil_div(many, many_rows);
  }
};

/// The slowdown if elements are loaded one at a time; it is largest for 16-bit elements.
template <class In>
inline constexpr double slowdown_without_vectors = sizeof(In) >= 8   ? 1.1
                                                   : sizeof(In) == 4 ? 1.5
                                                                     : 2.5;

/// Times in microseconds. The constants are those of an H200, fitted to 55 shapes, and for skinny_mma to
/// 12 in several layouts (docs/notes/cuda-kernels.md).
struct SkinnyCost {
  std::int64_t tiles;     // blocks, if k is not cut
  std::int64_t k_blocks;  // the shortest parts of k
  double bytes;           // of the long operand
  double block_bytes;     // of its rows and steps that a block reads in a k-block
  double slowdown;        // of loads of the long operand: 1 if a lane loads vectors of it
  double start;           // the time to start a block
  double k_block;         // the time of a k-block, without that of its loads
  int results;            // of a thread
  std::int64_t multiprocessors;
  std::int64_t blocks_at_once;  // on each of them
  double meeting = 0.73;        // of blocks that share a tile
  double sum = 0.022;           // of each part of a thread's results

  double of(std::int64_t parts) const {
    const auto length = static_cast<double>(ceil_div(k_blocks, parts));
    const std::int64_t on_sm = ceil_div(tiles * parts, multiprocessors);
    const auto waves = static_cast<double>(ceil_div(on_sm, blocks_at_once));
    const double starts = start * static_cast<double>(on_sm);
    const double panels = k_block * length * waves;
    const double in_sm = static_cast<double>(on_sm) * length * block_bytes * slowdown / 114e3;
    const double in_memory = bytes / (40e3 * static_cast<double>(multiprocessors));
    const double adding = parts == 1 ? 0 : meeting + sum * results * static_cast<double>(parts);
    // The slower of both hides most of the other.
    return starts + panels + __builtin_sqrt(in_sm * in_sm + in_memory * in_memory) + adding;
  }

  /// The number of splits that takes the least time: at most eight blocks per SM.
  int best_parts() const {
    const std::int64_t most = tiles == 0 ? 1 : 8 * multiprocessors / tiles;
    std::int64_t best = 1;
    for (std::int64_t parts = 2; parts <= most && parts <= k_blocks; ++parts) {
      if (of(parts) < of(best)) best = parts;
    }
    return static_cast<int>(best);
  }
};

}  // namespace rung::cuda
