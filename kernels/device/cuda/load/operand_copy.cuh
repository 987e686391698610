#pragma once
// Tiles of an operand in shared memory as they lie in global memory, copied by a group of threads:
// by cp.async, 16 bytes at a time where that is possible, else element by element.

#include <cstdint>

#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/basic.cuh"
#include "device/cuda/tile/operand.cuh"
#include "device/cuda/types.cuh"

namespace rung::cuda {

/// EXTENT x BK elements, in lines of contiguous ones: along k if the operand is K-major, else along
/// the extent. Lines are padded by 16 bytes, so that they begin in different banks.
template <class T, int EXTENT, int BK, bool K_MAJOR, class Group>
class OperandCopy {
  static constexpr int COUNT = K_MAJOR ? EXTENT : BK;
  static constexpr int LENGTH = K_MAJOR ? BK : EXTENT;

 public:
  static constexpr int PITCH = LENGTH + vector_width<T>;

  /// For the tiles that begin at e0 in the extent.
  __device__ __forceinline__ OperandCopy(const Operand<T>& operand, std::int64_t e0)
      : from_(&operand.x(e0, 0)),
        ld_(K_MAJOR ? operand.x.row_stride : operand.x.col_stride),
        k_left_(operand.k),
        e_left_(operand.extent - e0 < EXTENT ? static_cast<int>(operand.extent - e0) : EXTENT) {
    vectors_ = ld_ % vector_width<T> == 0 && reinterpret_cast<std::uintptr_t>(from_) % 16 == 0;
  }

  /// The next tile along k, with zeros beyond the operand's edges, is on its way when this returns;
  /// element by element it is there if they have 2 bytes, which cp.async does not copy.
  __device__ __forceinline__ void start(T* tile) {
    if (vectors_) {
      start_pieces<vector_width<T>>(tile);
    } else {
      start_pieces<1>(tile);
    }
    from_ += K_MAJOR ? BK : BK * ld_;
    k_left_ -= BK;
  }

 private:
  template <int W>
  __device__ __forceinline__ void start_pieces(T* tile) const {
    constexpr int PIECES = COUNT * LENGTH / W / Group::SIZE;
    static_assert(PIECES * W * Group::SIZE == COUNT * LENGTH, "each thread makes as many copies");
    constexpr int IN_LINE = LENGTH / W;
    constexpr int STEP = Group::SIZE / IN_LINE;  // lines from a thread's piece to its next
    static_assert(STEP * IN_LINE == Group::SIZE, "a thread stays in its column");
    const int k_left = k_left_ < BK ? static_cast<int>(k_left_) : BK;
    const int at = Group::rank() % IN_LINE * W;
    const int left = (K_MAJOR ? k_left : e_left_) - at;
    const int bytes = left < 0 ? 0 : left < W ? left * SIZE : W * SIZE;
    const int lines = (K_MAJOR ? e_left_ : k_left) - Group::rank() / IN_LINE;
    const T* from = from_ + Group::rank() / IN_LINE * ld_ + at;
    T* to = tile + Group::rank() / IN_LINE * PITCH + at;
    const auto start_piece = [&](int i) RUNG_INLINE_LAMBDA {
      copy<W>(to, from, i * STEP < lines ? bytes : 0);
      from += STEP * ld_;
      to += STEP * PITCH;
    };
    if constexpr (W == 1) {
      RUNG_UNROLL_4
      for (int i = 0; i < PIECES; ++i) start_piece(i);
    } else {
      RUNG_UNROLL
      for (int i = 0; i < PIECES; ++i) start_piece(i);
    }
  }

  /// The first `bytes` bytes, with zeros behind them; of one element of 2 bytes all or none.
  template <int W>
  static __device__ __forceinline__ void copy(T* to, const T* from, int bytes) {
    if constexpr (W * SIZE >= 4) {
      ptx::cp_async<W * SIZE>(ptx::cvta_to_shared(to), from, bytes);
    } else {
      *to = bytes > 0 ? *from : T{};
    }
  }

  static constexpr int SIZE = sizeof(T);
  const T* from_;
  std::int64_t ld_, k_left_;
  int e_left_;
  bool vectors_;
};

/// The larger of a tile's sizes in the two orders, in elements.
template <class T, int EXTENT, int BK>
inline constexpr int copied_size = EXTENT * BK + (EXTENT > BK ? EXTENT : BK) * vector_width<T>;

}  // namespace rung::cuda
