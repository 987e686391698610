#pragma once

#include "backends/backend.hpp"
#include "backends/cuda/gpu.hpp"

namespace rung {

/// This program's virtual GPU, with one multiprocessor and 64 KiB of L2 cache.
const Backend& virtual_backend();
cuda::Gpu& virtual_gpu();

}  // namespace rung
