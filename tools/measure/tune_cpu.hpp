#pragma once
// Corrects the costs with which the library chooses a rung of gemm/cpu, for this machine.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "select/cpu/select.hpp"
#include "tools/measure/workload.hpp"

namespace rung {

/// Ids in the catalog of the rungs, in the order of factors.
std::array<std::string_view, rungs_with_costs> ids_with_costs();

struct CpuTuneRequest {
  Dtype dtype = Dtype::f32;  // or f64
  std::vector<Size> sizes;   // used instead of random ones
  std::int64_t count = 16;   // number of random shapes, each in four layouts
  double seconds = 0.05;     // time budget per rung and shape
  /// Called with the current activity and the completed fraction.
  std::function<void(std::string_view what, double done)> progress;
};

struct CpuTuneResult {
  std::array<double, rungs_with_costs> factors = {1, 1, 1, 1, 1, 1};
  std::size_t shapes = 0;
  /// Geometric means of the time of the chosen rung divided by that of the fastest, without and
  /// with factors.
  double regret_before = 1, regret_after = 1;
  std::vector<std::string> wrong;  // error messages of rungs with wrong results
};

/// Times the rungs on one thread for random shapes up to 2048 in all four layouts. A factor is the
/// geometric mean of measured time divided by expected time; factors that do not reduce the regret
/// remain 1. Throws std::bad_alloc.
CpuTuneResult tune_cpu(const CpuTuneRequest& request);

/// Measured and expected seconds of each rung for a shape; 0 if not measured accurately enough, and
/// infinite if the rung is not a candidate.
struct CpuTuneSample {
  std::array<double, rungs_with_costs> measured = {};
  std::array<double, rungs_with_costs> expected = {};
};

/// The fitting part of tune_cpu().
CpuTuneResult fit_cost_factors(const std::vector<CpuTuneSample>& samples);

}  // namespace rung
