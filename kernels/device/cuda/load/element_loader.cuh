#pragma once
// Loads tiles one element at a time: from operands of any alignment and layout to K-major tiles in
// shared memory. All loads of a tile are in flight at once.

#include <cstdint>

#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/mma.cuh"
#include "device/cuda/tile/operand.cuh"
#include "device/cuda/types.cuh"

namespace rung::cuda {

/// Tiles of EXTENT rows of BK steps, and 16 bytes more: then the eight rows that ldmatrix reads at a
/// time are in different banks. One of THREADS threads that load them.
template <class In, int EXTENT, int BK, int THREADS>
class ElementLoader {
  static constexpr int COUNT = EXTENT * BK / THREADS;
  static_assert(THREADS % BK == 0 && THREADS % EXTENT == 0, "a thread stays in its row or step");

 public:
  static constexpr int PITCH = BK + 16 / static_cast<int>(sizeof(In));  // elements
  static constexpr int SIZE = EXTENT * PITCH;

  /// For the tiles that begin at e0 in the extent.
  __device__ __forceinline__ ElementLoader(const Operand<In>& operand, std::int64_t e0)
      : along_k_(operand.x.col_stride == 1) {
    const int thread = static_cast<int>(threadIdx.x);
    e_ = along_k_ ? thread / BK : thread % EXTENT;
    k_ = along_k_ ? thread % BK : thread / EXTENT;
    from_ = &operand.x(e0 + e_, k_);
    stride_ = along_k_ ? operand.x.row_stride : operand.x.col_stride;
    e_left_ = operand.extent - e0 < EXTENT ? static_cast<int>(operand.extent - e0) : EXTENT;
  }

  /// Reads the tile that begins at k0, up to k_end; zeros beyond the operand's edges.
  __device__ __forceinline__ void load(std::int64_t k0, std::int64_t k_end) {
    const int k_left = k_end - k0 < BK ? static_cast<int>(k_end - k0) : BK;
    if (along_k_) {
      const In* const from = from_ + k0;
      RUNG_UNROLL
      for (int i = 0; i < COUNT; ++i) {
        const int e = i * (THREADS / BK);
        elements_[i] = k_ < k_left && e_ + e < e_left_ ? from[e * stride_] : In{};
      }
    } else {
      const In* const from = from_ + k0 * stride_;
      RUNG_UNROLL
      for (int i = 0; i < COUNT; ++i) {
        const int k = i * (THREADS / EXTENT);
        elements_[i] = k_ + k < k_left && e_ < e_left_ ? from[k * stride_] : In{};
      }
    }
  }

  /// Writes it to shared memory.
  __device__ __forceinline__ void store(In* tile) const {
    In* const to = tile + e_ * PITCH + k_;
    RUNG_UNROLL
    for (int i = 0; i < COUNT; ++i) {
      to[along_k_ ? i * (THREADS / BK) * PITCH : i * (THREADS / EXTENT)] = rounded(elements_[i]);
    }
  }

  /// Four 8 x 8 words of a tile in shared memory by ldmatrix, 16 rows from e on by 32 bytes from
  /// `byte` on. E_FIRST: the second one is 8 rows further, else 16 bytes.
  template <bool E_FIRST>
  static __device__ __forceinline__ void load_fragments(std::uint32_t (&to)[4], std::uint32_t tile,
                                                        int e, int byte) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int matrix = lane / 8;
    const int row = e + lane % 8 + (E_FIRST ? matrix % 2 : matrix / 2) * 8;
    const int at = byte + (E_FIRST ? matrix / 2 : matrix % 2) * 16;
    ptx::ldmatrix_x4<false>(to, tile + row * PITCH * static_cast<int>(sizeof(In)) + at);
  }

 private:
  /// Of tf32 the bits that tensor cores multiply.
  static __device__ __forceinline__ In rounded(const In& element) {
    if constexpr (requires { element.value; }) {
      return {ptx::cvt_rna_tf32(element.value)};
    } else {
      return element;
    }
  }

  const In* from_;
  std::int64_t stride_;  // from row to row, or from step to step
  int e_, k_;            // of this thread's first element
  int e_left_;
  bool along_k_;
  In elements_[COUNT];
};

}  // namespace rung::cuda
