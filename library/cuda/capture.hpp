#pragma once
// Handles streams that capture graphs during a call (CUDA Programming Guide, "CUDA Graphs"): the
// call's own stream and others.

#include <cstdint>

#include "core/cuda_driver/api.hpp"

namespace rung::cuda {

/// During its lifetime, this thread may allocate, free and load. Otherwise such calls would fail
/// during any thread's capture in global mode, and invalidate that capture.
class AllowedDuringCapture {
 public:
  explicit AllowedDuringCapture(const DriverApi& api)
      : api_(api), exchanged_(api.cuThreadExchangeStreamCaptureMode(&mode_) == Result::success) {}
  AllowedDuringCapture(const AllowedDuringCapture&) = delete;
  AllowedDuringCapture& operator=(const AllowedDuringCapture&) = delete;
  ~AllowedDuringCapture() {
    if (exchanged_) api_.cuThreadExchangeStreamCaptureMode(&mode_);
  }

 private:
  const DriverApi& api_;
  CaptureMode mode_ = CaptureMode::relaxed;
  bool exchanged_;
};

/// The graph that a stream is being captured into.
struct StreamCapture {
  bool is_active = false;
  std::uint64_t id = 0;  // unique for the process
  Graph graph = nullptr;
};

/// Throws rung::Error.
StreamCapture capture_of(const DriverApi& api, Stream stream);

}  // namespace rung::cuda
