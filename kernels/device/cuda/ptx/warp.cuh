#pragma once
// PTX warp-level votes and shuffles, for all 32 lanes.

#include <cstdint>

#include "device/cuda/keywords.cuh"

namespace rung::ptx {

#ifdef RUNG_HOST

// Only declared for kernel templates; the host never calls them.
std::uint32_t vote_ballot(bool value);
template <class T>
T shfl_idx(T value, int lane);
std::uint32_t shfl_up(std::uint32_t value, int lanes);

#else

/// vote.sync.ballot.b32: one bit per lane.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#parallel-synchronization-and-communication-instructions-vote-sync
__device__ __forceinline__ std::uint32_t vote_ballot(bool value) {
  std::uint32_t result;
  asm volatile(
      "{\n\t"
      ".reg .pred value;\n\t"
      "setp.ne.b32 value, %1, 0;\n\t"
      "vote.sync.ballot.b32 %0, value, 0xffffffff;\n\t"
      "}"
      : "=r"(result)
      : "r"(value ? 1 : 0));
  return result;
}

/// shfl.sync.idx.b32: the value of lane `lane`.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-shfl-sync
__device__ __forceinline__ float shfl_idx(float value, int lane) {
  float result;
  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, 0xffffffff;"
               : "=f"(result)
               : "f"(value), "r"(lane));
  return result;
}
__device__ __forceinline__ std::uint32_t shfl_idx(std::uint32_t value, int lane) {
  std::uint32_t result;
  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, 0xffffffff;"
               : "=r"(result)
               : "r"(value), "r"(lane));
  return result;
}

/// shfl.sync.up.b32: the value of the lane `lanes` positions lower; the first lanes keep their own.
__device__ __forceinline__ std::uint32_t shfl_up(std::uint32_t value, int lanes) {
  std::uint32_t result;
  asm volatile("shfl.sync.up.b32 %0, %1, %2, 0, 0xffffffff;"
               : "=r"(result)
               : "r"(value), "r"(lanes));
  return result;
}

/// Shuffles 64 bits as two halves.
__device__ __forceinline__ double shfl_idx(double value, int lane) {
  float low, high;
  asm("mov.b64 {%0, %1}, %2;" : "=f"(low), "=f"(high) : "d"(value));
  low = shfl_idx(low, lane);
  high = shfl_idx(high, lane);
  double result;
  asm("mov.b64 %0, {%1, %2};" : "=d"(result) : "f"(low), "f"(high));
  return result;
}

#endif

}  // namespace rung::ptx
