#pragma once
// The constants of the models that choose configurations, as data: those that come with Rung, and
// those that `rung tune --quick` fits on a device.

#include <string>
#include <string_view>
#include <vector>

#include "backends/cuda/block_model.hpp"
#include "backends/cuda/wave_model.hpp"

namespace rung::cuda {

struct CostModels {
  std::vector<BlockModel> blocks;
  std::vector<WaveModel> waves;

  /// Null if there is none.
  const BlockModel* block_model(std::string_view rung, Dtype dtype) const;
  const WaveModel* wave_model(std::string_view rung) const;
};

/// Lines 'launch RUNG DTYPE' with the constants of a BlockModel in their order, of which the last
/// one may be missing, each followed by lines 'tile' with the constants of its BlockTimes, for tile
/// 0 and so on; and lines 'waves RUNG' with those of a WaveModel, each followed by lines 'tile' with
/// those of its WaveTimes. Lines that begin with # are comments. Throws std::runtime_error with the
/// line if it has another form.
CostModels parse_cost_models(std::string_view text);

/// The lines of a model.
std::string format_model(const BlockModel& model);
std::string format_model(const WaveModel& model);

}  // namespace rung::cuda
