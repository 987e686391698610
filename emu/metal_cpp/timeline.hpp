#pragma once
// The order of the GPU's work, by streams and events of the virtual driver: each serial encoder, and each
// dispatch of a concurrent one, has a stream of its own, and waits for the points that Metal orders it after.

#include <memory>
#include <utility>
#include <vector>

#include "core/cuda_driver/api.hpp"

namespace rung::emu::metal_cpp {

/// The driver, with its context current in this thread.
const cuda::DriverApi& gpu();

/// A moment of the GPU's work.
class Point {
 public:
  Point() : event_(nullptr) { gpu().cuEventCreate(&event_, cuda::event_disable_timing); }
  ~Point() { gpu().cuEventDestroy(event_); }
  Point(const Point&) = delete;
  Point& operator=(const Point&) = delete;
  cuda::Event event() const { return event_; }

 private:
  cuda::Event event_;
};
using PointPtr = std::shared_ptr<const Point>;
using Points = std::vector<PointPtr>;

class Stream {
 public:
  explicit Stream(const Points& after) {
    gpu().cuStreamCreate(&stream_, cuda::stream_non_blocking);
    wait_for(after);
  }
  ~Stream() { gpu().cuStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  void wait_for(const Points& points) {
    for (const PointPtr& each : points) gpu().cuStreamWaitEvent(stream_, each->event(), 0);
  }
  /// Everything in the stream so far.
  PointPtr record() {
    auto point = std::make_shared<const Point>();
    gpu().cuEventRecord(point->event(), stream_);
    return point;
  }
  cuda::Stream handle() const { return stream_; }

 private:
  cuda::Stream stream_ = nullptr;
};

/// One point after all of these.
inline PointPtr joined(const Points& points) {
  return points.size() == 1 ? points.front() : Stream(points).record();
}

inline void append(Points& points, const Points& more) {
  points.insert(points.end(), more.begin(), more.end());
}

/// The host waits for these.
inline void let_host_wait(const Points& points) {
  for (const PointPtr& each : points) gpu().cuEventSynchronize(each->event());
}

}  // namespace rung::emu::metal_cpp
