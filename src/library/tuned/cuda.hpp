#pragma once
// The rungs that the library uses on NVIDIA GPUs: data, to be changed by measurement (`rung bench
// --device gpu` prints the library's choice beside every rung). The last rule must fit everything;
// a test checks it.

#include "library/cuda/rules.hpp"

namespace rung::tuned {

inline constexpr CudaGemmRule cuda_gemm_rules[] = {
    {.use = cuda::GemmRungIndex::gemm_02_shared_tile},
};

}  // namespace rung::tuned
