#include "library/cheapest_gemm.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "device/cpu/parallel.hpp"
#include "library/cost_model.hpp"

namespace rung {
namespace {

enum Rung : std::size_t { r06, r07, r08, r11, r12, r13 };
constexpr std::array rungs = {RUNG_GEMM(06, cache_blocks), RUNG_GEMM(07, direct),
                              RUNG_GEMM(08, split_k),      RUNG_GEMM(11, masked_edges),
                              RUNG_GEMM(12, just_in_time), RUNG_GEMM(13, narrow)};

constexpr double infinite = std::numeric_limits<double>::infinity();

using Costs = std::array<double, rungs_with_costs>;

/// On one thread.
Costs costs_alone(const GemmShape& shape, const CpuRates& rates) {
  const GemmCosts alone(shape, rates);
  return {alone.cache_blocks(1), alone.direct(1),       infinite,
          alone.masked_edges(1), alone.just_in_time(1), alone.narrow(1)};
}

std::optional<GemmChoice> choice_of_small(const GemmShape& shape) {
  const Named<cpu::GemmRung>* const small =
      rung_of_small(shape.m, shape.n, shape.k, shape.a, shape.b);
  if (small == nullptr) return std::nullopt;
  return GemmChoice{small->id, small->rung, 1};
}

/// `shared_rates` is called, which may measure, only where threads could share the work.
template <class SharedRates>
int threads_for(double cost, int threads, const SharedRates& shared_rates) {
  constexpr double least_to_share = 1.2e4;  // half of it is the least that a loop takes to hand out
  if (cost < least_to_share || threads == 1) return 1;
  const int most = std::min(threads == 0 ? cpu::available_threads() : threads, cpu::max_threads());
  if (most == 1) return 1;
  const double worth = std::min(cost / (shared_rates().handover / 2), static_cast<double>(most));
  return std::max(1, static_cast<int>(worth));
}

template <class SharedRates>
GemmChoice cheapest(const GemmShape& shape, int threads, const CostFactors& all_factors,
                    const CpuRates& alone, const SharedRates& shared_rates) {
  if (const auto choice = choice_of_small(shape)) return *choice;
  const Costs& factors = all_factors.of(shape.dtype);
  Costs costs = costs_alone(shape, alone);
  for (std::size_t i = 0; i < costs.size(); ++i) costs[i] *= factors[i];
  const auto best = std::min_element(costs.begin(), costs.end());
  auto chosen = static_cast<std::size_t>(best - costs.begin());
  const int used = threads_for(*best, threads, shared_rates);
  if (used == 1) return {rungs[chosen].id, rungs[chosen].rung, 1};
  const GemmCosts together(shape, shared_rates());
  double least = *best;
  int least_threads = 1;
  const auto consider = [&](std::size_t rung, double cost) {
    if (!(cost * factors[rung] < least)) return;
    least = cost * factors[rung];
    chosen = rung;
    least_threads = used;
  };
  consider(r06, together.cache_blocks(used));
  consider(r07, together.direct(used));
  consider(r08, together.split_k(used));
  consider(r11, together.masked_edges(used));
  consider(r12, together.just_in_time(used));
  consider(r13, together.narrow(used));
  return {rungs[chosen].id, rungs[chosen].rung, least_threads};
}

}  // namespace

std::span<const Named<cpu::GemmRung>> gemm_rungs_with_costs() { return rungs; }

int threads_worth(double cost, int threads) { return threads_for(cost, threads, rates_of_threads); }

std::array<double, rungs_with_costs> expected_seconds(const GemmShape& shape) {
  static const double of_cycle = cycle_seconds();
  Costs seconds = costs_alone(shape, rates_alone());
  for (double& cost : seconds) cost *= of_cycle;
  return seconds;
}

GemmChoice cheapest_gemm(const GemmShape& shape, int threads) {
  if (const auto choice = choice_of_small(shape)) return *choice;
  return cheapest_gemm(shape, threads, cost_factors());
}

GemmChoice cheapest_gemm(const GemmShape& shape, int threads, const CostFactors& factors) {
  return cheapest(shape, threads, factors, rates_alone(), rates_of_threads);
}

GemmChoice cheapest_gemm(const GemmShape& shape, int threads, const CostFactors& factors,
                         const CpuRates& rates) {
  return cheapest(shape, threads, factors, rates, [&]() -> const CpuRates& { return rates; });
}

}  // namespace rung
