#include "backends/cuda/images_of_library.hpp"

extern "C" const rung::cuda::Image* rung_cuda_images(std::size_t* count) {
  const std::span<const rung::cuda::Image> images = rung::cuda::images();
  *count = images.size();
  return images.data();
}
