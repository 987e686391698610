#pragma once
// The parameter of the kernel in pack_weights.cu.

#include <cstdint>

#include "device/pack_weights.hpp"

namespace rung::cuda {

struct PackWeights {
  static constexpr int threads = 256;

  QuantizedRows from;
  WeightLayout layout;
  void* to;
};

}  // namespace rung::cuda
