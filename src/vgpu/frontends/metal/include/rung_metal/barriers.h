#pragma once
// Threads that wait for each other, and which memory is in order afterwards.

namespace metal {

enum class mem_flags : uint { mem_none = 0, mem_device = 1, mem_threadgroup = 2 };

constexpr mem_flags operator|(mem_flags a, mem_flags b) {
  return static_cast<mem_flags>(static_cast<uint>(a) | static_cast<uint>(b));
}

/// Waits for all threads of the threadgroup.
__attribute__((always_inline)) inline void threadgroup_barrier(mem_flags) { __nvvm_bar_sync(0); }

/// Waits for all threads of the simdgroup.
__attribute__((always_inline)) inline void simdgroup_barrier(mem_flags) {
  __nvvm_bar_warp_sync(0xFFFFFFFFu);
}

}  // namespace metal
