#pragma once
// The questions of the bench about GPUs. A program without the GPUs' kernels has other definitions
// (apps/rung/ladder/elsewhere.cpp).

#include <cstdint>
#include <memory>
#include <string>

#include "tools/measure/workload.hpp"

namespace rung {

/// rung::gemm() and rung::dot() on the backend's CUDA GPU, real or virtual; null if it has none.
std::unique_ptr<Contender> library_on_gpu(const Backend& backend, ComputeMode mode, bool is_mixed);

/// The rung that the library selects for a call on the backend's CUDA GPU; empty if it has none.
std::string choice_on_gpu(const Backend& backend, const GemmCall& call);
std::string choice_on_gpu(const Backend& backend, const DotCall& call);

/// FMAs of a data type on the backend's GPU. Empty without a GPU, on the virtual GPU, whose times
/// are meaningless, on Apple GPUs, and for types that the GPU does not support.
WorkloadCeiling gpu_multiply_add_ceiling(const Backend& backend, Dtype dtype);

/// Reads this number of bytes. Empty where the other ceiling is.
WorkloadCeiling gpu_read_ceiling(const Backend& backend, std::int64_t bytes);

}  // namespace rung
