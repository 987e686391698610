#pragma once
// A tile of an operand on its way to shared memory by cp.async: no register holds it, and the
// thread that asks goes on at once.

#include <cstdint>

#include "device/cuda/keywords.cuh"
#include "device/cuda/operand.cuh"
#include "device/cuda/ptx.cuh"

namespace rung::cuda {

/// EXTENT x BK elements, which lie as [BK][LD] in shared memory. Elements together along the extent
/// are copied as 16 bytes where all of them are aligned to that, others one by one: cp.async cannot
/// transpose. It takes 4 bytes at least, so 16-bit elements have no AsyncTile.
template <class T, int EXTENT, int BK, int LD, int THREADS>
class AsyncTile {
 public:
  /// For tiles that begin at e0 in the extent, and at k0 and one after another along k.
  __device__ __forceinline__ AsyncTile(const Operand<T>& operand, std::int64_t e0,
                                       std::int64_t k0 = 0)
      : e_stride_(operand.x.row_stride), k_stride_(operand.x.col_stride) {
    way_ = operand.is_along_k()                                            ? Way::along_k
           : operand.is_aligned() && operand.extent % Operand<T>::VEC == 0 ? Way::vectors
                                                                           : Way::along_e;
    const Place first = way_ == Way::along_k   ? Pattern<1, true>::first()
                        : way_ == Way::vectors ? Pattern<Operand<T>::VEC, false>::first()
                                               : Pattern<1, false>::first();
    to_ = first.k * LD + first.e;
    k_ = first.k;
    const std::int64_t e_left = operand.extent - e0 - first.e;
    e_left_ = static_cast<int>(e_left < EXTENT ? e_left : EXTENT);
    from_ = &operand.x(e0 + first.e, k0 + first.k);
  }

  /// Starts to copy the next tile, with zeros beyond the extent and beyond the `k_left` steps that
  /// are left along k.
  __device__ __forceinline__ void copy(T* tile, std::int64_t k_left) {
    const int k_there = static_cast<int>(k_left < BK ? k_left : BK) - k_;
    switch (way_) {
      case Way::along_k: copy<Pattern<1, true>>(tile + to_, k_there); break;
      case Way::vectors: copy<Pattern<Operand<T>::VEC, false>>(tile + to_, k_there); break;
      case Way::along_e: copy<Pattern<1, false>>(tile + to_, k_there); break;
    }
    from_ += BK * k_stride_;
  }

 private:
  enum class Way { along_k, vectors, along_e };

  struct Place {
    int e, k;
  };

  /// How the threads share a tile in pieces of N elements, neighbours next to each other.
  template <int N, bool ALONG_K>
  struct Pattern {
    static constexpr int SIZE = N * sizeof(T);
    static constexpr int COUNT = EXTENT * BK / N / THREADS;
    static constexpr int LINE = (ALONG_K ? BK : EXTENT) / N;  // pieces of one
    static_assert(COUNT * N * THREADS == EXTENT * BK, "each thread copies as many pieces");
    static_assert(THREADS % LINE == 0 || LINE % THREADS == 0, "a thread's pieces are evenly apart");

    static constexpr __device__ Place place(int within, int line) {
      return ALONG_K ? Place{line, within} : Place{within, line};
    }
    static __device__ __forceinline__ Place first() {
      const int thread = static_cast<int>(threadIdx.x);
      return place(thread % LINE * N, thread / LINE);
    }
    /// From this thread's first piece to its i-th.
    static constexpr __device__ Place delta(int i) {
      constexpr int lines = THREADS / LINE;  // at once
      if constexpr (lines > 0) return place(0, i * lines);
      constexpr int turns = LINE < THREADS ? 1 : LINE / THREADS;  // for a line
      return place(i % turns * THREADS * N, i / turns);
    }
  };

  template <class Pattern>
  __device__ __forceinline__ void copy(T* to, int k_there) const {
    RUNG_UNROLL
    for (int i = 0; i < Pattern::COUNT; ++i) {
      const Place d = Pattern::delta(i);
      const int bytes = d.e < e_left_ && d.k < k_there ? Pattern::SIZE : 0;
      ptx::cp_async<Pattern::SIZE>(to + d.k * LD + d.e, from_ + d.e * e_stride_ + d.k * k_stride_,
                                   bytes);
    }
  }

  Way way_;
  const T* from_;  // of this thread's first piece of the next tile
  std::int64_t e_stride_, k_stride_;
  int to_, k_;  // in the tile: where it goes, and its step along k
  int e_left_;
};

}  // namespace rung::cuda
