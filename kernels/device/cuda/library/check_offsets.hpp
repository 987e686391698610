#pragma once
// The parameter of the kernel in scale.cu that checks the offsets of grouped products.

#include <cstdint>

namespace rung::cuda {

struct CheckOffsets {
  static constexpr int threads = 32;

  const std::int32_t* offsets;  // groups + 1 elements
  std::int64_t groups;
  std::int64_t extent;  // upper limit of offsets
  int* status;          // set to 1 if an offset decreases or is outside [0, extent]
};

}  // namespace rung::cuda
