#pragma once
// A tile of a K-major operand that cp.async copies as it lies, a vector along k at a time. A copy that
// transposes, as AsyncTile's, is of a single element: four times as many. What multiplies then reads
// a vector of several steps at once (tile/step_fragments.cuh).

#include <cstdint>

#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/basic.cuh"
#include "device/cuda/tile/operand.cuh"
#include "device/cuda/types.cuh"

namespace rung::cuda {

/// EXTENT rows of BK elements in shared memory. After each W rows there is a vector of padding, so
/// that threads whose rows are W apart read different banks.
template <class T, int EXTENT, int BK>
struct RowTile {
  static constexpr int W = vector_width<T>;
  static constexpr int GROUP = W * BK + W;
  static_assert(EXTENT % W == 0 && BK % W == 0);

  alignas(16) T elements[EXTENT / W * GROUP];

  /// Where a row begins.
  static constexpr __device__ int at(int row) { return row / W * GROUP + row % W * BK; }
};

/// Copies such tiles, which begin at multiples of BK steps, to one of several stages.
template <class T, int EXTENT, int BK, int THREADS>
class AsyncRows {
 public:
  using Tile = RowTile<T, EXTENT, BK>;

  /// For tiles that begin at e0 in the extent, and at k0 and one after another along k.
  __device__ __forceinline__ AsyncRows(const Operand<T>& operand, std::int64_t e0, std::int64_t k0,
                                       Tile* stages) {
    const int thread = static_cast<int>(threadIdx.x);
    const int e = thread / LINE;
    k_ = thread % LINE * W;
    from_ = &operand.x(e0 + e, k0 + k_);
    to_ = ptx::cvta_to_shared(&stages[0].elements[Tile::at(e) + k_]);
    from_step_ = STEP * operand.x.row_stride;
    const std::int64_t e_left = operand.extent - e0 - e;
    const auto rows = static_cast<int>(e_left < EXTENT ? e_left : EXTENT);
    there_ = rows <= 0 ? 0 : (rows + STEP - 1) / STEP;
  }

  /// Starts to copy the first tile to stage 0, with zeros beyond its `steps` along k, whole vectors,
  /// and beyond the extent.
  __device__ __forceinline__ void copy_first(int steps) {
    copy_to(to_, k_ < steps ? there_ : 0);
    from_ += steps;
  }

  /// Starts to copy the next tile to a stage, with zeros beyond the extent; all of it is zeros if
  /// it does not exist.
  __device__ __forceinline__ void copy(int stage, bool exists) {
    copy_to(to_ + stage * static_cast<std::uint32_t>(sizeof(Tile)), exists ? there_ : 0);
    from_ += BK;
  }

 private:
  static constexpr int W = Tile::W;
  static constexpr int LINE = BK / W;          // vectors of a row
  static constexpr int STEP = THREADS / LINE;  // rows from a thread's copy to its next
  static constexpr int COUNT = EXTENT / STEP;
  static_assert(COUNT * STEP == EXTENT, "each thread makes as many copies");
  static_assert(STEP % W == 0, "a thread's copies are evenly apart");

  __device__ __forceinline__ void copy_to(std::uint32_t to, int there) {
    constexpr auto to_step = static_cast<std::uint32_t>(Tile::at(STEP) * sizeof(T));
    RUNG_UNROLL
    for (int i = 0; i < COUNT; ++i) {
      ptx::cp_async<16>(to + i * to_step, from_ + i * from_step_, i < there ? 16 : 0);
    }
  }

  const T* from_;  // of the first copy of the next tile
  std::int64_t from_step_;
  std::uint32_t to_;  // where it goes in the first stage
  int k_;             // its step along k
  int there_;         // copies within the extent
};

}  // namespace rung::cuda
