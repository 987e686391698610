#pragma once
// Converts elements to factors of FMAs.

#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/mma.cuh"
#include "device/cuda/types.cuh"

namespace rung::cuda {

/// An element as a factor. tf32 is rounded to the bits that tensor cores would multiply.
template <class Sum, class In>
__device__ __forceinline__ Sum as_sum(const In& element) {
  if constexpr (requires { element.value; }) {
    return ptx::cvt_rna_tf32(element.value);
  } else {
    return static_cast<Sum>(element);
  }
}

}  // namespace rung::cuda
