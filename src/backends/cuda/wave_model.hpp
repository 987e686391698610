#pragma once
// How long a launch of persistent blocks takes, by waves of tiles: which tile, and how many parts
// of k in the last wave, for a shape that nobody has measured.

#include <optional>
#include <string_view>

#include "backends/cuda/tuned.hpp"

namespace rung::cuda {

/// Whether the times of the rung's tiles are known.
bool has_wave_model(std::string_view id);

/// The plan of which the model expects most, of those that the device can launch; nothing if there
/// is none. The rung must be one with a model, m, n and k at least 1.
std::optional<GemmPlan> predicted_plan(const GemmRung& rung, Dtype dtype, const GemmSize& size,
                                       const Limits& limits);

}  // namespace rung::cuda
