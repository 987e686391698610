#include "library/select.hpp"

#include <algorithm>
#include <span>

#include "library/cheapest_gemm.hpp"
#include "library/tile_costs.hpp"

namespace rung {
namespace {

double work(const GemmShape& shape) {
  return static_cast<double>(shape.m) * static_cast<double>(shape.n) * static_cast<double>(shape.k);
}

bool fits(const GemmRule& rule, const GemmShape& shape, double multiply_adds) {
  return rule.dtypes.has(shape.dtype) &&
         fits_mode(rule.compute_mode, shape.compute_mode, shape.dtype) &&
         cpu::machine().isa.contains(rule.needs) &&         //
         rule.min_m <= shape.m && shape.m <= rule.max_m &&  //
         rule.min_n <= shape.n && shape.n <= rule.max_n &&  //
         rule.min_k <= shape.k && shape.k <= rule.max_k &&  //
         multiply_adds <= rule.max_work && rule.a.value_or(shape.a) == shape.a &&
         rule.b.value_or(shape.b) == shape.b;
}

Order order_of(const AnyMatrix<const void*>& matrix) {
  return matrix.col_stride == 1 ? Order::row_major : Order::col_major;
}

/// Integers have the same bits in any order.
bool is_invariant(const GemmShape& shape) {
  return shape.compute_mode == ComputeMode::batch_invariant && !is_integer(shape.dtype);
}

GemmChoice first_that_fits(std::span<const GemmRule> rules, const GemmShape& shape, int threads) {
  const double multiply_adds = work(shape);
  for (const GemmRule& rule : rules) {
    if (!fits(rule, shape, multiply_adds)) continue;
    return {rule.use.id, rule.use.rung,
            detail::threads_for(multiply_adds, rule.work_per_thread, threads)};
  }
  __builtin_unreachable();  // the last rule matches everything
}

}  // namespace

bool is_in_use(std::string_view id) {
  const auto is_named = [&](const Named<cpu::GemmRung>& rung) { return rung.id == id; };
  return is_named(rung_of_tiles) || std::ranges::any_of(gemm_rungs_with_costs(), is_named) ||
         std::ranges::any_of(tuned::gemm_rules,
                             [&](const GemmRule& rule) { return is_named(rule.use); });
}

GemmChoice choose_gemm(const GemmShape& shape, int threads) {
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
