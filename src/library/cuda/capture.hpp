#pragma once
// What a call of the library may meet while streams capture graphs (CUDA Programming Guide, "CUDA
// Graphs"): captures of its own stream, and of others.

#include <cstdint>

#include "cuda_driver/api.hpp"

namespace rung::cuda {

/// While it lives, this thread may allocate, free and load: otherwise such a call fails during any
/// thread's capture in global mode, and invalidates that capture.
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

/// The graph that a stream's work goes into.
struct StreamCapture {
  bool is_active = false;
  std::uint64_t id = 0;  // never used twice
  Graph graph = nullptr;
};

/// Throws rung::Error.
StreamCapture capture_of(const DriverApi& api, Stream stream);

}  // namespace rung::cuda
