#pragma once
// Threads that wait for each other, and which memory is in order afterwards.

namespace metal {

enum class mem_flags : uint { mem_none = 0, mem_device = 1, mem_threadgroup = 2 };

constexpr mem_flags operator|(mem_flags a, mem_flags b) {
  return static_cast<mem_flags>(static_cast<uint>(a) | static_cast<uint>(b));
}

/// Waits for all threads of the threadgroup. The virtual GPU takes the flags at their word: memory
/// that they do not name is in no order.
__attribute__((always_inline)) inline void threadgroup_barrier(mem_flags flags) {
  if (flags == mem_flags::mem_none) {
    asm volatile("bar.sync.none 0;" ::: "memory");
  } else if (flags == mem_flags::mem_threadgroup) {
    asm volatile("bar.sync.threadgroup 0;" ::: "memory");
  } else if (flags == mem_flags::mem_device) {
    asm volatile("bar.sync.device 0;" ::: "memory");
  } else {
    __nvvm_bar_sync(0);
  }
}

/// The same for the threads of the simdgroup.
__attribute__((always_inline)) inline void simdgroup_barrier(mem_flags flags) {
  if (flags == mem_flags::mem_none) {
    asm volatile("bar.warp.sync.none 0xFFFFFFFF;" ::: "memory");
  } else if (flags == mem_flags::mem_threadgroup) {
    asm volatile("bar.warp.sync.threadgroup 0xFFFFFFFF;" ::: "memory");
  } else if (flags == mem_flags::mem_device) {
    asm volatile("bar.warp.sync.device 0xFFFFFFFF;" ::: "memory");
  } else {
    __nvvm_bar_warp_sync(0xFFFFFFFFu);
  }
}

}  // namespace metal
