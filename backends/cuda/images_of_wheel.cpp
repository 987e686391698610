// In a wheel, programs reuse the images of librung, which is installed next to them, to save space.

#include <cstddef>
#include <vector>

#include "backends/cuda/images.hpp"
#include "backends/cuda/images_of_library.hpp"

namespace rung::cuda {

/// Generated: the images of rungs that librung lacks.
std::span<const Image> images_of_program();

std::span<const Image> images() {
  static const std::vector<Image> all = [] {
    std::size_t count = 0;
    const Image* const first = rung_cuda_images(&count);
    std::vector<Image> joined(first, first + count);
    const std::span<const Image> own = images_of_program();
    joined.insert(joined.end(), own.begin(), own.end());
    return joined;
  }();
  return all;
}

}  // namespace rung::cuda
