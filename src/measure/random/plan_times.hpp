#pragma once
// Times every configuration of several rungs on one problem: what a cost model is fitted to, and
// what the library's choice is judged by.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "backends/cuda/rungs.hpp"
#include "measure/random/library_plan.hpp"
#include "measure/random/operand_pool.hpp"
#include "measure/random/sampled_check.hpp"

namespace rung {

/// One configuration of one rung.
struct PlanTime {
  std::string rung;  // id, as in the catalog
  cuda::GemmConfig config;
  double seconds = 0;        // median per call; 0 if it was refused or is wrong
  bool is_finalist = false;  // timed again, interleaved with the other finalists
  bool is_chosen = false;    // by the library
  std::string refused = {};  // why it was not launched
  std::string wrong = {};    // the error of its result, or of its kernel
};

/// The rungs that the library's rules name for the standard compute mode, as far as the device runs
/// them.
std::vector<cuda::NamedGemmRung> rungs_for_plans(const cuda::Gpu& gpu);

struct PlanTimesRequest {
  cuda::Gpu* gpu = nullptr;
  std::vector<cuda::NamedGemmRung> rungs;
  double seconds = 0.05;  // time budget of each finalist; a tenth of it for all others
  int threads = 1;        // of this machine, for the virtual GPU
  std::function<void(double done)> progress;
  std::function<bool()> stops;  // whether to end early, without the plans that are left
};

/// Every plan of cuda::configs() of each rung that multiplies the type, and the chosen one. `bind`
/// gives the problem again after a kernel that failed has destroyed it. Throws
/// cuda::DriverError and std::bad_alloc.
std::vector<PlanTime> time_plans(const PlanTimesRequest& request, const LibraryPlan& chosen,
                                 OperandPool& pool, const SampledCheck& check,
                                 const std::function<PooledGemm()>& bind);

/// The index of the fastest; plans.size() if none has run.
std::size_t fastest(const std::vector<PlanTime>& plans);

/// The time of the chosen plan over that of the fastest; 0 if either is unknown.
double regret(const std::vector<PlanTime>& plans);

}  // namespace rung
