// The library's products of ragged groups, as contenders.

#include <fmt/format.h>

#include "core/dtype.hpp"
#include "rung/cuda.hpp"
#include "rung/grouped.hpp"
#include "tools/measure/contenders.hpp"
#include "tools/measure/peers/gpu_batch.hpp"
#include "tools/measure/peers/groups_on_gpu.hpp"
#include "tools/measure/public_calls.hpp"

namespace rung {

using public_calls::Calls;
using public_calls::OnGpu;

namespace {

using public_calls::Public;
using public_calls::view;

/// Overloads for rung::gemm_grouped() with groups of rows.
template <class S, class A, class B, class C>
auto groups_at(const GemmOptions& cpu, S alpha, const A& a, const B& b, S beta, const C& c,
               const std::int32_t* offsets)
    -> decltype(gemm_grouped(alpha, a, b, beta, c, offsets, cpu)) {
  return gemm_grouped(alpha, a, b, beta, c, offsets, cpu);
}
template <class S, class A, class B, class C>
auto groups_at(const OnGpu& gpu, S alpha, const A& a, const B& b, S beta, const C& c,
               const std::int32_t* offsets)
    -> decltype(gemm_grouped(alpha, a, b, beta, c, offsets, gpu.stream)) {
  return gemm_grouped(alpha, a, b, beta, c, offsets, gpu.stream, {.gemm = gpu.options});
}

/// Empty if the library does not support the types.
template <class Where>
Calls public_groups(const GroupedCall& grouped, const Where& where) {
  const GemmCall& call = grouped.call;
  return visit(call.dtype, [&]<class In, class Out>(Elements<In, Out>) -> Calls {
    const Gemm<In, Out> g = call.typed<In, Out>();
    const auto a = view(g.a, g.m, g.k);
    const auto b = strided(view(g.b, g.k, g.n), call.batch, call.b.batch_stride);
    const auto c = view(g.c, g.m, g.n);
    const auto alpha = static_cast<Public<Scalar<Out>>>(g.alpha);
    const auto beta = static_cast<Public<Scalar<Out>>>(g.beta);
    const std::int32_t* const offsets = grouped.groups.offsets;
    if constexpr (requires { groups_at(where, alpha, a, b, beta, c, offsets); }) {
      return [=](std::int64_t calls) {
        for (std::int64_t i = 0; i < calls; ++i) groups_at(where, alpha, a, b, beta, c, offsets);
      };
    } else {
      return {};
    }
  });
}

}  // namespace

Bound LibraryContender::bind_groups(const GroupedCall& call, int threads) const {
  const Calls run = public_groups(call, GemmOptions{.threads = threads});
  if (!run) return {{}, fmt::format("has no groups of {} on CPUs", rung::name(call.call.dtype))};
  return {run, {}};
}

Bound GpuLibraryContender::bind_groups(const GroupedCall& call, int threads) const {
  gpu_.make_current();
  const GroupsOnGpu groups(gpu_, call);
  const auto run =
      public_groups(groups.call, OnGpu{CudaStream(gpu_.stream()), {.compute_mode = mode_}});
  if (!run) return {{}, fmt::format("has no groups of {} on GPUs", rung::name(call.call.dtype))};
  return {batch_on_gpu("library", groups.operands,
                       [=, this] { launch([&] { run(1); }, threads), (void)groups.offsets; }),
          {}};
}

}  // namespace rung
