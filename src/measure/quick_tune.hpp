#pragma once
// Fits the models that choose configurations to a device, from the times of random shapes.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/cuda/gpu.hpp"
#include "measure/fit_models.hpp"

namespace rung {

struct QuickTuneRequest {
  cuda::Gpu* gpu = nullptr;
  std::vector<cuda::NamedGemmRung> rungs;
  std::vector<Dtype> dtypes;
  double seconds = 100;  // for all types together
  int threads = 1;       // of this machine, for the virtual GPU
  /// Called with the current activity, and the fraction that is done.
  std::function<void(std::string_view what, double done)> progress;
};

/// How well the model of a rung and type chooses: geometric means of the chosen configuration's time
/// over the fastest one's, on the half of the shapes that the constants were not fitted to.
struct QuickTuneRow {
  std::string rung;
  Dtype dtype;
  std::size_t shapes = 0, plans = 0;
  double regret_before = 1, regret_after = 1;
  bool is_kept = false;  // the new constants choose no worse
};

struct QuickTuneResult {
  std::vector<QuickTuneRow> rows;
  cuda::CostModels models;         // those that are kept, fitted to all shapes
  std::vector<std::string> wrong;  // configurations whose result is wrong: the error
};

/// Draws shapes until the time is over, and times every configuration of the rungs that have models.
/// Throws cuda::DriverError and std::bad_alloc.
QuickTuneResult quick_tune(const QuickTuneRequest& request);

}  // namespace rung
