#include "select/cpu/select.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "device/cpu/cost/dot_products.hpp"
#include "device/cpu/cost/masked_edges.hpp"
#include "device/cpu/cost/narrow.hpp"
#include "device/cpu/cost/panels.hpp"
#include "device/cpu/float_environment.hpp"
#include "device/cpu/machine.hpp"
#include "rung/error.hpp"

namespace rung {
namespace {

// Kernels that have a cost model, and their models, in the same order.
constexpr std::array rungs = {RUNG_GEMM(cache_blocks), RUNG_GEMM(unpacked),     RUNG_GEMM(split_k),
                              RUNG_GEMM(masked_edges), RUNG_GEMM(just_in_time), RUNG_GEMM(narrow)};
constexpr std::array<double (*)(const GemmTerms&, int), rungs_with_costs> costs = {
    cost::cache_blocks, cost::unpacked,     cost::split_k,
    cost::masked_edges, cost::just_in_time, cost::narrow};
static_assert(rungs.size() == costs.size());

constexpr Named<cpu::GemmRung> tiles = RUNG_GEMM(amx);
constexpr Named<cpu::GemmRung> vectors = RUNG_GEMM(dot_products);

std::optional<GemmChoice> choice_of_small(const GemmShape& shape) {
  const Named<cpu::GemmRung>* const small =
      rung_of_small(shape.m, shape.n, shape.k, shape.a, shape.b);
  if (small == nullptr) return std::nullopt;
  return GemmChoice{small->id, small->rung, 1};
}

/// Rates of several threads: `given`, or if null this machine's, which the first call measures.
const CpuRates& shared_rates(const CpuRates* given) {
  return given != nullptr ? *given : rates_of_threads();
}

int threads_for(double cost, int threads, const CpuRates* given) {
  constexpr double least_to_share = 1.2e4;  // cycles; twice the shortest handover (machine.cpp)
  if (cost < least_to_share || threads == 1) return 1;
  const int most = std::min(threads == 0 ? cpu::default_threads() : threads, cpu::max_threads());
  if (most == 1) return 1;
  const double worth =
      std::min(cost / (shared_rates(given).handover / 2), static_cast<double>(most));
  return std::max(1, static_cast<int>(worth));
}

/// Selects the cheapest kernel and its number of threads. `given`: rates of the machine; null: this
/// machine's.
GemmChoice cheapest(const GemmShape& shape, int threads, const CostFactors& all_factors,
                    const CpuRates* given) {
  if (const auto choice = choice_of_small(shape)) return *choice;
  const auto& factors = all_factors.of(shape.dtype);
  std::size_t chosen = 0;
  int chosen_threads = 1;
  double least = cost::infinite;
  const auto consider_all = [&](const CpuRates& rates, int on_threads) {
    const GemmTerms terms(shape, rates);
    for (std::size_t i = 0; i < costs.size(); ++i) {
      const double cost = costs[i](terms, on_threads) * factors[i];
      if (!(cost < least)) continue;
      least = cost;
      chosen = i;
      chosen_threads = on_threads;
    }
  };
  consider_all(given != nullptr ? *given : rates_alone(), 1);
  if (const int used = threads_for(least, threads, given); used > 1) {
    consider_all(shared_rates(given), used);
  }
  return {rungs[chosen].id, rungs[chosen].rung, chosen_threads};
}

/// For bf16 and int8 on a CPU with AMX: the cheaper of the two kernels, and its number of threads.
/// Empty in other cases.
std::optional<GemmChoice> choose_tiles(const GemmShape& shape, int threads) {
  if (shape.dtype != Dtype::bf16 && shape.dtype != Dtype::i8) return std::nullopt;
  if (!cpu::machine().isa.contains(cpu::Isa::amx)) return std::nullopt;
  const double with_tiles = cost_of_tiles(shape), with_vectors = cost_of_dot_products(shape);
  const double least = std::min(with_tiles, with_vectors);
  const auto& use = with_tiles <= with_vectors ? tiles : vectors;
  return GemmChoice{use.id, use.rung, threads_worth(least, threads)};
}

Order order_of(const AnyMatrix<const void*>& matrix) {
  return matrix.col_stride == 1 ? Order::row_major : Order::col_major;
}

/// True if a kernel of mode batch_invariant must run. Integer sums have the same bits in any order.
bool is_invariant(const GemmShape& shape) {
  return shape.compute_mode == ComputeMode::batch_invariant && !is_integer(shape.dtype);
}

GemmChoice first_that_fits(std::span<const GemmRule> rules, const GemmShape& shape, int threads) {
  const double multiply_adds = work_of(shape);
  for (const GemmRule& rule : rules) {
    if (!cpu::machine().isa.contains(rule.needs) || !covers(rule, shape, multiply_adds)) continue;
    return {rule.use.id, rule.use.rung,
            detail::threads_for(multiply_adds, rule.work_per_thread, threads)};
  }
  detail::fail_no_rule();
}

}  // namespace

std::span<const Named<cpu::GemmRung>> gemm_rungs_with_costs() { return rungs; }

int threads_worth(double cost, int threads) { return threads_for(cost, threads, nullptr); }

std::array<double, rungs_with_costs> expected_seconds(const GemmShape& shape) {
  static const double of_cycle = cycle_seconds();
  const GemmTerms terms(shape, rates_alone());
  std::array<double, rungs_with_costs> seconds;
  for (std::size_t i = 0; i < costs.size(); ++i) seconds[i] = costs[i](terms, 1) * of_cycle;
  return seconds;
}

GemmChoice cheapest_gemm(const GemmShape& shape, int threads) {
  if (const auto choice = choice_of_small(shape)) return *choice;
  return cheapest_gemm(shape, threads, cost_factors());
}

GemmChoice cheapest_gemm(const GemmShape& shape, int threads, const CostFactors& factors) {
  return cheapest(shape, threads, factors, nullptr);
}

GemmChoice cheapest_gemm(const GemmShape& shape, int threads, const CostFactors& factors,
                         const CpuRates& rates) {
  return cheapest(shape, threads, factors, &rates);
}

void detail::fail_no_rule() {
  throw Error(Status::internal_error, "rung: no kernel for these types and this mode");
}

bool is_in_use(std::string_view id) {
  const auto is_named = [&](const Named<cpu::GemmRung>& rung) { return rung.id == id; };
  return is_named(tiles) || std::ranges::any_of(rungs, is_named) ||
         std::ranges::any_of(tuned::gemm_rules,
                             [&](const GemmRule& rule) { return is_named(rule.use); });
}

GemmChoice choose_gemm(const GemmShape& shape, int threads) {
  // The first call keeps its measurements: the caller's floating-point mode must not affect them.
  const cpu::ScopedFloatControl usual(cpu::default_float_control);
  const bool has_costs = shape.dtype == Dtype::f32 || shape.dtype == Dtype::f64;
  if (is_invariant(shape)) return first_that_fits(tuned::invariant_gemm_rules, shape, threads);
  if (has_costs) return cheapest_gemm(shape, threads);
  if (const auto choice = choose_tiles(shape, threads)) return *choice;
  return first_that_fits(tuned::gemm_rules, shape, threads);
}

GemmChoice choose_gemm(const GemmCall& call, int threads) {
  return choose_gemm(GemmShape{call.dtype, call.m, call.n, call.k, order_of(call.a),
                               order_of(call.b), call.compute_mode},
                     threads);
}

DotChoice choose_dot(const DotCall& call, DotMode mode, int threads) {
  const bool unit_stride = call.incx == 1 && call.incy == 1;
  return choose_dot(DotShape{call.dtype, call.n, unit_stride, mode}, threads);
}

}  // namespace rung
