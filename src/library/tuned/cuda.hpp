#pragma once
// The rungs that the library uses on NVIDIA GPUs: data, to be changed by measurement (`rung bench
// --device gpu` prints the library's choice beside every rung). The last rule must fit everything;
// a test checks it.

#include "library/cuda/rules.hpp"

namespace rung::tuned {

inline constexpr CudaGemmRule cuda_gemm_rules[] = {
    {.dtypes = Dtypes::of(Dtype::f32, Dtype::f64, Dtype::i32),
     .min_arch = 80,
     .use = cuda::GemmRungIndex::gemm_11_split_k},
    {.dtypes = Dtypes::of(Dtype::bf16, Dtype::f16),
     .min_arch = 90,
     .max_arch = 90,
     .use = cuda::GemmRungIndex::gemm_29_shapes},
    {.dtypes = Dtypes::of(Dtype::bf16, Dtype::f16),
     .min_arch = 80,
     .use = cuda::GemmRungIndex::gemm_22_stages},
    // GPUs without cp.async.
    {.use = cuda::GemmRungIndex::gemm_08_double_buffer},
};

}  // namespace rung::tuned
