#pragma once

#include "backends/backend.hpp"
#include "backends/cuda/gpu.hpp"

namespace rung {

/// A GPU of one multiprocessor and 64 KiB of L2 cache, the one of this program.
const Backend& virtual_backend();
cuda::Gpu& virtual_gpu();

}  // namespace rung
