#pragma once
// Adds the sums of a product with few rows or columns in shared memory and stores them to C.

#include <cstdint>

#include "device/cuda/epilogue/split_k.cuh"
#include "device/cuda/keywords.cuh"
#include "device/cuda/tile/block_work.cuh"
#include "device/cuda/tile/skinny_problem.cuh"

namespace rung::cuda {

/// Sums for ROWS rows of the short operand and MANY of the long one, from up to K_WARPS warps that
/// process different k-steps.
template <class Sum, int ROWS, int MANY, int K_WARPS>
struct SkinnySums {
  static constexpr int PITCH = MANY + 1;  // rows begin in different banks

  Sum sums[K_WARPS * ROWS * PITCH];

  __device__ __forceinline__ Sum& at(int k_warp, int few, int many) {
    return sums[(k_warp * ROWS + few) * PITCH + many];
  }

  /// Stores the totals over `k_warps` warps and all splits of k. Adjacent threads store adjacent
  /// elements.
  template <int THREADS, class In, class Out>
  __device__ __forceinline__ void store(const SkinnyProblem<In, Out>& problem,
                                        const SplitK& split_k, const BlockWork& work,
                                        const SkinnyPlace& place, int k_warps) const {
    const bool along_many = problem.many_stride == 1;
    const std::int64_t few = problem.few.extent - place.few0;
    const std::int64_t many = problem.many.extent - place.many0;
    const int rows = few < ROWS ? static_cast<int>(few) : ROWS;
    const auto few_of = [&](int i) RUNG_INLINE_LAMBDA { return along_many ? i / MANY : i % rows; };
    const auto many_of = [&](int i) RUNG_INLINE_LAMBDA { return along_many ? i % MANY : i / rows; };
    const auto total = [&](int i) RUNG_INLINE_LAMBDA {
      const Sum* const from = sums + few_of(i) * PITCH + many_of(i);
      Sum sum = *from;
      RUNG_NO_UNROLL
      for (int warp = 1; warp < k_warps; ++warp) sum += from[warp * ROWS * PITCH];
      return sum;
    };
    const auto store_total = [&](int i, const Sum& sum) RUNG_INLINE_LAMBDA {
      if (many_of(i) < many) {
        problem.store(place.few0 + few_of(i), place.many0 + many_of(i), sum);
      }
    };
    const int count = rows * MANY;
    if (work.is_whole()) {
      for (int i = static_cast<int>(threadIdx.x); i < count; i += THREADS) {
        store_total(i, total(i));
      }
    } else {
      share_sums<THREADS, ROWS * MANY>(split_k.workspace, work, count, total, store_total);
    }
  }
};

}  // namespace rung::cuda
