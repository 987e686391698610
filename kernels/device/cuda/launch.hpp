#pragma once
// How a kernel is launched.

#include <cstdint>

namespace rung::cuda {

struct Dim3 {
  std::int64_t x = 1, y = 1, z = 1;

  constexpr std::int64_t count() const { return x * y * z; }
};

/// For one problem.
struct Launch {
  Dim3 grid;  // in blocks; 0 where C is empty
  Dim3 block;
  std::int64_t shared_bytes = 0;  // dynamic
  /// Of global memory: zero before the rung's first launch, and left to its launches alone, one at
  /// a time.
  std::int64_t workspace_bytes = 0;
};

/// What a rung leaves to be chosen for each shape and device.
struct GemmPlan {
  int tile = 0;    // which one of GemmRung::tiles
  int splits = 1;  // of k, in parts that blocks of their own sum
};

/// How C is shared out: a block computes BM x BN of it, in steps of BK along k; a warp WM x WN, a
/// thread TM x TN. 0: the rung has no tile at that level.
struct Tiling {
  int BM = 0, BN = 0, BK = 0;
  int WM = 0, WN = 0;
  int TM = 1, TN = 1;
};

/// One tile size that a rung is compiled for.
struct TileShape {
  int BM, BN, BK;
  int threads;
  int shared_bytes;
  int WM = 0, WN = 0, TM = 1, TN = 1;  // as in Tiling
};

/// What a rung that splits k is told besides the problem.
struct Split {
  int splits;
  void* workspace;
};

}  // namespace rung::cuda
