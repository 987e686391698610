#pragma once
// Products with an epilogue on the current GPU.

#include "core/cuda_driver/api.hpp"
#include "library/epilogue.hpp"
#include "rung/cuda.hpp"

namespace rung::cuda {

/// Pointers are device pointers. Throws rung::Error and std::bad_alloc.
void gemm_epilogue(const EpilogueCall& call, Stream stream, const CudaOptions& options);

}  // namespace rung::cuda
