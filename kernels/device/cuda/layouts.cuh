#pragma once
// Kernels for tensor cores are compiled once for each way in which A and B can lie in memory: the
// instructions differ.

#include "device/cuda/operand.cuh"

// After the parameters of a lambda: compilers leave a large one out of line otherwise, and tensor
// cores then wait at the call.
#define RUNG_INLINE_LAMBDA __attribute__((always_inline))

namespace rung::cuda {

/// Calls f.template operator()<A_ALONG_K, B_ALONG_K>().
template <class In, class Out, class F>
__device__ __forceinline__ void with_layouts(const Gemm<In, Out>& g, const F& f) {
  if constexpr (is_read_along_k<In>) {
    f.template operator()<true, true>();
  } else if (operand_a(g).is_along_k()) {
    if (operand_b(g).is_along_k()) {
      f.template operator()<true, true>();
    } else {
      f.template operator()<true, false>();
    }
  } else {
    if (operand_b(g).is_along_k()) {
      f.template operator()<false, true>();
    } else {
      f.template operator()<false, false>();
    }
  }
}

}  // namespace rung::cuda
