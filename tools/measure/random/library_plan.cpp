#include "tools/measure/random/library_plan.hpp"

#include "library/cuda/launch.hpp"
#include "select/cpu/select.hpp"
#include "select/cuda/select.hpp"

namespace rung {

LibraryPlan library_plan(cuda::Gpu& gpu, const GemmCall& call) {
  gpu.make_current();
  cuda::ContextCache& context = cuda::current_context();
  CudaGemmChoice choice = choose_cuda_gemm(call, context.arch());
  const cuda::WorkspaceSource workspace{context, gpu.stream(), nullptr, 0};
  const cuda::Limits limits = cuda::limits_of_call(workspace, 0);
  if (!cuda::has(*choice.rung, call.dtype)) return {choice.id, choice.config};
  choice = cuda::config_in_mode(workspace, choice, call, limits);
  cuda::fitting_launch(workspace, choice, call, limits.multiprocessors);  // reduces splits
  return {choice.id, choice.config};
}

bool library_uses(std::string_view rung) { return is_in_use(rung); }

LibraryPlan library_plan(const GemmCall& call, int threads) {
  const GemmChoice choice = choose_gemm(call, threads);
  return {choice.id, {}, choice.threads};
}

}  // namespace rung
