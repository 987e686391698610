#pragma once
// Predicts the time of a launch of persistent blocks from its waves of tiles, to choose the tile
// and the splits of the last wave for shapes without measurements.

#include <optional>
#include <string_view>

#include "backends/cuda/tuned.hpp"

namespace rung::cuda {

/// Whether the times of the rung's tiles are known.
bool has_wave_model(std::string_view id);

/// The configuration with the shortest predicted time, among those that the device can launch;
/// empty if there is none. The rung must have a model; m, n and k are at least 1. `fast_copies`:
/// has_fast_copies() of the operands.
std::optional<GemmConfig> predicted_config(const GemmRung& rung, Dtype dtype, const GemmSize& size,
                                           bool fast_copies, const Limits& limits);

}  // namespace rung::cuda
