#pragma once
// A tile of an operand as wgmma reads it and TMA brings it: in lines of 128
// bytes, whose 16-byte pieces change places so that the same piece of eight lines lies in eight
// different parts of the banks.
// https://docs.nvidia.com/cuda/parallel-thread-execution/#asynchronous-warpgroup-level-matrix-shared-memory-layout

#include <cstdint>

#include "device/cuda/keywords.cuh"

namespace rung::cuda {

/// EXTENT x 64 elements of 2 bytes, at a multiple of 1024 bytes. A line is 64 steps of one row or
/// column; or 64 rows or columns of one step, and then the next 64 rows or columns follow after 64
/// lines. Of elements of other sizes, a line is 128 bytes of steps.
template <int EXTENT, bool ALONG_K, int BYTES = 2>
struct SwizzledLines {
  static_assert(ALONG_K || BYTES == 2);
  static constexpr bool along_k = ALONG_K;
  static constexpr int VEC = 16 / BYTES;  // elements of 16 bytes
  static constexpr int BK = 128 / BYTES;
  static constexpr int COUNT = ALONG_K ? EXTENT : BK;
  static constexpr int LENGTH = ALONG_K ? BK : EXTENT;
  static constexpr int SIZE = EXTENT * BK;
  static_assert(EXTENT % (ALONG_K ? 8 : 64) == 0);

  /// Where the 16 bytes from element (e, k) on lie, in elements.
  static constexpr __device__ int at(int e, int k) {
    const int line = ALONG_K ? e : e / 64 * 64 + k;
    const int piece = (ALONG_K ? k : e % 64) / VEC;
    return line * BK + (piece ^ line % 8) * VEC;
  }

  /// wgmma's matrix descriptor of 32 bytes of steps from k on, and of rows or columns from e on: e
  /// is a multiple of 64, k of 32 / BYTES. `tile` is an address in shared memory.
  static __device__ __forceinline__ std::uint64_t descriptor(std::uint32_t tile, int e, int k) {
    constexpr std::uint64_t eight_lines = 1024 / 16;
    constexpr std::uint64_t next_64 = 8192 / 16;  // of the extent, where it lies together
    constexpr std::uint64_t swizzle_of_128_bytes = 1;
    const std::uint32_t begin = tile + (ALONG_K ? e * 128 + k * BYTES : e * 128 + k * 128);
    // In a cluster, the upper bits of an address say which block it is of.
    const std::uint32_t within_block = begin & 0x3FFFF;
    return within_block >> 4 | next_64 << 16 | eight_lines << 32 | swizzle_of_128_bytes << 62;
  }
};

}  // namespace rung::cuda
