#include "tools/measure/random/cpu_plan_times.hpp"

#include <algorithm>
#include <limits>

#include "backends/backend.hpp"
#include "tools/measure/contenders.hpp"
#include "tools/measure/statistics.hpp"
#include "tools/measure/timing.hpp"

namespace rung {
namespace {

constexpr double hopeless_plan_ratio = 3;

struct Runner {
  PlanTime* time;
  BoundCall batch;
};

/// A verified batch. If verification fails, returns an empty batch and sets the reason in the plan.
BoundCall prepared(PlanTime& time, const RungInfo& info, int threads, const ProblemPool& pool,
                   const SampledCheck& check, const PooledGemm& problem) {
  const Bound bound = RungContender(*find_backend("cpu"), info).bind(problem.call, threads);
  time.refused = bound.why_not;
  if (!bound) return {};
  pool.reset_c(problem.call);
  bound.batch.run(1);
  time.wrong = check.error(pool);
  return time.wrong.empty() ? bound.batch : BoundCall();
}

void time_all(const std::vector<Runner>& runners, double seconds) {
  double best = std::numeric_limits<double>::infinity();
  for (const Runner& runner : runners) {
    runner.time->seconds = time_batch(runner.batch, 1);
    best = std::min(best, runner.time->seconds);
  }
  std::vector<Candidate> candidates;
  std::vector<PlanTime*> field;
  for (const Runner& runner : runners) {
    if (!runner.time->is_chosen && runner.time->seconds > hopeless_plan_ratio * best) continue;
    candidates.push_back({runner.batch});
    field.push_back(runner.time);
  }
  TimingOptions options;
  options.seconds = seconds;
  const std::vector<Timing> timings = time_interleaved(candidates, options);
  for (std::size_t i = 0; i < field.size(); ++i) {
    field[i]->seconds = summarize(timings[i].seconds).median;
    field[i]->is_finalist = true;
  }
}

}  // namespace

std::vector<PlanTime> time_cpu_plans(const CpuPlanTimesRequest& request, const LibraryPlan& chosen,
                                     const ProblemPool& pool, const SampledCheck& check,
                                     const PooledGemm& problem) {
  const RungInfo* const chosen_info = select({std::string(chosen.rung)}).front();
  std::vector<const RungInfo*> rungs = request.rungs;
  if (std::find(rungs.begin(), rungs.end(), chosen_info) == rungs.end()) {
    rungs.push_back(chosen_info);
  }
  std::vector<PlanTime> times(rungs.size());
  std::vector<Runner> runners;
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    if (request.stops && request.stops()) return {};
    PlanTime& time = times[i];
    time.rung = rungs[i]->id;
    time.is_chosen = rungs[i] == chosen_info;
    const int threads = time.is_chosen ? chosen.threads : request.threads;
    const BoundCall batch = prepared(time, *rungs[i], threads, pool, check, problem);
    if (batch) runners.push_back({&time, batch});
    if (request.progress)
      request.progress(static_cast<double>(i) / static_cast<double>(rungs.size()));
  }
  if (!runners.empty()) time_all(runners, request.seconds);
  return times;
}

}  // namespace rung
