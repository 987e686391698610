#include "tools/measure/contenders.hpp"

#include <fmt/format.h>

#include "core/dtype.hpp"
#include "rung/dot.hpp"
#include "rung/gemm.hpp"
#include "tools/measure/public_calls.hpp"

namespace rung {

using public_calls::bind_dot;
using public_calls::Calls;
using public_calls::public_gemm;
Bound RungContender::bind(const GemmCall& call, int threads) const {
  if (auto reason = backend_.why_not(info_, call)) return {{}, *reason};
  return {backend_.bind(info_, call, threads), {}};
}

Bound RungContender::bind(const DotCall& call, int threads, void* result) const {
  if (auto reason = backend_.why_not(info_, call)) return {{}, *reason};
  return {backend_.bind(info_, call, threads, result), {}};
}

Bound LibraryContender::bind(const GemmCall& call, int threads) const {
  if (is_mixed_) return bind_mixed(call, threads);
  const Calls run = public_gemm(call, GemmOptions{.threads = threads, .compute_mode = mode_});
  if (!run) return {{}, fmt::format("has no {} on CPUs", rung::name(call.dtype))};
  return {run, {}};
}

Bound LibraryContender::bind(const DotCall& call, int threads, void* result) const {
  return bind_dot(call, [&]<class In, class Out>(Elements<In, Out>) -> BoundCall {
    const Dot<In> d = call.typed<In>();
    return {[=](std::int64_t calls) {
      for (std::int64_t i = 0; i < calls; ++i) {
        *static_cast<Out*>(result) = dot(d.n, d.x, d.incx, d.y, d.incy, {.threads = threads});
      }
    }};
  });
}

}  // namespace rung
