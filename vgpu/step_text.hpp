#pragma once
// Converts recorded events to JSON, in the form described at StepRecorder::take().

#include <string>

#include "vgpu/launch.hpp"
#include "vgpu/step_events.hpp"

namespace rung::vgpu {

std::string step_text(const StepEvents& events, const LaunchReport& report, const Kernel& kernel);

}  // namespace rung::vgpu
