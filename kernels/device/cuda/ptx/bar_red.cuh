#pragma once
// PTX block-wide votes.

#include "device/cuda/keywords.cuh"

namespace rung::ptx {

#ifdef RUNG_HOST

// Only declared for kernels; the host never calls it.
bool bar_red_or(bool value);

#else

/// bar.red.or.pred at barrier 0: true if `value` is true in any thread of the block.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#parallel-synchronization-and-communication-instructions-bar
__device__ __forceinline__ bool bar_red_or(bool value) {
  int any;
  asm volatile(
      "{\n\t"
      ".reg .pred value, any;\n\t"
      "setp.ne.b32 value, %1, 0;\n\t"
      "bar.red.or.pred any, 0, value;\n\t"
      "selp.b32 %0, 1, 0, any;\n\t"
      "}"
      : "=r"(any)
      : "r"(value ? 1 : 0)
      : "memory");
  return any != 0;
}

#endif

}  // namespace rung::ptx
