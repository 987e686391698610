#include "vgpu/happens_before/program_clock.hpp"

#include <algorithm>

namespace rung::vgpu {

void ProgramClock::add(ProgramPoint point) {
  if (times_.size() <= point.timeline) times_.resize(point.timeline + 1);
  times_[point.timeline] = std::max(times_[point.timeline], point.time);
}

void ProgramClock::join(const ProgramClock& other) {
  if (times_.size() < other.times_.size()) times_.resize(other.times_.size());
  for (std::size_t i = 0; i < other.times_.size(); ++i) {
    times_[i] = std::max(times_[i], other.times_[i]);
  }
}

bool ProgramClock::covers(const ProgramClock& other) const {
  for (std::size_t i = 0; i < other.times_.size(); ++i) {
    if (at(static_cast<std::uint32_t>(i)) < other.times_[i]) return false;
  }
  return true;
}

std::uint32_t Timelines::acquire(const ProgramClock& start) {
  for (std::uint32_t timeline = 0; timeline < free_.size(); ++timeline) {
    if (!free_[timeline] || start.at(timeline) < all_.at(timeline)) continue;
    free_[timeline] = false;
    return timeline;
  }
  free_.push_back(false);
  return static_cast<std::uint32_t>(free_.size() - 1);
}

ProgramPoint Timelines::advance(std::uint32_t timeline) {
  const ProgramPoint point{timeline, all_.at(timeline) + 1};
  all_.add(point);
  return point;
}

}  // namespace rung::vgpu
