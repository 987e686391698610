#include "measure/random/library_plan.hpp"

#include "library/cuda/launch.hpp"
#include "library/cuda/select.hpp"

namespace rung {

LibraryPlan library_plan(cuda::Gpu& gpu, const GemmCall& call) {
  gpu.make_current();
  cuda::ContextCache& context = cuda::current_context();
  CudaGemmChoice choice = choose_cuda_gemm(call, context.arch());
  choice = context.planned(choice, call.dtype, call);
  const cuda::WorkspaceSource workspace{context, gpu.stream(), nullptr, 0};
  visit(call.dtype, [&]<class In, class Out>(Elements<In, Out>) {
    const auto launch_of = choice.rung->launches.template of<In, Out>();
    if (launch_of == nullptr) return;
    // As launch_gemm() does where partial sums do not fit in the workspace.
    while (choice.plan.splits > 1 &&
           !cuda::fits(workspace, launch_of(call.typed<In, Out>(), choice.plan))) {
      --choice.plan.splits;
    }
  });
  return {choice.id, choice.plan};
}

}  // namespace rung
