#include "library/cuda/capture.hpp"

#include "library/cuda/driver.hpp"

namespace rung::cuda {

StreamCapture capture_of(const DriverApi& api, Stream stream) {
  CaptureStatus status = CaptureStatus::none;
  StreamCapture capture;
  require(
      api,
      api.cuStreamGetCaptureInfo(stream, &status, &capture.id, &capture.graph, nullptr, nullptr),
      "cuStreamGetCaptureInfo");
  capture.is_active = status == CaptureStatus::active;
  return capture;
}

}  // namespace rung::cuda
