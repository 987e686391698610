#pragma once
// CUDA graphs: calls recorded once and replayed by the device without the host (CUDA C++
// Programming Guide, "CUDA Graphs").

#include <functional>

#include "backends/cuda/gpu.hpp"

namespace rung::cuda {

class RecordedCalls {
 public:
  /// Records the work that `enqueue` puts into the device's stream, without running it. Throws
  /// DriverError if it cannot be recorded.
  RecordedCalls(Gpu& gpu, const std::function<void()>& enqueue);
  RecordedCalls(const RecordedCalls&) = delete;
  RecordedCalls& operator=(const RecordedCalls&) = delete;
  ~RecordedCalls();

  /// enqueue() and wait() throw KernelError, like Gpu::launch() and Gpu::wait().
  void enqueue();
  void wait() { gpu_.wait("graph"); }

 private:
  Gpu& gpu_;
  int generation_;
  GraphExec exec_ = nullptr;
};

}  // namespace rung::cuda
