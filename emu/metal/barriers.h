#pragma once
// Barriers, and the memory that they order.

namespace metal {

enum class mem_flags : uint {
  mem_none = 0,
  mem_device = 1,
  mem_threadgroup = 2,
  mem_device_and_threadgroup = 3,  // of Metal 1
  mem_texture = 4,
  mem_threadgroup_imageblock = 8,
  mem_object_data = 16
};

enum memory_order {
  memory_order_relaxed,
  memory_order_acquire,
  memory_order_release,
  memory_order_acq_rel,
  memory_order_seq_cst
};
enum thread_scope {
  thread_scope_thread,
  thread_scope_simdgroup,
  thread_scope_threadgroup,
  thread_scope_device
};

constexpr mem_flags operator|(mem_flags a, mem_flags b) {
  return static_cast<mem_flags>(static_cast<uint>(a) | static_cast<uint>(b));
}
constexpr mem_flags operator&(mem_flags a, mem_flags b) {
  return static_cast<mem_flags>(static_cast<uint>(a) & static_cast<uint>(b));
}

/// Waits for all threads of the threadgroup. The virtual GPU takes the flags literally: memory that
/// they do not name is not ordered.
RUNG_METAL void threadgroup_barrier(mem_flags flags, thread_scope = thread_scope_threadgroup) {
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

/// Waits for all threads of the simdgroup.
RUNG_METAL void simdgroup_barrier(mem_flags flags, thread_scope = thread_scope_simdgroup) {
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

RUNG_METAL void atomic_thread_fence(mem_flags, memory_order,
                                    thread_scope scope = thread_scope_device) {
  if (scope == thread_scope_threadgroup) {
    asm volatile("fence.acq_rel.cta;" ::: "memory");
  } else {
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
  }
}

}  // namespace metal
