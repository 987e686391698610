#pragma once
// Copies tiles of an operand to shared memory without transposition, by a group of threads: with
// cp.async, 16 bytes at a time if possible, otherwise element by element. One code path supports
// both orders, because there are many small kernels.

#include <cstdint>

#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/basic.cuh"
#include "device/cuda/tile/operand.cuh"
#include "device/cuda/types.cuh"

namespace rung::cuda {

/// A tile of EXTENT x BK elements in lines of contiguous elements: along k if the operand is
/// K-major, otherwise along the extent. Lines are padded by PAD elements (whole vectors), so that
/// they begin in different banks.
template <class T, int EXTENT, int BK, class Group, int PAD = vector_width<T>>
class OperandCopy {
  static constexpr int VEC = vector_width<T>;

 public:
  /// The number of elements of a tile in either order.
  static constexpr int TILE = EXTENT * BK + (EXTENT > BK ? EXTENT : BK) * PAD;

  /// For the tiles that begin at e0 in the extent.
  __device__ __forceinline__ OperandCopy(const Operand<T>& operand, std::int64_t e0)
      : k_major_(operand.is_k_major()),
        from_(&operand.x(e0, 0)),
        ld_(k_major_ ? operand.x.row_stride : operand.x.col_stride),
        k_left_(operand.k),
        e_left_(operand.extent - e0 < EXTENT ? static_cast<int>(operand.extent - e0) : EXTENT) {
    vectors_ = ld_ % VEC == 0 && reinterpret_cast<std::uintptr_t>(from_) % 16 == 0;
  }

  __device__ __forceinline__ bool is_k_major() const { return k_major_; }
  /// The distance between lines of a tile, in elements.
  __device__ __forceinline__ int pitch() const { return (k_major_ ? BK : EXTENT) + PAD; }
  /// The distances from element (e, k) of a tile to (e + 1, k) and to (e, k + 1).
  __device__ __forceinline__ int extent_stride() const { return k_major_ ? BK + PAD : 1; }
  __device__ __forceinline__ int k_stride() const { return k_major_ ? 1 : EXTENT + PAD; }

  /// Starts to copy the next tile along k, with zeros outside the operand. cp.async cannot copy
  /// single 2-byte elements: they are copied synchronously.
  __device__ __forceinline__ void start(T* tile) {
    if (vectors_) {
      start_pieces<VEC>(tile);
    } else {
      start_pieces<1>(tile);
    }
    from_ += k_major_ ? BK : BK * ld_;
    k_left_ -= BK;
  }

 private:
  template <int W>
  __device__ __forceinline__ void start_pieces(T* tile) const {
    constexpr int PIECES = EXTENT * BK / W / Group::SIZE;
    static_assert(PIECES * W * Group::SIZE == EXTENT * BK, "each thread makes as many copies");
    // Pieces per line, as constants for cheap divisions.
    constexpr int ALONG_K = BK / W, ALONG_E = EXTENT / W;
    static_assert(Group::SIZE % ALONG_K == 0 && Group::SIZE % ALONG_E == 0,
                  "a thread's copies are evenly apart");
    const int first = k_major_ ? Group::rank() / ALONG_K : Group::rank() / ALONG_E;
    const int at = (k_major_ ? Group::rank() % ALONG_K : Group::rank() % ALONG_E) * W;
    const int step = k_major_ ? Group::SIZE / ALONG_K : Group::SIZE / ALONG_E;
    const int k_left = k_left_ < BK ? static_cast<int>(k_left_) : BK;
    const int left = (k_major_ ? k_left : e_left_) - at;
    const int bytes = left < 0 ? 0 : left < W ? left * SIZE : W * SIZE;
    const int lines = (k_major_ ? e_left_ : k_left) - first;
    const T* from = from_ + first * ld_ + at;
    T* to = tile + first * pitch() + at;
    const auto start_piece = [&](int i) RUNG_INLINE_LAMBDA {
      copy<W>(to, from, i * step < lines ? bytes : 0);
      from += step * ld_;
      to += step * pitch();
    };
    if constexpr (W == 1) {
      RUNG_UNROLL_4
      for (int i = 0; i < PIECES; ++i) start_piece(i);
    } else {
      RUNG_UNROLL
      for (int i = 0; i < PIECES; ++i) start_piece(i);
    }
  }

  /// Copies the first `bytes` bytes and pads with zeros; for a single 2-byte element, all or none.
  template <int W>
  static __device__ __forceinline__ void copy(T* to, const T* from, int bytes) {
    if constexpr (W * SIZE >= 4) {
      ptx::cp_async<W * SIZE>(ptx::cvta_to_shared(to), from, bytes);
    } else {
      *to = bytes > 0 ? *from : T{};
    }
  }

  static constexpr int SIZE = sizeof(T);
  bool k_major_;
  const T* from_;
  std::int64_t ld_, k_left_;
  int e_left_;
  bool vectors_;
};

}  // namespace rung::cuda
