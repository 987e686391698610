#include "library/select.hpp"

#include <algorithm>

#include "device/cpu/machine.hpp"
#include "library/tuned/cpu.hpp"

namespace rung {
namespace {

double work(const GemmShape& shape) {
  return static_cast<double>(shape.m) * static_cast<double>(shape.n) * static_cast<double>(shape.k);
}

bool fits(const GemmRule& rule, const GemmShape& shape, double multiply_adds) {
  return rule.dtypes.has(shape.dtype) &&                    //
         rule.min_m <= shape.m && shape.m <= rule.max_m &&  //
         rule.min_n <= shape.n && shape.n <= rule.max_n &&  //
         rule.min_k <= shape.k && shape.k <= rule.max_k &&  //
         multiply_adds <= rule.max_work && rule.a.value_or(shape.a) == shape.a &&
         rule.b.value_or(shape.b) == shape.b;
}

bool fits(const DotRule& rule, const DotShape& shape) {
  return rule.dtypes.has(shape.dtype) && rule.mode == shape.mode && shape.n <= rule.max_n &&
         (shape.unit_stride || !rule.use.rung->unit_stride);
}

int threads_for(double work, double work_per_thread, int limit) {
  if (work < 2 * work_per_thread) return 1;  // settles small problems without a division
  if (limit == 0) limit = cpu::machine().threads;
  return static_cast<int>(std::min(work / work_per_thread, static_cast<double>(limit)));
}

Order order_of(const AnyMatrix<const void*>& matrix) {
  return matrix.col_stride == 1 ? Order::row_major : Order::col_major;
}

}  // namespace

GemmChoice choose_gemm(const GemmShape& shape, int threads) {
  const double multiply_adds = work(shape);
  for (const GemmRule& rule : tuned::gemm_rules) {
    if (!fits(rule, shape, multiply_adds)) continue;
    return {rule.use.id, rule.use.rung, threads_for(multiply_adds, rule.work_per_thread, threads)};
  }
  __builtin_unreachable();  // the last rule fits everything
}

DotChoice choose_dot(const DotShape& shape, int threads) {
  for (const DotRule& rule : tuned::dot_rules) {
    if (!fits(rule, shape)) continue;
    const auto elements = static_cast<double>(shape.n);
    return {rule.use.id, rule.use.rung, threads_for(elements, rule.work_per_thread, threads)};
  }
  __builtin_unreachable();  // the last rule of each mode fits everything
}

GemmChoice choose_gemm(const GemmCall& call, int threads) {
  return choose_gemm(
      GemmShape{call.dtype, call.m, call.n, call.k, order_of(call.a), order_of(call.b)}, threads);
}

DotChoice choose_dot(const DotCall& call, DotMode mode, int threads) {
  const bool unit_stride = call.incx == 1 && call.incy == 1;
  return choose_dot(DotShape{call.dtype, call.n, unit_stride, mode}, threads);
}

}  // namespace rung
