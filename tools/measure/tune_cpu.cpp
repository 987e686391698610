#include "tools/measure/tune_cpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "select/cpu/select.hpp"
#include "tools/measure/random/random_bench.hpp"

namespace rung {
namespace {

constexpr std::int64_t max_size = 2048;
constexpr std::uint64_t seed = 2026;
constexpr double infinite = std::numeric_limits<double>::infinity();
// The limits of factors in a file.
constexpr double least_factor = 0.1, max_factor = 10;

using Seconds = std::array<double, rungs_with_costs>;

std::size_t cheapest(const CpuTuneSample& sample, const Seconds& factors) {
  std::size_t best = 0;
  double least = infinite;
  for (std::size_t i = 0; i < rungs_with_costs; ++i) {
    const double expected = sample.expected[i] * factors[i];
    if (sample.measured[i] == 0 || !(expected < least)) continue;
    least = expected;
    best = i;
  }
  return best;
}

/// The geometric mean of the time of the rung with the lowest cost divided by that of the fastest.
double regret(const std::vector<CpuTuneSample>& samples, const Seconds& factors) {
  double logs = 0;
  for (const CpuTuneSample& sample : samples) {
    double fastest = infinite;
    for (const double seconds : sample.measured) {
      if (seconds > 0) fastest = std::min(fastest, seconds);
    }
    logs += std::log(sample.measured[cheapest(sample, factors)] / fastest);
  }
  return std::exp(logs / static_cast<double>(samples.size()));
}

Seconds geometric_means(const std::vector<CpuTuneSample>& samples) {
  Seconds factors;
  for (std::size_t i = 0; i < rungs_with_costs; ++i) {
    double logs = 0;
    int count = 0;
    for (const CpuTuneSample& sample : samples) {
      if (sample.measured[i] == 0 || sample.expected[i] == infinite) continue;
      logs += std::log(sample.measured[i] / sample.expected[i]);
      ++count;
    }
    factors[i] = count == 0 ? 1 : std::clamp(std::exp(logs / count), least_factor, max_factor);
  }
  return factors;
}

/// Uses the times of finalists, which are accurate; the others are too slow to matter.
CpuTuneSample sample_of(const RandomResult& result) {
  CpuTuneSample sample;
  const auto order = [](bool transposed) {
    return transposed ? Order::col_major : Order::row_major;
  };
  sample.expected = expected_seconds({.dtype = result.dtype,
                                      .m = result.size.m,
                                      .n = result.size.n,
                                      .k = result.size.k,
                                      .a = order(result.a_transposed),
                                      .b = order(result.b_transposed)});
  for (const PlanTime& plan : result.plans) {
    if (!plan.is_finalist) continue;
    for (std::size_t i = 0; i < rungs_with_costs; ++i) {
      if (gemm_rungs_with_costs()[i].id == plan.rung) sample.measured[i] = plan.seconds;
    }
  }
  return sample;
}

bool is_timed(const CpuTuneSample& sample) {
  return std::ranges::any_of(sample.measured, [](double seconds) { return seconds > 0; });
}

}  // namespace

std::array<std::string_view, rungs_with_costs> ids_with_costs() {
  std::array<std::string_view, rungs_with_costs> ids;
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = gemm_rungs_with_costs()[i].id;
  return ids;
}

CpuTuneResult fit_cost_factors(const std::vector<CpuTuneSample>& samples) {
  CpuTuneResult result;
  result.shapes = samples.size();
  if (samples.empty()) return result;
  const Seconds fitted = geometric_means(samples);
  result.regret_before = result.regret_after = regret(samples, result.factors);
  const double with_factors = regret(samples, fitted);
  if (with_factors < result.regret_before) {
    result.factors = fitted;
    result.regret_after = with_factors;
  }
  return result;
}

CpuTuneResult tune_cpu(const CpuTuneRequest& request) {
  RandomRequest random;
  random.seed = seed;
  random.sizes = request.sizes;
  random.count =
      request.sizes.empty() ? request.count : static_cast<std::int64_t>(request.sizes.size());
  random.limits.max_size = max_size;
  random.dtypes = {request.dtype};
  random.layouts = {{false, false}, {false, true}, {true, false}, {true, true}};
  random.seconds = request.seconds;
  random.progress = request.progress;
  for (const auto& named : gemm_rungs_with_costs()) {
    // On one thread it never comes into question.
    if (named.rung != &gemm_cpu_split_k) random.cpu_rungs.push_back(select({named.id}).front());
  }
  std::vector<CpuTuneSample> samples;
  std::vector<std::string> wrong;
  random.measured = [&](const RandomResult& result) {
    if (!result.wrong.empty()) wrong.push_back("the library: " + result.wrong);
    for (const PlanTime& plan : result.plans) {
      if (!plan.wrong.empty()) wrong.push_back(fmt::format("{}: {}", plan.rung, plan.wrong));
    }
    const CpuTuneSample sample = sample_of(result);
    if (is_timed(sample)) samples.push_back(sample);
  };
  run_random_bench(random);
  CpuTuneResult result = fit_cost_factors(samples);
  result.wrong = std::move(wrong);
  return result;
}

}  // namespace rung
