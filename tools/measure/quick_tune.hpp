#pragma once
// Fits the models that choose configurations to a device, from measured times of random shapes.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/cuda/gpu.hpp"
#include "tools/measure/fit_models.hpp"

namespace rung {

struct QuickTuneRequest {
  cuda::Gpu* gpu = nullptr;
  std::vector<cuda::NamedGemmRung> rungs;
  std::vector<Dtype> dtypes;
  double seconds = 100;  // for all data types together
  int threads = 1;       // host threads, for the virtual GPU
  /// Called with the current activity and the completed fraction.
  std::function<void(std::string_view what, double done)> progress;
};

/// The quality of the choices of the model for a rung and data type: the geometric mean of the
/// chosen configuration's time divided by the fastest configuration's, for the half of the shapes
/// not used for fitting.
struct QuickTuneRow {
  std::string rung;
  Dtype dtype;
  std::size_t shapes = 0, plans = 0;
  double regret_before = 1, regret_after = 1;
  bool is_kept = false;  // the new constants make no worse choices
};

struct QuickTuneResult {
  std::vector<QuickTuneRow> rows;
  cuda::CostModels models;         // fitted to all shapes; only those kept
  std::vector<std::string> wrong;  // error messages of configurations with wrong results
};

/// Draws shapes until the time budget is used, and measures all configurations of the rungs that
/// have models. Throws cuda::DriverError and std::bad_alloc.
QuickTuneResult quick_tune(const QuickTuneRequest& request);

}  // namespace rung
