#pragma once
// A tile of an operand, as written by TMA and read by wgmma: rows of 128 bytes with the 128-byte
// swizzle, which spreads a column of 16-byte chunks over all banks.
// https://docs.nvidia.com/cuda/parallel-thread-execution/#asynchronous-warpgroup-level-matrix-shared-memory-layout

#include <cstdint>

#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/basic.cuh"
#include "device/cuda/ptx/wgmma.cuh"
#include "device/cuda/types.cuh"

namespace rung::cuda {

/// EXTENT x BK elements, aligned to 1024 bytes; BK elements have 128 bytes.
///
/// In a K-major tile, a row of 128 bytes has BK k-steps of one row or column. Otherwise it has 64
/// rows or columns of one k-step, and the next 64 follow after BK such rows.
template <int EXTENT, bool K_MAJOR, int BYTES = 2>
struct SwizzledTile {
  static_assert(K_MAJOR || BYTES == 2);
  static constexpr bool k_major = K_MAJOR;
  static constexpr int BYTES_PER_ELEMENT = BYTES;
  static constexpr int VEC = 16 / BYTES;  // elements per chunk
  static constexpr int BK = 128 / BYTES;
  static constexpr int COUNT = K_MAJOR ? EXTENT : BK;
  static constexpr int LENGTH = K_MAJOR ? BK : EXTENT;
  static constexpr int SIZE = EXTENT * BK;
  static_assert(EXTENT % (K_MAJOR ? 8 : 64) == 0);

  /// The index of the chunk that begins with element (e, k).
  static constexpr __device__ int at(int e, int k) {
    const int row = K_MAJOR ? e : e / 64 * 64 + k;
    const int chunk = (K_MAJOR ? k : e % 64) / VEC;
    return row * BK + (chunk ^ row % 8) * VEC;
  }

  /// The wgmma matrix descriptor for 64 or more rows or columns from e (a multiple of 64) and 32
  /// bytes of k-steps from k (a multiple of 32 / BYTES). `tile` is a shared-memory address.
  static __device__ __forceinline__ std::uint64_t descriptor(std::uint32_t tile, int e, int k) {
    constexpr std::uint64_t eight_rows = 1024 / 16;
    constexpr std::uint64_t next_64 = 8192 / 16;  // along the extent, in MN-major tiles
    constexpr std::uint64_t swizzle_of_128_bytes = 1;
    // In a cluster, the upper bits of an address contain the rank of the block.
    const std::uint32_t within_block = (tile + e * 128) & 0x3FFFF;
    const std::uint64_t first =
        within_block >> 4 | next_64 << 16 | eight_rows << 32 | swizzle_of_128_bytes << 62;
    return first + bytes_to(k) / 16;
  }

  /// The distance in bytes from a tile's first k-step to k.
  static constexpr __device__ unsigned bytes_to(int k) { return k * (K_MAJOR ? BYTES : 128); }
};

/// The descriptors of an operand in consecutive stages of shared memory. The first one is computed
/// before the loop over k, so that others take one addition: tensor cores multiply 64 columns in 32
/// cycles, and would wait for more.
template <class Tile>
class StageDescriptors {
 public:
  /// For rows or columns from e of each tile.
  template <class T>
  __device__ __forceinline__ StageDescriptors(const T& stages, int e)
      : first_(Tile::descriptor(ptx::cvta_to_shared(stages), e, 0)) {
    static_assert(sizeof(stages[0]) == Tile::SIZE * Tile::BYTES_PER_ELEMENT);
  }

  __device__ __forceinline__ std::uint64_t at(int stage, int k) const {
    constexpr unsigned chunks = Tile::SIZE * Tile::BYTES_PER_ELEMENT / 16;
    return first_ + static_cast<unsigned>(stage) * chunks + Tile::bytes_to(k) / 16;
  }

 private:
  std::uint64_t first_;
};

/// True if partial sums must be promoted. wgmma keeps 14 bits of the sums of 8-bit floats
/// (DeepSeek-V3 Technical Report, arXiv:2412.19437, 3.3.2), so CUDA cores add them to float sums
/// after every k-block.
template <class In>
inline constexpr bool is_promoted = sizeof(In) == 1;
template <>
inline constexpr bool is_promoted<std::int8_t> = false;

/// acc += 64 rows of A, from group_row of the tile, times the tile's columns of B, for one k-block,
/// with promotion. While this warpgroup adds, tensor cores multiply for others.
template <class ATile, class BTile, class In, int J>
__device__ __forceinline__ void add_promoted(std::uint32_t a, std::uint32_t b, int group_row,
                                             float (&acc)[J][4]) {
  static_assert(J <= 24, "registers for two sums of each result");
  float sums[J][4];
  ptx::set_undefined(sums);
  ptx::wgmma_fence(sums);
  RUNG_UNROLL
  for (int k = 0; k < ATile::BK; k += 32) {
    ptx::wgmma_m64<In, false, false>(sums, ATile::descriptor(a, group_row, k),
                                     BTile::descriptor(b, 0, k), k > 0);
  }
  ptx::wgmma_commit_group();
  ptx::wgmma_wait_group<0>(sums);
  RUNG_UNROLL
  for (int j = 0; j < J; ++j) {
    RUNG_UNROLL
    for (int i = 0; i < 4; ++i) acc[j][i] += sums[j][i];
  }
}

}  // namespace rung::cuda
