#include "tools/measure/random/plan_times.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "backends/cuda/gemm_call.hpp"
#include "core/cuda_driver/error.hpp"
#include "core/kernel_error.hpp"
#include "select/cuda/operands.hpp"
#include "select/cuda/tables.hpp"
#include "select/cuda/tuned.hpp"
#include "tools/measure/statistics.hpp"
#include "tools/measure/timing.hpp"

namespace rung {
namespace {

constexpr double short_round = 0.1;     // of the time budget
constexpr double finalist_ratio = 1.3;  // as in measure/tune.cpp
constexpr std::size_t max_finalists = 8;
// A plan slower than the fastest so far by this factor is timed only once.
constexpr double hopeless_ratio = 3;
constexpr double long_call = 1e-3;

class PlanTimer {
 public:
  PlanTimer(const PlanTimesRequest& request, OperandPool& pool, const SampledCheck& check,
            const std::function<PooledGemm()>& bind)
      : request_(request), gpu_(*request.gpu), pool_(pool), check_(check), bind_(bind) {
    renew();
  }

  std::vector<PlanTime> run(const LibraryPlan& chosen) {
    enter_all(chosen);
    for (std::size_t i = 0; i < times_.size(); ++i) {
      if (stops()) break;
      time_alone(times_[i]);
      report(static_cast<double>(i) / static_cast<double>(times_.size()));
    }
    if (!stops()) time_finalists();
    std::erase_if(times_, [](const PlanTime& time) {  // plans that were not reached
      return time.seconds == 0 && time.refused.empty() && time.wrong.empty();
    });
    return std::move(times_);
  }

 private:
  void enter_all(const LibraryPlan& chosen) {
    const GemmCall& call = problem_.call;
    const auto tuned = cuda::TunedConfigs::of_device(gpu_.name());
    for (const cuda::NamedGemmRung& named : request_.rungs) {
      if (!cuda::has(*named.rung, call.dtype)) continue;
      std::vector<cuda::GemmConfig> configs =
          cuda::configs(*named.rung, call.dtype, {call.m, call.n, call.k}, gpu_.limits(),
                        tuned.models().block_model(named.id, call.dtype))
              .possible;
      if (configs.empty())
        configs.push_back(tuned.best(*named.rung, named.id, call, gpu_.limits()));
      const auto packing = cuda::packing_for_fast_copies(*named.rung, call);
      for (cuda::GemmConfig config : configs) {
        times_.push_back({std::string(named.id), config});
        if (!packing || !gpu_.limits().may_pack) continue;
        config.pack_a = packing->a;
        config.pack_b = packing->b;
        times_.push_back({std::string(named.id), config});
      }
    }
    const auto found = std::find_if(times_.begin(), times_.end(), [&](const PlanTime& time) {
      return time.rung == chosen.rung && time.config == chosen.config;
    });
    if (found == times_.end()) {
      times_.push_back(
          {.rung = std::string(chosen.rung), .config = chosen.config, .is_chosen = true});
    } else {
      found->is_chosen = true;
    }
  }

  void time_alone(PlanTime& time) {
    const Failure failure = attempt([&] {
      const BoundCall batch = prepared(time);
      if (batch) time.seconds = seconds_of(batch);
    });
    if (!failure.refused.empty()) time.refused = failure.refused;
    if (!failure.wrong.empty()) time.wrong = failure.wrong;
    const bool is_best = best_ == 0 || time.seconds < best_;
    if (time.seconds > 0 && is_best) best_ = time.seconds;
  }

  /// The time per call in the short round.
  double seconds_of(const BoundCall& batch) {
    const double once = time_batch(batch, 1);
    if (once > long_call && best_ > 0 && once > hopeless_ratio * best_) return once;
    TimingOptions options;
    options.seconds = short_round * request_.seconds;
    return summarize(time_interleaved({{batch, once}}, options).front().seconds).median;
  }

  /// A verified batch. If verification fails, returns an empty batch and sets the reason in the
  /// plan.
  BoundCall prepared(PlanTime& time) {
    time.refused = cuda::why_not_grid(cuda::configured_gemm(time.rung, time.config), problem_.call)
                       .value_or("");
    if (!time.refused.empty()) return {};
    BoundCall batch = bound(time);
    pool_.reset_c(problem_.call);
    batch.run(1);
    time.wrong = check_.error(pool_);
    return time.wrong.empty() ? batch : BoundCall();
  }

  BoundCall bound(const PlanTime& time) {
    gpu_.make_current();
    const auto call = std::make_shared<cuda::GemmCallOnGpu>(
        operands_, cuda::configured_gemm(time.rung, time.config), problem_.call, request_.threads);
    return {[call](std::int64_t calls) { call->enqueue(calls); }, [call] { call->wait(); }, [] {}};
  }

  void time_finalists() {
    const std::vector<PlanTime*> field = finalists();
    if (field.empty()) return;
    std::vector<Timing> timings;
    attempt([&] {
      std::vector<Candidate> candidates;
      for (const PlanTime* time : field) candidates.push_back({bound(*time), time->seconds});
      TimingOptions options;
      options.seconds = request_.seconds;
      timings = time_interleaved(candidates, options);
    });
    // After a failure, the times of the first round remain.
    for (std::size_t i = 0; i < timings.size(); ++i) {
      field[i]->seconds = summarize(timings[i].seconds).median;
      field[i]->is_finalist = true;
    }
  }

  std::vector<PlanTime*> finalists() {
    std::vector<PlanTime*> field;
    for (PlanTime& time : times_) {
      const bool is_near = time.is_chosen || time.seconds <= finalist_ratio * best_;
      if (time.seconds > 0 && is_near) field.push_back(&time);
    }
    std::stable_sort(field.begin(), field.end(), [](const PlanTime* a, const PlanTime* b) {
      return std::pair(!a->is_chosen, a->seconds) < std::pair(!b->is_chosen, b->seconds);
    });
    if (field.size() > max_finalists) field.resize(max_finalists);
    return field;
  }

  struct Failure {
    std::string refused, wrong;
  };

  /// Runs `body`. After a failure, restores the operands.
  template <class Body>
  Failure attempt(const Body& body) {
    Failure failure;
    try {
      body();
      return {};
    } catch (const KernelError& error) {
      failure.wrong = error.what();
    } catch (const cuda::DriverError& error) {
      failure.refused = error.what();
    } catch (const std::bad_alloc&) {
      failure.refused = "not enough memory on the device";
    }
    renew();
    return failure;
  }

  void renew() {
    problem_ = bind_();
    operands_ = std::make_shared<const cuda::GemmOperands>(gpu_, problem_.call);
  }

  bool stops() const { return request_.stops && request_.stops(); }
  void report(double done) const {
    if (request_.progress) request_.progress(done);
  }

  const PlanTimesRequest& request_;
  cuda::Gpu& gpu_;
  OperandPool& pool_;
  const SampledCheck& check_;
  const std::function<PooledGemm()>& bind_;
  PooledGemm problem_;
  std::shared_ptr<const cuda::GemmOperands> operands_;
  double best_ = 0;
  std::vector<PlanTime> times_;
};

}  // namespace

namespace {

/// True if a rule, or a model beside one, may choose the rung in the standard compute mode.
bool may_be_chosen(std::size_t rung) {
  const auto is_rung = [&](const auto& rule) { return static_cast<std::size_t>(rule.use) == rung; };
  return std::ranges::any_of(tuned::cuda_rivals, is_rung) ||
         std::ranges::any_of(tuned::cuda_gemm_rules, [&](const CudaGemmRule& rule) {
           return rule.compute_mode == ComputeMode::standard && is_rung(rule);
         });
}

}  // namespace

std::vector<cuda::NamedGemmRung> rungs_for_plans(const cuda::Gpu& gpu) {
  std::vector<cuda::NamedGemmRung> rungs;
  for (std::size_t i = 0; i < cuda::gemm_rungs.size(); ++i) {
    const cuda::NamedGemmRung& named = cuda::gemm_rungs[i];
    if (may_be_chosen(i) && cuda::select_image(named.id, gpu.target()) != nullptr) {
      rungs.push_back(named);
    }
  }
  return rungs;
}

std::vector<PlanTime> time_plans(const PlanTimesRequest& request, const LibraryPlan& chosen,
                                 OperandPool& pool, const SampledCheck& check,
                                 const std::function<PooledGemm()>& bind) {
  return PlanTimer(request, pool, check, bind).run(chosen);
}

std::size_t fastest(const std::vector<PlanTime>& plans) {
  // Times of the short round are not comparable with those of the long round.
  const auto rank = [](const PlanTime& plan) {
    return std::pair(plan.seconds == 0 ? 2 : plan.is_finalist ? 0 : 1, plan.seconds);
  };
  const auto best =
      std::min_element(plans.begin(), plans.end(),
                       [&](const PlanTime& a, const PlanTime& b) { return rank(a) < rank(b); });
  const bool has_run = best != plans.end() && best->seconds > 0;
  return has_run ? static_cast<std::size_t>(best - plans.begin()) : plans.size();
}

double regret(const std::vector<PlanTime>& plans) {
  const auto chosen =
      std::find_if(plans.begin(), plans.end(), [](const PlanTime& plan) { return plan.is_chosen; });
  const std::size_t best = fastest(plans);
  if (chosen == plans.end() || chosen->seconds == 0 || best == plans.size()) return 0;
  return chosen->seconds / plans[best].seconds;
}

}  // namespace rung
