#pragma once
// A tile of an operand on its way to shared memory by cp.async: no register holds it, and the
// thread that asks goes on at once.

#include <cstdint>

#include "device/cuda/keywords.cuh"
#include "device/cuda/operand.cuh"
#include "device/cuda/ptx.cuh"

namespace rung::cuda {

/// How an operand comes.
enum class Way {
  vectors,  // 16 bytes along the extent at a time
  along_k,  // elements one by one, neighbouring threads along k: cp.async cannot transpose
  any       // elements one by one, neighbouring threads along whichever direction lies together
};

/// Whether a way is possible; `any` always is.
template <Way WAY, class T>
__device__ __forceinline__ bool can_come(const Operand<T>& operand) {
  if constexpr (WAY == Way::along_k) return operand.is_along_k();
  if constexpr (WAY == Way::any) return true;
  return !operand.is_along_k() && operand.is_aligned() && operand.extent % Operand<T>::VEC == 0;
}

/// EXTENT x BK elements, which lie as [BK][LD] in one of several stages of shared memory.
///
/// A copy is 4 bytes at least, so 16-bit elements have no AsyncTile. What copies need is free of
/// branches, so that the compiler can spread them among multiply-adds: all at once, they would wait
/// for each other.
template <class T, int EXTENT, int BK, int LD, int THREADS, Way WAY>
class AsyncTile {
 public:
  /// For tiles that begin at e0 in the extent, and at k0 and one after another along k.
  __device__ __forceinline__ AsyncTile(const Operand<T>& operand, std::int64_t e0, std::int64_t k0,
                                       T (*stages)[BK][LD]) {
    const int thread = static_cast<int>(threadIdx.x);
    by_k_ = WAY == Way::any && operand.is_along_k();
    const bool by_k = is_by_k();
    const int e = by_k ? thread / BK : thread % LINE * N;
    k_ = by_k ? thread % BK : thread / LINE;
    from_ = &operand.x(e0 + e, k0 + k_);
    to_ = ptx::cvta_to_shared(&stages[0][k_][e]);
    from_step_ = by_k ? E_STEP * operand.x.row_stride : K_STEP * operand.x.col_stride;
    next_ = BK * operand.x.col_stride;
    const std::int64_t e_left = operand.extent - e0 - e;
    const auto lines = static_cast<int>(e_left < EXTENT ? e_left : EXTENT);
    const int there = lines <= 0 ? 0 : by_k ? (lines + E_STEP - 1) / E_STEP : COUNT;
    there_ = there < COUNT ? there : COUNT;
  }

  /// Starts to copy the next tile to a stage, with zeros beyond the extent and beyond the `k_left`
  /// steps that are left along k, perhaps none or fewer.
  __device__ __forceinline__ void copy(int stage, std::int64_t k_left) {
    const std::uint32_t to = to_ + stage * static_cast<std::uint32_t>(BK * LD * sizeof(T));
    const int k_there = static_cast<int>(k_left < BK ? k_left < 0 ? 0 : k_left : BK) - k_;
    const int along_k = is_by_k() ? (k_there > 0 ? COUNT : 0) : (k_there + K_STEP - 1) / K_STEP;
    const int there = along_k < there_ ? along_k : there_;
    RUNG_UNROLL
    for (int i = 0; i < COUNT; ++i) {
      ptx::cp_async<N * sizeof(T)>(to + i * to_step(), from_ + i * from_step_,
                                   i < there ? N * sizeof(T) : 0);
    }
    from_ += next_;
  }

 private:
  static constexpr int N = WAY == Way::vectors ? Operand<T>::VEC : 1;  // elements of one copy
  static constexpr int LINE = EXTENT / N;  // copies of one line along the extent
  static constexpr int COUNT = EXTENT * BK / N / THREADS;
  // From a thread's copy to its next: along k where neighbours lie along the extent, or the
  // reverse.
  static constexpr int K_STEP = THREADS / LINE;
  static constexpr int E_STEP = THREADS / BK;
  static_assert(COUNT * N * THREADS == EXTENT * BK, "each thread makes as many copies");
  static_assert(THREADS % LINE == 0 && THREADS % BK == 0, "a thread's copies are evenly apart");

  /// Known to the compiler, unless any way is possible.
  __device__ __forceinline__ bool is_by_k() const { return WAY == Way::along_k || by_k_; }
  __device__ __forceinline__ std::uint32_t to_step() const {
    return (is_by_k() ? E_STEP : K_STEP * LD) * sizeof(T);
  }

  const T* from_;  // of the first copy of the next tile
  std::int64_t from_step_, next_;
  std::uint32_t to_;  // where it goes in the first stage
  int k_;             // its step along k
  int there_;         // copies within the extent
  bool by_k_;         // neighbouring threads copy neighbours along k
};

}  // namespace rung::cuda
