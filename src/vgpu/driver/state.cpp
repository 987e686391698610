#include "vgpu/driver/state.hpp"

#include <cstdio>

namespace rung::vgpu::driver {

using cuda::Limit;

ContextState::ContextState(cuda::Context own_handle, unsigned own_flags,
                           const DeviceDescription& device)
    : handle(own_handle),
      id(next_handle()),
      flags(own_flags),
      memory(static_cast<std::size_t>(device.memory_bytes)) {
  limits = {{Limit::stack_size, 1024},
            {Limit::printf_fifo_size, 1 << 20},
            {Limit::malloc_heap_size, 8 << 20},
            {Limit::dev_runtime_pending_launch_count, 2048},
            {Limit::max_l2_fetch_granularity, 64},
            {Limit::persisting_l2_cache_size, 0}};
}

Process& process() {
  // Never destroyed: a program may call the driver while its own statics are.
  static Process* const the_process = new Process;
  return *the_process;
}

// Never destroyed: objects of static lifetime call the driver in their destructors, when what
// belongs to the thread is gone.
std::vector<cuda::Context>& context_stack() {
  thread_local auto* const stack = new std::vector<cuda::Context>;
  return *stack;
}

std::string& last_message() {
  thread_local auto* const message = new std::string;
  return *message;
}

void flush_printed(ContextState& context) {
  if (context.printed.empty()) return;
  const std::string text = std::move(context.printed);
  context.printed.clear();
  if (process().sink) {
    process().sink(text);
  } else {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  }
}

}  // namespace rung::vgpu::driver
