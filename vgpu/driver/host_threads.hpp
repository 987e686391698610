#pragma once
// Threads of the host, which may tell each other what they have waited for in ways that cannot be seen, such
// as atomics. So the order of operations takes each to know what any of them has waited for by then. A thread
// that waits for the device therefore lets the others go first: an operation that another thread makes
// meanwhile does not depend on the wait, and is not ordered after it.

#include <chrono>

namespace rung::vgpu {

/// From now on, the null stream is the calling thread's own default stream (nvcc's --default-stream per-thread).
void use_per_thread_default_streams();

/// While it exists, this thread sleeps for a time. A wait for the device lets it wake up first.
class SleepingThread {
 public:
  explicit SleepingThread(std::chrono::nanoseconds time);
  ~SleepingThread();
  SleepingThread(const SleepingThread&) = delete;
  SleepingThread& operator=(const SleepingThread&) = delete;

 private:
  std::chrono::steady_clock::time_point end_;
};

}  // namespace rung::vgpu

namespace rung::vgpu::driver {

/// This thread is in a call of the driver, perhaps waiting for another thread's. Calls may be nested.
class ThreadInCall {
 public:
  ThreadInCall();
  ~ThreadInCall();
  ThreadInCall(const ThreadInCall&) = delete;
  ThreadInCall& operator=(const ThreadInCall&) = delete;
};

/// Waits until all other threads of the process wait or have ended, for at most 0.1 s, and for 1 s in all
/// calls. Does nothing within a call of the driver. On Linux alone.
void let_other_threads_go_first();

}  // namespace rung::vgpu::driver
