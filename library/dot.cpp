// CPU dot products: from the public arguments to the rung that the rules select.

#include "rung/dot.hpp"

#include <cstdint>
#include <span>

#include "core/problem.hpp"
#include "library/canonical.hpp"
#include "library/mode_environment.hpp"
#include "library/public_types.hpp"
#include "select/cpu/select.hpp"

namespace rung {
namespace {

void check_options(const DotOptions& options) {
  check::threads("dot", options.threads);
  check::mode(options.mode);
}

template <class In>
auto run_here(const Dot<In>& problem, const DotOptions& options) {
  const bool unit_stride = problem.incx == 1 && problem.incy == 1;
  const DotChoice choice =
      choose_dot(DotShape{dtype_of<In>(), problem.n, unit_stride, options.mode}, options.threads);
  return choice.rung->function<In>()(problem, choice.threads);
}

template <class In>
[[gnu::noinline]] auto run_in_own_environment(const Dot<In>& problem, const DotOptions& options) {
  const auto environment = environment_of(options.mode);
  return run_here(problem, options);
}

/// Checks first whether the caller has the default environment, because most do and a short sum
/// takes little longer than this check.
template <class In>
auto run(const Dot<In>& problem, const DotOptions& options) {
  const bool has_own =
      promises_bits(options.mode) && cpu::float_control() != cpu::default_float_control;
  return has_own ? run_in_own_environment(problem, options) : run_here(problem, options);
}

template <class In>
auto strided(std::int64_t n, const In* x, std::int64_t incx, const In* y, std::int64_t incy,
             const DotOptions& options) {
  check_options(options);
  return run(canonical(n, x, incx, y, incy), options);
}

template <class In>
auto contiguous(std::span<const In> x, std::span<const In> y, const DotOptions& options) {
  check_options(options);
  const auto n = static_cast<std::int64_t>(x.size());
  if (x.size() != y.size()) [[unlikely]] {
    check::fail_lengths(n, static_cast<std::int64_t>(y.size()));
  }
  return run(Dot<In>{n, x.data(), 1, y.data(), 1}, options);
}

}  // namespace

#define RUNG_DEFINE_DOT(suffix, In, Out, InC, OutC)                                       \
  Out dot(std::int64_t n, const In* x, std::int64_t incx, const In* y, std::int64_t incy, \
          const DotOptions& options) {                                                    \
    return strided(n, x, incx, y, incy, options);                                         \
  }                                                                                       \
  Out dot(std::span<const In> x, std::span<const In> y, const DotOptions& options) {      \
    return contiguous(x, y, options);                                                     \
  }
RUNG_PUBLIC_DOT_TYPES(RUNG_DEFINE_DOT)
#undef RUNG_DEFINE_DOT

}  // namespace rung
