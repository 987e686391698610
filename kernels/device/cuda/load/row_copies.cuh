#pragma once
// Copies tiles of a K-major operand with cp.async, several adjacent elements along k at a time,
// without transposition.

#include <cstdint>

#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/basic.cuh"
#include "device/cuda/tile/operand.cuh"
#include "device/cuda/types.cuh"

namespace rung::cuda {

/// Copies EXTENT x BK elements, W of a row at a time, to one of several stages. Layout defines the
/// destination: address(stages, row, k), the type of a stage, and bytes_below<ROWS>(), the distance
/// between rows that are ROWS apart.
template <class T, int EXTENT, int BK, int THREADS, int W, class Layout>
class RowCopies {
 public:
  /// For tiles that begin at e0 in the extent and follow each other along k from k0.
  __device__ __forceinline__ RowCopies(const Operand<T>& operand, std::int64_t e0, std::int64_t k0,
                                       typename Layout::Tile* stages) {
    const int thread = static_cast<int>(threadIdx.x);
    const int e = thread / LINE;
    k_ = thread % LINE * W;
    from_ = &operand.x(e0 + e, k0 + k_);
    to_ = ptx::cvta_to_shared(Layout::address(stages, e, k_));
    from_step_ = STEP * operand.x.row_stride;
    const std::int64_t e_left = operand.extent - e0 - e;
    const auto rows = static_cast<int>(e_left < EXTENT ? e_left : EXTENT);
    there_ = rows <= 0 ? 0 : (rows + STEP - 1) / STEP;
  }

  /// Starts to copy the first tile to stage 0, with zeros after its `steps` k-steps (a multiple of
  /// W) and outside the extent.
  __device__ __forceinline__ void copy_first(int steps) {
    copy_to(to_, k_ < steps ? there_ : 0);
    from_ += steps;
  }

  /// Starts to copy the next tile to a stage, with zeros outside the extent; the whole tile is
  /// zeros if it does not exist.
  __device__ __forceinline__ void copy(int stage, bool exists) {
    copy_to(to_ + stage * static_cast<std::uint32_t>(sizeof(typename Layout::Tile)),
            exists ? there_ : 0);
    from_ += BK;
  }

 private:
  static constexpr int SIZE = W * sizeof(T);
  static constexpr int LINE = BK / W;          // copies per row
  static constexpr int STEP = THREADS / LINE;  // rows between a thread's copies
  static constexpr int COUNT = EXTENT / STEP;
  static_assert(COUNT * STEP == EXTENT, "each thread makes as many copies");

  __device__ __forceinline__ void copy_to(std::uint32_t to, int there) {
    constexpr std::uint32_t to_step = Layout::template bytes_below<STEP>();
    RUNG_UNROLL
    for (int i = 0; i < COUNT; ++i) {
      ptx::cp_async<SIZE>(to + i * to_step, from_ + i * from_step_, i < there ? SIZE : 0);
    }
  }

  const T* from_;  // source of the next tile's first copy
  std::int64_t from_step_;
  std::uint32_t to_;  // its destination in stage 0
  int k_;             // its k-step
  int there_;         // copies within the extent
};

}  // namespace rung::cuda
