#pragma once
// Elements as factors of products that FMAs add.

#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/mma.cuh"
#include "device/cuda/types.cuh"

namespace rung::cuda {

/// An element as a factor: of tf32 with the bits that tensor cores would multiply.
template <class Sum, class In>
__device__ __forceinline__ Sum as_sum(const In& element) {
  if constexpr (requires { element.value; }) {
    return ptx::cvt_rna_tf32(element.value);
  } else {
    return static_cast<Sum>(element);
  }
}

}  // namespace rung::cuda
