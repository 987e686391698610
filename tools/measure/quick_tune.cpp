#include "tools/measure/quick_tune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "select/cuda/operands.hpp"
#include "select/cuda/tuned.hpp"
#include "tools/measure/random/random_bench.hpp"

namespace rung {
namespace {

constexpr std::uint64_t seed = 20;
constexpr std::int64_t max_shapes = 1000;
constexpr double seconds_of_plan = 0.02;
constexpr double longest_call = 5e-4;  // on an H200 at peak rates

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Aligned row-major operands without padding.
GemmCall call_of(Dtype dtype, const cuda::GemmSize& size) {
  GemmCall call = {};
  call.dtype = dtype;
  call.m = size.m;
  call.n = size.n;
  call.k = size.k;
  call.a = {nullptr, size.k, 1};
  call.b = {nullptr, size.n, 1};
  return call;
}

class QuickTune {
 public:
  explicit QuickTune(const QuickTuneRequest& request)
      : request_(request), data_(cuda::TunedConfigs::of_device(request.gpu->name())) {}

  QuickTuneResult run() {
    for (std::size_t i = 0; i < request_.dtypes.size(); ++i) {
      const Dtype dtype = request_.dtypes[i];
      measure(dtype, i);
      for (const cuda::NamedGemmRung& rung : request_.rungs) fit(rung, dtype);
    }
    return std::move(result_);
  }

 private:
  void measure(Dtype dtype, std::size_t index) {
    const auto begin = Clock::now();
    const double budget = request_.seconds / static_cast<double>(request_.dtypes.size());
    const auto share = [&] { return std::min(seconds_since(begin) / budget, 1.0); };
    RandomRequest random;
    random.seed = seed;
    random.count = max_shapes;
    random.limits.max_seconds = longest_call;
    if (request_.gpu->is_virtual()) random.limits.max_size = max_size_on_virtual_gpu;
    random.dtypes = {dtype};
    random.layouts = {{false, false}};
    random.seconds = seconds_of_plan;
    random.threads = request_.threads;
    random.gpu = request_.gpu;
    random.rungs = request_.rungs;
    random.progress = [&](std::string_view what, double) {
      if (!request_.progress) return;
      request_.progress(what, (static_cast<double>(index) + share()) /
                                  static_cast<double>(request_.dtypes.size()));
    };
    random.measured = [&](const RandomResult& shape) { take(shape); };
    random.stops = [&] { return seconds_since(begin) > budget; };
    plans_.clear();
    shapes_ = 0;
    run_random_bench(random);
  }

  void take(const RandomResult& shape) {
    for (const PlanTime& plan : shape.plans) {
      if (!plan.wrong.empty()) {
        result_.wrong.push_back(fmt::format("{} {}x{}x{}: {}", plan.rung, shape.size.m,
                                            shape.size.n, shape.size.k, plan.wrong));
      }
      const cuda::GemmRung* const rung = cuda::find_gemm_rung(plan.rung);
      if (plan.seconds == 0 || plan.config.packs() || rung == nullptr) continue;
      const cuda::GemmSize size = {shape.size.m, shape.size.n, shape.size.k};
      plans_[plan.rung].push_back({.shape = shapes_,
                                   .dtype = shape.dtype,
                                   .size = size,
                                   .copies = cuda::copies_of(*rung, call_of(shape.dtype, size)),
                                   .odd_rows = cuda::odd_rows_of(call_of(shape.dtype, size)),
                                   .config = plan.config,
                                   .seconds = plan.seconds});
    }
    ++shapes_;
  }

  void fit(const cuda::NamedGemmRung& rung, Dtype dtype) {
    const auto found = plans_.find(std::string(rung.id));
    if (found == plans_.end()) return;
    if (const auto* const model = data_.models().block_model(rung.id, dtype)) {
      keep(*model, dtype, found->second, result_.models.blocks);
    }
    if (const auto* const model = data_.models().wave_model(rung.id)) {
      keep(*model, dtype, found->second, result_.models.waves);
    }
  }

  template <class Model>
  void keep(const Model& start, Dtype dtype, const std::vector<MeasuredPlan>& plans,
            std::vector<Model>& models) {
    std::vector<MeasuredPlan> half, other;
    for (const MeasuredPlan& plan : plans) (plan.shape % 2 == 0 ? half : other).push_back(plan);
    const cuda::Limits& limits = request_.gpu->limits();
    QuickTuneRow row = {
        .rung = start.rung, .dtype = dtype, .shapes = shapes_, .plans = plans.size()};
    row.regret_before = regret_of(start, other, limits);
    row.regret_after = regret_of(fitted(start, half, limits), other, limits);
    row.is_kept = row.regret_after <= row.regret_before;
    if (row.is_kept) models.push_back(fitted(start, plans, limits));
    result_.rows.push_back(std::move(row));
  }

  const QuickTuneRequest& request_;
  cuda::TunedConfigs data_;
  std::map<std::string, std::vector<MeasuredPlan>> plans_;  // by rung; of one data type
  std::size_t shapes_ = 0;
  QuickTuneResult result_;
};

}  // namespace

QuickTuneResult quick_tune(const QuickTuneRequest& request) { return QuickTune(request).run(); }

}  // namespace rung
