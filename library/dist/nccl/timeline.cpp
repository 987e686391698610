#include "library/dist/nccl/timeline.hpp"

namespace rung::nccl {

Timeline::~Timeline() {
  for (const cuda::Event event : events_) driver_.cuEventDestroy(event);
}

cuda::Event Timeline::record(cuda::Stream stream) {
  cuda::Event event = nullptr;
  require(driver_, driver_.cuEventCreate(&event, 0), "cuEventCreate");
  events_.push_back(event);
  require(driver_, driver_.cuEventRecord(event, stream), "cuEventRecord");
  return event;
}

double Timeline::seconds_until(cuda::Event event) const {
  float milliseconds = 0;
  require(driver_, driver_.cuEventElapsedTime(&milliseconds, zero_, event), "cuEventElapsedTime");
  return static_cast<double>(milliseconds) * 1e-3;
}

std::vector<dist::TimelineSpan> Timeline::read() const {
  std::vector<dist::TimelineSpan> all;
  for (const Span& span : spans_) {
    all.push_back(
        {span.lane, span.work, span.rows, seconds_until(span.begin), seconds_until(span.end)});
  }
  return all;
}

}  // namespace rung::nccl
