#pragma once
// Times all configurations of several rungs on one problem, to fit cost models and to evaluate the
// library's choice.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "backends/rungs/cuda.hpp"
#include "tools/measure/random/library_plan.hpp"
#include "tools/measure/random/operand_pool.hpp"
#include "tools/measure/random/sampled_check.hpp"

namespace rung {

/// A configuration of a rung, and its time.
struct PlanTime {
  std::string rung;  // id in the catalog
  cuda::GemmConfig config;
  double seconds = 0;        // median per call; 0 if refused or wrong
  bool is_finalist = false;  // timed again, interleaved with the other finalists
  bool is_chosen = false;    // by the library
  std::string refused = {};  // reason why it was not launched
  std::string wrong = {};    // error of its result or kernel
};

/// The rungs that the library may choose in the standard compute mode and the device supports.
std::vector<cuda::NamedGemmRung> rungs_for_plans(const cuda::Gpu& gpu);

struct PlanTimesRequest {
  cuda::Gpu* gpu = nullptr;
  std::vector<cuda::NamedGemmRung> rungs;
  double seconds = 0.05;  // time budget per finalist; one tenth for all others
  int threads = 1;        // host threads, for the virtual GPU
  std::function<void(double done)> progress;
  std::function<bool()> stops;  // returns true to stop early, without the remaining plans
};

/// Times all plans of cuda::configs() for each rung that supports the data type, and the chosen
/// plan. `bind` creates the problem again after a failed kernel has destroyed it. Throws
/// cuda::DriverError and std::bad_alloc.
std::vector<PlanTime> time_plans(const PlanTimesRequest& request, const LibraryPlan& chosen,
                                 OperandPool& pool, const SampledCheck& check,
                                 const std::function<PooledGemm()>& bind);

/// The index of the fastest plan; plans.size() if none was timed.
std::size_t fastest(const std::vector<PlanTime>& plans);

/// The time of the chosen plan divided by that of the fastest; 0 if either is unknown.
double regret(const std::vector<PlanTime>& plans);

}  // namespace rung
