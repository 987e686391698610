#pragma once
// Selects the rung for a problem, and the number of threads. The rules themselves are data, in
// tuned/.

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "core/call.hpp"
#include "core/dtype.hpp"
#include "device/cpu/machine.hpp"
#include "device/cpu/parallel.hpp"
#include "device/cpu/rung.hpp"
#include "library/tuned/cpu.hpp"
#include "rung/matrix.hpp"
#include "rung/options.hpp"

namespace rung {

/// A problem in the canonical form of core/problem.hpp; the orders are those of A and B in memory.
struct GemmShape {
  Dtype dtype;
  std::int64_t m, n, k;
  Order a, b;
  ComputeMode compute_mode = ComputeMode::standard;
};

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

/// How many threads, of at most `limit` (0: the processors that the caller may run on now), the
/// work pays for.
inline int threads_for(double work, double work_per_thread, int limit) {
  if (work < 2 * work_per_thread) return 1;  // settles small problems without a division
  if (limit == 0) limit = cpu::available_threads();
  limit = std::min(limit, cpu::max_threads());
  return static_cast<int>(std::min(work / work_per_thread, static_cast<double>(limit)));
}

/// On CPUs the fastest rungs already sum in an order that does not depend on the threads.
constexpr DotMode mode_of_rule(DotMode asked) {
  return asked == DotMode::fast ? DotMode::deterministic : asked;
}

constexpr bool fits(const DotRule& rule, const DotShape& shape) {
  return rule.dtypes.has(shape.dtype) && rule.mode == mode_of_rule(shape.mode) &&
         shape.n <= rule.max_n && (shape.unit_stride || !rule.strides_are_unit);
}

}  // namespace detail

/// Whether the library chooses that rung of gemm/cpu for any problem.
bool is_in_use(std::string_view id);

/// threads: the most to use; 0: the processors that this process may run on.
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
  __builtin_unreachable();  // the last rule of each mode matches everything
}

/// The same for a call as used by the bench and verification.
GemmChoice choose_gemm(const GemmCall& call, int threads);
DotChoice choose_dot(const DotCall& call, DotMode mode, int threads);

}  // namespace rung
