#pragma once
// How a kernel is launched.

#include <cstdint>

namespace rung::cuda {

struct Dim3 {
  std::int64_t x = 1, y = 1, z = 1;

  constexpr std::int64_t count() const { return x * y * z; }
};

/// A matrix that the tensor memory accelerator moves in boxes. In shared memory a line of a box is
/// 128 bytes, swizzled.
struct Boxes {
  const void* data = nullptr;  // of the device; null: there is no such matrix
  int element_bytes = 0;
  std::int64_t length = 0;  // elements that lie together: a line
  std::int64_t lines = 0;
  std::int64_t ld = 0;  // elements from line to line
  int box_length = 0, box_lines = 0;
  /// Elements of a column lie together instead, and columns `ld` apart.
  bool is_transposed = false;
  bool is_tf32 = false;  // rounded on the way

  /// Whether it lies as the accelerator needs it: everything at multiples of 16 bytes.
  constexpr bool is_aligned() const {
    return !is_transposed && ld * element_bytes % 16 == 0 &&
           reinterpret_cast<std::uintptr_t>(data) % 16 == 0;
  }
  constexpr bool is_empty() const { return data == nullptr || length == 0 || lines == 0; }
};

/// For one problem.
struct Launch {
  Dim3 grid;  // in blocks; 0 where C is empty
  Dim3 block;
  std::int64_t shared_bytes = 0;  // dynamic
  /// Of global memory: zero before the rung's first launch, and left to its launches alone, one at
  /// a time.
  std::int64_t workspace_bytes = 0;
  int cluster = 1;  // blocks, neighbours along x, that reach each other's shared memory
  /// Blocks go on to other tiles: the device gets no more of them than it has multiprocessors.
  bool persistent = false;
  /// Its blocks may start before what the launch ahead of it in the stream wrote is there: the
  /// kernel waits for that (griddepcontrol.wait).
  bool starts_early = false;
  /// Of a rung whose kernel takes TensorMaps. A and B may lie anyhow: the host copies them before,
  /// if they are not aligned. C must be aligned, or be left out.
  Boxes a = {}, b = {}, c = {};
};

/// As it goes to a device of so many multiprocessors.
constexpr Launch fitted(Launch launch, int multiprocessors) {
  const int clusters = multiprocessors < launch.cluster ? 1 : multiprocessors / launch.cluster;
  const std::int64_t blocks = std::int64_t{clusters} * launch.cluster;
  if (launch.persistent && launch.grid.x > blocks) launch.grid.x = blocks;
  return launch;
}

/// Boxes as the device encodes them: a CUtensorMap.
struct alignas(64) EncodedBoxes {
  unsigned char bytes[128];
};

/// What a rung with tensor memory accesses is told besides the problem.
struct TensorMaps {
  EncodedBoxes a, b, c;
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
  int cluster = 1;                     // blocks
  int WM = 0, WN = 0, TM = 1, TN = 1;  // as in Tiling
};

/// What a rung that splits k is told besides the problem.
struct Split {
  int splits;
  void* workspace;
};

}  // namespace rung::cuda
