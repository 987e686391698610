#pragma once
// Stores float sums as float or bfloat16. The type is run-time data, so one kernel supports both.

#include <cstdint>

#include "device/cuda/epilogue/tma_store.cuh"

namespace rung::cuda {

/// TmaStoreEpilogue::store_before(). With to_bf16, C and its map have bfloat16 elements.
///
/// Multiplying sums by alpha moves them to new registers. Without that, the pairs of registers that
/// are stored would be in the same banks as the partial sums that are added to them. If both
/// factors and the sum of an FMA are in one bank, tensor cores wait for registers.
template <int BN, class In, int J>
__device__ __forceinline__ void store_result(TmaStoreEpilogue<BN, float>& boxes,
                                             const Gemm<In, float>& g, const EncodedTensorMap& map,
                                             bool to_bf16, std::int64_t row, std::int64_t end,
                                             std::int64_t col, const float (&d)[J][4],
                                             int barrier) {
  using Rounded = TmaStoreEpilogue<BN, bfloat16>;
  static_assert(sizeof(Rounded) <= sizeof boxes);
  float results[J][4];
  RUNG_UNROLL
  for (int j = 0; j < J; ++j) {
    RUNG_UNROLL
    for (int i = 0; i < 4; ++i) results[j][i] = g.alpha * d[j][i];
  }
  const Gemm<In, float> left = {g.m, g.n, g.k, 1, g.a, g.b, g.beta, g.c};
  if (!to_bf16) return boxes.store_before(left, map, row, end, col, results, barrier);
  auto* const c = reinterpret_cast<bfloat16*>(g.c.data);
  const Gemm<In, bfloat16> rounded = {g.m, g.n, g.k,    1,
                                      g.a, g.b, g.beta, {c, g.c.row_stride, g.c.col_stride}};
  reinterpret_cast<Rounded&>(boxes).store_before(rounded, map, row, end, col, results, barrier);
}

}  // namespace rung::cuda
