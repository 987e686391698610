#pragma once
// A tile of 16-bit elements in shared memory with the layout of its operand, K-major or MN-major.
// ldmatrix reads both.

#include <cstdint>

#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/basic.cuh"
#include "device/cuda/ptx/mma.cuh"
#include "device/cuda/tile/operand.cuh"
#include "device/cuda/types.cuh"

namespace rung::cuda {

/// EXTENT x BK elements. Rows of contiguous elements are padded by 16 bytes, so that the eight rows
/// that ldmatrix reads at a time are in different banks.
template <int EXTENT, int BK, bool K_MAJOR>
struct PaddedTile {
  static constexpr bool k_major = K_MAJOR;
  static constexpr int VEC = 8;  // elements per 16 bytes
  static constexpr int COUNT = K_MAJOR ? EXTENT : BK;
  static constexpr int LENGTH = K_MAJOR ? BK : EXTENT;
  static constexpr int LD = LENGTH + VEC;
  static constexpr int SIZE = COUNT * LD;
  static_assert(LENGTH % 64 == 0 || LENGTH == 32 || LENGTH == 16, "a padded row shifts the banks");

  /// The index of element (e, k).
  static constexpr __device__ int at(int e, int k) { return K_MAJOR ? e * LD + k : k * LD + e; }

  /// Loads the 16 x 16 elements at (e, k) of the tile at shared-memory address `tile` as four 8 x 8
  /// matrices with ldmatrix. Matrix rows are along the extent. If E_FIRST, the second matrix is 8
  /// further along the extent, otherwise along k.
  template <bool E_FIRST>
  static __device__ __forceinline__ void load_fragments(std::uint32_t (&to)[4], std::uint32_t tile,
                                                        int e, int k) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int matrix = lane / 8;
    const int e8 = e + (E_FIRST ? matrix % 2 : matrix / 2) * 8;
    const int k8 = k + (E_FIRST ? matrix / 2 : matrix % 2) * 8;
    const int from = K_MAJOR ? at(e8 + lane % 8, k8) : at(e8, k8 + lane % 8);
    ptx::ldmatrix_x4<!K_MAJOR>(to, tile + 2 * from);
  }
};

/// The larger size of both orders, in elements.
template <int EXTENT, int BK>
inline constexpr int padded_size =
    PaddedTile<EXTENT, BK, true>::SIZE > PaddedTile<EXTENT, BK, false>::SIZE
        ? PaddedTile<EXTENT, BK, true>::SIZE
        : PaddedTile<EXTENT, BK, false>::SIZE;

}  // namespace rung::cuda
