#pragma once
// A tile of an operand that cp.async copies to shared memory. The copy needs no registers, and the
// issuing thread continues immediately.

#include <cstdint>

#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/basic.cuh"
#include "device/cuda/tile/operand.cuh"

namespace rung::cuda {

/// How an operand is copied.
enum class Way {
  vectors,  // 16 bytes along the extent at a time, fewer at the edge
  rows,     // 16 bytes along k at a time, without transposition (async_rows.cuh)
  pairs,    // two elements along k at a time (async_pairs.cuh)
  k_major,  // single elements, adjacent threads along k: cp.async cannot transpose
  any       // single elements, adjacent threads along the contiguous direction
};

/// True if a way is possible; `any` always is.
template <Way WAY, class T>
__device__ __forceinline__ bool can_copy(const Operand<T>& operand) {
  if constexpr (WAY == Way::any) return true;
  if constexpr (WAY == Way::k_major) return operand.is_k_major();
  if constexpr (WAY == Way::rows) {
    return operand.is_k_major() && operand.is_aligned() && operand.k % vector_width<T> == 0;
  }
  if constexpr (WAY == Way::pairs) {
    return operand.is_k_major() && operand.k % 2 == 0 && operand.x.row_stride % 2 == 0 &&
           reinterpret_cast<std::uintptr_t>(operand.x.data) % (2 * sizeof(T)) == 0;
  }
  return !operand.is_k_major() && operand.is_aligned();
}

/// Divides `steps` k-steps into k-blocks of BK. The first one has the remainder, so all others are
/// full and their copies need no guard along k.
template <int BK>
struct KTiles {
  int count;
  int first;  // steps of the first k-block: 1 to BK, or 0 if there are no k-blocks

  __device__ __forceinline__ explicit KTiles(std::int64_t steps)
      : count(steps > 0 ? static_cast<int>((steps + BK - 1) / BK) : 0),
        first(steps > 0 ? static_cast<int>((steps - 1) % BK) + 1 : 0) {}
};

/// Copies tiles of EXTENT x BK elements, stored as [BK][LD] in one of several stages of shared
/// memory.
///
/// A copy has at least 4 bytes, so 16-bit elements cannot use AsyncTile. The address computations
/// are free of branches, so that the compiler can interleave copies with FMAs: all at once, copies
/// would wait for each other.
template <class T, int EXTENT, int BK, int LD, int THREADS, Way WAY>
class AsyncTile {
 public:
  /// For tiles that begin at e0 in the extent and follow each other along k from k0.
  __device__ __forceinline__ AsyncTile(const Operand<T>& operand, std::int64_t e0, std::int64_t k0,
                                       T (*stages)[BK][LD]) {
    const int thread = static_cast<int>(threadIdx.x);
    by_k_ = WAY == Way::any && operand.is_k_major();
    const bool by_k = is_by_k();
    const int e = by_k ? thread / K_LINE : thread % E_LINE * N;
    k_ = by_k ? thread % K_LINE * N : thread / E_LINE;
    from_ = &operand.x(e0 + e, k0 + k_);
    to_ = ptx::cvta_to_shared(&stages[0][k_][e]);
    from_step_ = by_k ? E_STEP * operand.x.row_stride : PARTS * K_STEP * operand.x.col_stride;
    from_part_ = by_k ? K_LINE * N : K_STEP * operand.x.col_stride;
    k_stride_ = WAY == Way::k_major ? 1 : operand.x.col_stride;
    const std::int64_t e_left = operand.extent - e0 - e;
    const auto lines = static_cast<int>(e_left < EXTENT ? e_left : EXTENT);
    if constexpr (WAY == Way::vectors) {
      const int elements = lines < N ? lines : N;
      there_ = elements <= 0 ? 0 : elements * static_cast<int>(sizeof(T));
    } else {
      const int there = lines <= 0 ? 0 : by_k ? (lines + E_STEP - 1) / E_STEP * PARTS : COUNT;
      there_ = there < COUNT ? there : COUNT;
    }
  }

  /// Starts to copy the first tile to stage 0, with zeros after its `steps` k-steps and outside the
  /// extent.
  __device__ __forceinline__ void copy_first(int steps) {
    copy_to(to_, [&](int i, int n) {
      const int k = k_ + (is_by_k() ? i % PARTS * K_LINE + n : i * K_STEP);
      return k < steps ? bytes_of(i, there_) : 0;
    });
    from_ += steps * k_stride_;
  }

  /// Starts to copy the next tile to a stage, with zeros outside the extent; the whole tile is
  /// zeros if it does not exist.
  __device__ __forceinline__ void copy(int stage, bool exists) {
    const int there = exists ? there_ : 0;
    copy_to(to_ + stage * static_cast<std::uint32_t>(BK * LD * sizeof(T)),
            [&](int i, int) { return bytes_of(i, there); });
    from_ += BK * k_stride_;
  }

 private:
  // A thread copies groups of N elements: a vector along the extent, which is a single copy, or N
  // adjacent elements along k, which are N copies. The latter cost fewer instructions, but each
  // access touches more rows; that pays off while a tile's part of a row is one sector.
  static constexpr bool by_groups = BK * sizeof(T) <= 32;
  static constexpr int N =
      WAY == Way::vectors || (WAY == Way::k_major && by_groups) ? Operand<T>::VEC : 1;
  static constexpr int COPIES = WAY == Way::vectors ? 1 : N;
  static constexpr int SIZE = N / COPIES * static_cast<int>(sizeof(T));  // bytes per copy
  static constexpr int COUNT = EXTENT * BK / N / THREADS;
  static constexpr int E_LINE = EXTENT / N;  // groups per line along the extent
  // Groups per line along k, at most 16: 32 elements of one row would be stored to only eight
  // banks, and loading eight from each of four rows touches twice as many lines of memory.
  static constexpr int K_LINE = BK / N > 16 ? 16 : BK / N;
  static constexpr int PARTS = BK / N / K_LINE;  // parts per row; a thread has a group in each
  static_assert(COUNT % PARTS == 0, "a thread has groups in all parts of a row");
  // Distances between a thread's groups: along k if adjacent threads are along the extent,
  // otherwise along the extent.
  static constexpr int K_STEP = THREADS / E_LINE;
  static constexpr int E_STEP = THREADS / K_LINE;
  static_assert(COUNT * N * THREADS == EXTENT * BK, "each thread makes as many copies");
  static_assert(THREADS % E_LINE == 0 && THREADS % K_LINE == 0,
                "a thread's copies are evenly apart");

  /// A compile-time constant unless WAY is `any`.
  __device__ __forceinline__ bool is_by_k() const { return WAY == Way::k_major || by_k_; }

  /// The number of bytes in a copy of group i.
  static __device__ __forceinline__ int bytes_of(int i, int there) {
    if constexpr (WAY == Way::vectors) return there;
    return i < there ? SIZE : 0;
  }

  /// Copies group i in COPIES copies: copy n has bytes_of(i, n) bytes, followed by zeros.
  template <class Bytes>
  __device__ __forceinline__ void copy_to(std::uint32_t to, Bytes bytes_of) {
    const std::uint32_t to_step = (is_by_k() ? E_STEP : PARTS * K_STEP * LD) * sizeof(T);
    const std::uint32_t to_part = (is_by_k() ? K_LINE : K_STEP) * LD * sizeof(T);
    const std::int64_t from_part = WAY == Way::k_major ? K_LINE * N : from_part_;
    RUNG_UNROLL
    for (int i = 0; i < COUNT; ++i) {
      RUNG_UNROLL
      for (int n = 0; n < COPIES; ++n) {
        ptx::cp_async<SIZE>(to + i / PARTS * to_step + i % PARTS * to_part +
                                n * static_cast<std::uint32_t>(LD * sizeof(T)),
                            from_ + i / PARTS * from_step_ + i % PARTS * from_part + n,
                            bytes_of(i, n));
      }
    }
  }

  const T* from_;  // source of the next tile's first copy
  std::int64_t from_step_, from_part_, k_stride_;
  std::uint32_t to_;  // its destination in stage 0
  int k_;             // groups within the extent; for vectors, bytes of each
  int there_;         // groups within the extent; for vectors, which are all aligned alike, the
                      // bytes of each
  bool by_k_;         // adjacent threads copy adjacent elements along k
};

}  // namespace rung::cuda
