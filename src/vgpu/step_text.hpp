#pragma once
// What a recorder has seen as JSON, in the form that StepRecorder::take() describes.

#include <string>

#include "vgpu/launch.hpp"
#include "vgpu/step_events.hpp"

namespace rung::vgpu {

std::string step_text(const StepEvents& events, const LaunchReport& report, const Kernel& kernel);

}  // namespace rung::vgpu
