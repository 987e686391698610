#pragma once
// The position in a circular buffer of stages in shared memory.

#include <cstdint>

#include "device/cuda/keywords.cuh"

namespace rung::cuda {

/// The next stage, and the parity of the current phase of its mbarriers, which flips whenever the
/// position wraps around to the first stage.
template <int STAGES>
struct PipelineState {
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
