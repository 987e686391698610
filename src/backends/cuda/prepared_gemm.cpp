#include "backends/cuda/prepared_gemm.hpp"

#include <new>

#include "backends/cuda/packing.hpp"
#include "core/integers.hpp"

namespace rung::cuda {
namespace {

template <class Pointer>
BatchOperand in_batch(const AnyMatrix<Pointer>& matrix) {
  return {matrix.batch_stride, const_cast<const void* const*>(matrix.pointers)};
}

Products products_of(const GemmCall& call) {
  return {call.batch, in_batch(call.a), in_batch(call.b), in_batch(call.c), call.batch_status};
}

}  // namespace

Launch launch_of(const ConfiguredGemm& gemm, const GemmCall& problem) {
  Launch launch = visit(problem.dtype, [&]<class In, class Out>(Elements<In, Out>) {
    return gemm.rung->launches.of<In, Out>()(problem.typed<In, Out>(), gemm.config);
  });
  if (gemm.config.packs()) {
    launch.a = packed_a(gemm.config, problem);
    launch.b = packed_b(gemm.config, problem);
  }
  if (launch.products_per_block > 0) {
    launch.grid.x *= ceil_div(problem.batch, launch.products_per_block);
  }
  return launch;
}

PreparedGemm::PreparedGemm(const DriverApi& api, const ConfiguredGemm& gemm,
                           const GemmCall& problem, const Launch& launch, int multiprocessors,
                           const LaunchMemory& memory)
    : multiprocessors_(multiprocessors), kernel_(kernel_of(gemm, problem.dtype)), launch_(launch) {
  if (gemm.rung->maps || gemm.config.packs()) maps_ = PreparedMaps(api, launch, memory.copies);
  const GemmCall copied = with_copies(gemm.config, problem, maps_.a(), maps_.b());
  visit(problem.dtype, [&]<class In, class Out>(Elements<In, Out>) {
    using Args = KernelArgs<In, Out>;
    static_assert(sizeof(Args) <= sizeof args_ && alignof(Args) <= alignof(KernelArgs<double>));
    ::new (args_) Args{copied.typed<In, Out>(),
                       {gemm.config.splits, gemm.config.whole,
                        maps_.room() == nullptr ? memory.workspace : maps_.room()},
                       maps_.maps(),
                       maps_.scales(),
                       products_of(problem)};
  });
}

}  // namespace rung::cuda
