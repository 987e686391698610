#pragma once
// Access to librung's CUDA rungs from the command line in a wheel, which avoids a second copy.

#include <cstddef>

#include "backends/cuda/images.hpp"

/// The images of librung. Only the librung of a wheel exports them, for programs in the same wheel.
extern "C" [[gnu::visibility("default")]] const rung::cuda::Image* rung_cuda_images(
    std::size_t* count);
