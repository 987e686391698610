#pragma once
// Tiles in several stages of shared memory, one after another and then from the first again.

#include <cstdint>

#include "device/cuda/keywords.cuh"

namespace rung::cuda {

/// Which stage is next, and the parity of the phase that its barriers are in: it changes with each
/// round.
template <int STAGES>
struct Ring {
  int stage = 0;
  std::uint32_t parity = 0;

  __device__ __forceinline__ void advance() {
    if (++stage == STAGES) {
      stage = 0;
      parity ^= 1;
    }
  }
};

}  // namespace rung::cuda
