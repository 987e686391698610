#include "backends/cuda/prepared_gemm.hpp"

#include <new>

#include "backends/cuda/packing.hpp"

namespace rung::cuda {

Launch launch_of(const ConfiguredGemm& gemm, const GemmCall& problem) {
  Launch launch = visit(problem.dtype, [&]<class In, class Out>(Elements<In, Out>) {
    return gemm.rung->launches.of<In, Out>()(problem.typed<In, Out>(), gemm.config);
  });
  launch.grid.z = problem.batch;
  if (gemm.config.packs()) {
    launch.a = packed_a(gemm.config, problem);
    launch.b = packed_b(gemm.config, problem);
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
                       {gemm.config.splits, gemm.config.whole, memory.workspace},
                       maps_.maps(),
                       maps_.scales()};
  });
}

}  // namespace rung::cuda
