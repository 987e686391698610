#pragma once
// The descriptors that the files of kernels/*/cuda define, declared from their rungs.inc.

#include "device/cuda/descriptor.hpp"

namespace rung {

#define RUNG(number, slug) extern const cuda::GemmRung gemm_cuda_##number##_##slug;
#include "gemm/cuda/rungs.inc"
#undef RUNG

}  // namespace rung
