#pragma once
// Selects the kernel for a problem on a CPU, and the number of threads. f32 and f64, and bf16 and int8 on
// CPUs with AMX, take the kernel with the lowest cost (device/cpu/cost/) on this machine, whose rates machine.cpp
// reads and measures. Other types follow the rules of tables.hpp.

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/call.hpp"
#include "core/dtype.hpp"
#include "device/cpu/cost/terms.hpp"
#include "device/cpu/parallel.hpp"
#include "device/cpu/rung.hpp"
#include "device/cpu/thread_limit.hpp"
#include "rung/matrix.hpp"
#include "rung/options.hpp"
#include "select/cpu/tables.hpp"

namespace rung {

struct GemmChoice {
  const char* id;  // as in the catalog
  const cpu::GemmRung* rung;
  int threads;
};

struct DotShape {
  Dtype dtype;
  std::int64_t n;
  bool unit_stride;  // of both vectors
  DotMode mode;
};

struct DotChoice {
  const char* id;
  const cpu::DotRung* rung;
  int threads;
};

namespace detail {

/// The number of threads, at most `limit` (0: default_threads()), that the work pays for.
inline int threads_for(double work, double work_per_thread, int limit) {
  if (work < 2 * work_per_thread) return 1;  // settles small problems without a division
  if (limit == 0) limit = cpu::default_threads();
  limit = std::min(limit, cpu::max_threads());
  return static_cast<int>(std::min(work / work_per_thread, static_cast<double>(limit)));
}

/// Throws rung::Error (Status::internal_error): only for types and modes that the entry points did not
/// check.
[[noreturn]] void fail_no_rule();

constexpr bool fits(const DotRule& rule, const DotShape& shape) {
  return rule.dtypes.has(shape.dtype) && rule.mode == mode_of_rule(shape.mode) &&
         shape.n <= rule.max_n && (shape.unit_stride || !rule.strides_are_unit);
}

}  // namespace detail

/// True if the library chooses that rung of gemm/cpu for any problem.
bool is_in_use(std::string_view id);

/// threads: the most to use; 0: default_threads().
GemmChoice choose_gemm(const GemmShape& shape, int threads);

/// Inline, because for a thousand elements a call alone would cost a tenth of the time.
[[gnu::always_inline]] inline DotChoice choose_dot(const DotShape& shape, int threads) {
#pragma GCC unroll 16
  for (const DotRule& rule : tuned::dot_rules) {
    if (!detail::fits(rule, shape)) continue;
    const auto elements = static_cast<double>(shape.n);
    return {rule.use.id, rule.use.rung,
            detail::threads_for(elements, rule.work_per_thread, threads)};
  }
  detail::fail_no_rule();  // the last rule of each mode matches everything
}

/// For a call as used by the bench and verification.
GemmChoice choose_gemm(const GemmCall& call, int threads);
DotChoice choose_dot(const DotCall& call, DotMode mode, int threads);

/// The kernel, on one thread, for an f32 or f64 product too small for the cost model to pay off, which takes
/// some 60 ns. Null for other products. Inline: it takes a few of some ten nanoseconds.
inline const Named<cpu::GemmRung>* rung_of_small(std::int64_t m, std::int64_t n, std::int64_t k,
                                                 Order a, Order b) {
  static constexpr Named<cpu::GemmRung> masked = RUNG_GEMM(masked_edges);
  static constexpr Named<cpu::GemmRung> narrow = RUNG_GEMM(narrow);
  constexpr std::int64_t longest = 1024, volume = 1 << 17;
  if (m > longest || n > longest || k > longest) return nullptr;
  const std::int64_t narrow_volume = b == Order::row_major ? 1 << 14 : 1 << 12;
  if (m * n * k > (m <= 4 || n <= 4 ? narrow_volume : volume)) return nullptr;
  // Dot products of two to four columns pay off if there are enough rows and steps of k for a copy of B
  // and for the sums of vectors.
  const bool are_dots = a == Order::row_major ? 2 <= n && n <= 4 && m >= 8 * (n - 1) &&
                                                    k >= 16 * (n - 1) && m * k >= 192 * n
                                              : n == 2 && m >= 8 && k >= 40;
  const bool are_columns = (n == 1 && k >= 8) || are_dots;
  const bool is_row = m == 1 && n > 512 && k > 12;
  return are_columns || is_row ? &narrow : &masked;
}

/// This machine's rates without `handover`, which is 0. The first call reads and measures them, in less than
/// a millisecond.
const CpuRates& rates_alone();

/// The same with `handover`. The first call measures it, in about ten milliseconds at most; selection makes it
/// when the first problem is large enough for more than one thread.
const CpuRates& rates_of_threads();

/// Seconds in a cycle of the clock that a core has now.
double cycle_seconds();

inline constexpr std::size_t rungs_with_costs = 6;

/// By which the costs are multiplied, in the order of gemm_rungs_with_costs().
struct CostFactors {
  std::array<double, rungs_with_costs> f32 = {1, 1, 1, 1, 1, 1};
  std::array<double, rungs_with_costs> f64 = {1, 1, 1, 1, 1, 1};

  const std::array<double, rungs_with_costs>& of(Dtype dtype) const {
    return dtype == Dtype::f64 ? f64 : f32;
  }
  std::array<double, rungs_with_costs>& of(Dtype dtype) { return dtype == Dtype::f64 ? f64 : f32; }
};

/// A factor from 0.1 to 10 per line: rung, dtype, factor, separated by blanks. Lines that begin
/// with # are comments. Throws std::runtime_error with the line if it has another form.
CostFactors parse_cost_factors(std::string_view text);
std::string format_cost_factors(const CostFactors& factors, std::string_view cpu);

/// The factors in the user's file for this machine's CPU, read at the first use; 1 without a valid file. See
/// tuned_path().
const CostFactors& cost_factors() noexcept;

/// The kernel of the lowest cost. For Dtype::f32 and Dtype::f64. threads: see choose_gemm().
GemmChoice cheapest_gemm(const GemmShape& shape, int threads);
GemmChoice cheapest_gemm(const GemmShape& shape, int threads, const CostFactors& factors);
/// The same on a machine of those rates.
GemmChoice cheapest_gemm(const GemmShape& shape, int threads, const CostFactors& factors,
                         const CpuRates& rates);

/// The number of threads, at most `threads` (0: the processors that the caller may run on), that pay for
/// their handover if one thread takes `cost` cycles.
int threads_worth(double cost, int threads);

/// In seconds, on one thread, without factors; infinite for a rung that does not apply.
std::array<double, rungs_with_costs> expected_seconds(const GemmShape& shape);

/// The rungs that cheapest_gemm() chooses from.
std::span<const Named<cpu::GemmRung>> gemm_rungs_with_costs();

}  // namespace rung
