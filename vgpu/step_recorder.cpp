#include "vgpu/step_recorder.hpp"

#include <utility>

#include "vgpu/step_text.hpp"

namespace rung::vgpu {
namespace {

constexpr std::size_t max_events = 400'000;
constexpr std::size_t max_accesses = 60'000;  // 300 bytes each

}  // namespace

StepRecorder::StepRecorder() : watcher_([this](const WarpStep& step) { see(step); }) {
  step_watcher = &watcher_;
}

StepRecorder::~StepRecorder() { step_watcher = nullptr; }

bool StepRecorder::has_room() const {
  return events_.all.size() < max_events && events_.accesses.size() < max_accesses;
}

void StepRecorder::see(const WarpAccess& access) {
  if (access.block != 0) return;
  if (!has_room()) {
    events_.complete = false;
    return;
  }
  events_.all.push_back({StepEvent::Kind::access, access.warp, access.lanes,
                         static_cast<std::uint32_t>(events_.accesses.size()), 0});
  events_.accesses.push_back(access);
}

void StepRecorder::see(const WarpStep& step) {
  if (!has_room()) {
    events_.complete = false;
    return;
  }
  const auto kind = step.bytes > 0 ? StepEvent::Kind::bulk : StepEvent::Kind::begin;
  events_.all.push_back(
      {kind, step.warp, step.lanes, step.bytes > 0 ? step.offset : step.basic_block, step.bytes});
}

std::string StepRecorder::take(const LaunchReport& report, const Kernel& kernel) {
  return step_text(std::exchange(events_, {}), report, kernel);
}

}  // namespace rung::vgpu
