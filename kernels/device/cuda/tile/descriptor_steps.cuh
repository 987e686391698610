#pragma once
// wgmma matrix descriptors at offsets from a first one, for loops that have no time to encode each.

#include <cstdint>

#include "device/cuda/keywords.cuh"

namespace rung::cuda {

class DescriptorSteps {
 public:
  __device__ __forceinline__ explicit DescriptorSteps(std::uint64_t first)
      : low_(static_cast<std::uint32_t>(first)), high_(static_cast<std::uint32_t>(first >> 32)) {}

  /// The descriptor of the same shape, `bytes` (a multiple of 16) after the first one. The address
  /// occupies the low bits, in units of 16 bytes, and cannot carry into other fields because shared
  /// memory is small enough.
  __device__ __forceinline__ std::uint64_t at(std::uint32_t bytes) const {
    return std::uint64_t{high_} << 32 | (low_ + bytes / 16);
  }

 private:
  std::uint32_t low_, high_;
};

}  // namespace rung::cuda
