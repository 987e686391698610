#pragma once
// Corrects the costs that the library chooses a rung of gemm/cpu by, on this machine.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "library/cost_factors.hpp"
#include "measure/workload.hpp"

namespace rung {

/// The rungs, as in the catalog, in the order of factors.
std::array<std::string_view, rungs_with_costs> ids_with_costs();

struct CpuTuneRequest {
  Dtype dtype = Dtype::f32;  // or f64
  std::vector<Size> sizes;   // instead of random ones
  std::int64_t count = 16;   // of random shapes, each in four layouts
  double seconds = 0.05;     // time budget of each rung for a shape
  /// Called with the current activity, and the fraction that is done.
  std::function<void(std::string_view what, double done)> progress;
};

struct CpuTuneResult {
  std::array<double, rungs_with_costs> factors = {1, 1, 1, 1, 1, 1};
  std::size_t shapes = 0;
  /// Geometric means of the time of the chosen rung over that of the fastest: without factors, and
  /// with these.
  double regret_before = 1, regret_after = 1;
  std::vector<std::string> wrong;  // rungs whose result is wrong: the error
};

/// Times the rungs on one thread for random shapes up to 2048, in all four layouts. A factor is the
/// geometric mean of measured over expected times; those that do not lower the regret stay at 1.
/// Throws std::bad_alloc.
CpuTuneResult tune_cpu(const CpuTuneRequest& request);

/// The measured and the expected seconds of each rung for one shape; 0 where it was not timed well
/// enough to count, and infinite where it is not in question.
struct CpuTuneSample {
  std::array<double, rungs_with_costs> measured = {};
  std::array<double, rungs_with_costs> expected = {};
};

/// The part of tune_cpu() that follows the measurements.
CpuTuneResult fit_cost_factors(const std::vector<CpuTuneSample>& samples);

}  // namespace rung
