#pragma once
// Times several CPU rungs on one problem: what the library's choice is judged by.

#include <functional>
#include <vector>

#include "core/rung.hpp"
#include "measure/random/plan_times.hpp"

namespace rung {

struct CpuPlanTimesRequest {
  std::vector<const RungInfo*> rungs;
  double seconds = 0.05;  // time budget of each rung
  int threads = 1;
  std::function<void(double done)> progress;
  std::function<bool()> stops;  // whether to end early, without the rungs that are left
};

/// Each of the rungs that multiplies the type, and the chosen one with its own number of threads.
/// A rung that takes more than three times as long as the fastest is not timed further.
std::vector<PlanTime> time_cpu_plans(const CpuPlanTimesRequest& request, const LibraryPlan& chosen,
                                     const ProblemPool& pool, const SampledCheck& check,
                                     const PooledGemm& problem);

}  // namespace rung
