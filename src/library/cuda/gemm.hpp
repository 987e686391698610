#pragma once
// A gemm of any types, checked, to the rung that the rules choose on the current GPU.

#include "cuda_driver/api.hpp"
#include "library/canonical.hpp"
#include "rung/cuda.hpp"

namespace rung::cuda {

/// The pointers are the device's. Throws rung::Error and std::bad_alloc.
void gemm(const CanonicalCall& canonical, Stream stream, const CudaOptions& options);

}  // namespace rung::cuda
