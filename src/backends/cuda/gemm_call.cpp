#include "backends/cuda/gemm_call.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "backends/cuda/driver_error.hpp"
#include "backends/cuda/grid_limits.hpp"
#include "backends/cuda/rungs.hpp"
#include "backends/cuda/start.hpp"

namespace rung::cuda {
namespace {

Launch launch_of(const GemmRung& rung, const GemmCall& call, const GemmPlan& plan) {
  return visit(call.dtype, [&]<class In, class Out>(Elements<In, Out>) {
    return rung.launches.of<In>()(call.typed<In, Out>(), plan);
  });
}

}  // namespace

std::optional<std::string> why_not_grid(const GemmRung& rung, const GemmCall& call,
                                        const GemmPlan& plan) {
  const Dim3 grid = launch_of(rung, call, plan).grid;
  if (is_possible(grid)) return std::nullopt;
  return fmt::format("a grid of {}x{}x{} blocks; at most {}x{}x{} are possible", grid.x, grid.y,
                     grid.z, max_grid_x, max_grid_yz, max_grid_yz);
}

GemmCallOnGpu::GemmCallOnGpu(Gpu& gpu, const GemmRung& rung, const Image& image,
                             const GemmCall& call, const GemmPlan& plan, int threads)
    : GemmCallOnGpu(std::make_shared<const GemmOperands>(gpu, call), rung, image, call, plan,
                    threads) {}

GemmCallOnGpu::GemmCallOnGpu(std::shared_ptr<const GemmOperands> operands, const GemmRung& rung,
                             const Image& image, const GemmCall& call, const GemmPlan& plan,
                             int threads)
    : gpu_(operands->gpu()),
      threads_(threads),
      entry_(entry_name(rung, call.dtype, plan.tile)),
      operands_(std::move(operands)),
      launch_(launch_of(rung, call, plan)),
      function_(gpu_.function(image, entry_)),
      workspace_(gpu_, static_cast<std::size_t>(launch_.workspace_bytes)),
      split_{plan.splits, workspace_.data()} {
  workspace_.set_to_zero();
  visit(call.dtype, [&]<class In, class Out>(Elements<In, Out>) {
    Gemm<In, Out> g = call.typed<In, Out>();
    g.a.data = reinterpret_cast<const In*>(operands_->a().data());
    g.b.data = reinterpret_cast<const In*>(operands_->b().data());
    g.c.data = reinterpret_cast<Out*>(operands_->c().data());
    problem_.resize(sizeof g);
    std::memcpy(problem_.data(), &g, sizeof g);
  });
  if (launch_.shared_bytes > plain_shared_bytes) {
    check(gpu_.api(),
          gpu_.api().cuFuncSetAttribute(function_, FunctionAttribute::max_dynamic_shared_size_bytes,
                                        static_cast<int>(launch_.shared_bytes)),
          "cuFuncSetAttribute");
  }
}

void GemmCallOnGpu::enqueue(std::int64_t calls) {
  gpu_.make_current();
  operands_->require_present(entry_);
  if (launch_.grid.count() == 0) return;
  for (std::int64_t i = 0; i < calls; ++i) {
    void* arguments[] = {problem_.data(), &split_};
    gpu_.launch(function_, entry_, launch_, arguments, threads_);
  }
}

void GemmCallOnGpu::wait() {
  gpu_.make_current();
  gpu_.wait(entry_);
}

}  // namespace rung::cuda
