#pragma once
// Times several CPU rungs on one problem, to evaluate the library's choice.

#include <functional>
#include <vector>

#include "core/rung.hpp"
#include "tools/measure/random/plan_times.hpp"

namespace rung {

struct CpuPlanTimesRequest {
  std::vector<const RungInfo*> rungs;
  double seconds = 0.05;  // time budget per rung
  int threads = 1;
  std::function<void(double done)> progress;
  std::function<bool()> stops;  // returns true to stop early, without the remaining rungs
};

/// Times each rung that supports the data type, and the chosen rung with its own number of threads.
/// Stops timing rungs that take more than three times as long as the fastest.
std::vector<PlanTime> time_cpu_plans(const CpuPlanTimesRequest& request, const LibraryPlan& chosen,
                                     const ProblemPool& pool, const SampledCheck& check,
                                     const PooledGemm& problem);

}  // namespace rung
