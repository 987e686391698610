#include "vgpu/driver/state.hpp"

#include <pthread.h>

#include <atomic>
#include <cstdio>
#include <memory>
#include <new>

namespace rung::vgpu::driver {

using cuda::Limit;

ContextState::ContextState(cuda::Context own_handle, unsigned own_flags,
                           const DeviceDescription& device)
    : handle(own_handle),
      id(next_handle()),
      flags(own_flags),
      memory(static_cast<std::size_t>(device.memory_bytes)) {
  limits = {{Limit::stack_size, 1024},
            {Limit::printf_fifo_size, default_printf_bytes},
            {Limit::malloc_heap_size, 8 << 20},
            {Limit::dev_runtime_pending_launch_count, 2048},
            {Limit::max_l2_fetch_granularity, 64},
            {Limit::persisting_l2_cache_size, 0}};
}

Process& process() {
  // Never destroyed: a program may call the driver while its static objects are destroyed.
  static Process* const the_process = new Process;
  return *the_process;
}

bool is_forked_child() {
  static std::atomic<bool> is_child = false;
  [[maybe_unused]] static const int watched =
      pthread_atfork(nullptr, nullptr, [] { is_child = is_child || process().initialised; });
  return is_child;
}

namespace {

struct ThreadState {
  std::uint64_t number = next_handle();
  std::vector<cuda::Context> contexts;
  std::string message;
  cuda::CaptureMode capture_mode = cuda::CaptureMode::global;
};

// A POSIX key instead of thread_local: it is destroyed when its thread ends but not at exit, where
// destructors of static objects still call the driver.
ThreadState& thread_state() {
  static const pthread_key_t key = [] {
    pthread_key_t made{};
    const auto destroy = [](void* state) { delete static_cast<ThreadState*>(state); };
    if (pthread_key_create(&made, destroy) != 0) throw std::bad_alloc();
    return made;
  }();
  if (void* const state = pthread_getspecific(key)) return *static_cast<ThreadState*>(state);
  auto made = std::make_unique<ThreadState>();
  if (pthread_setspecific(key, made.get()) != 0) throw std::bad_alloc();
  return *made.release();
}

}  // namespace

std::vector<cuda::Context>& context_stack() { return thread_state().contexts; }

std::uint64_t thread_number() { return thread_state().number; }

std::string& last_message() { return thread_state().message; }

cuda::CaptureMode& capture_mode() { return thread_state().capture_mode; }

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
