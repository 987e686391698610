#pragma once
// In a wheel, which is small, the command line takes from librung the CUDA rungs that librung has.

#include <cstddef>

#include "backends/cuda/images.hpp"

/// Those of librung; exported by a wheel's librung alone, for programs of the same wheel.
extern "C" [[gnu::visibility("default")]] const rung::cuda::Image* rung_cuda_images(
    std::size_t* count);
