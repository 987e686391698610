#pragma once
// Stores float sums as float or as bfloat16: which one is run-time data, so one kernel serves both.

#include <cstdint>

#include "device/cuda/epilogue/tma_store.cuh"

namespace rung::cuda {

/// TmaStoreEpilogue::store_before(). With to_bf16, C and its map have bfloat16 elements.
template <int BN, class In, int J>
__device__ __forceinline__ void store_result(TmaStoreEpilogue<BN, float>& boxes,
                                             const Gemm<In, float>& g, const EncodedTensorMap& map,
                                             bool to_bf16, std::int64_t row, std::int64_t end,
                                             std::int64_t col, const float (&d)[J][4],
                                             int barrier) {
  using Rounded = TmaStoreEpilogue<BN, bfloat16>;
  static_assert(sizeof(Rounded) <= sizeof boxes);
  if (!to_bf16) return boxes.store_before(g, map, row, end, col, d, barrier);
  auto* const c = reinterpret_cast<bfloat16*>(g.c.data);
  const Gemm<In, bfloat16> rounded = {g.m, g.n, g.k,    g.alpha,
                                      g.a, g.b, g.beta, {c, g.c.row_stride, g.c.col_stride}};
  reinterpret_cast<Rounded&>(boxes).store_before(rounded, map, row, end, col, d, barrier);
}

}  // namespace rung::cuda
