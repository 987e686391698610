#include "backends/cuda/gemm_call.hpp"

#include <fmt/format.h>

#include <utility>

#include "backends/cuda/grid_limits.hpp"
#include "core/cuda_driver/error.hpp"

namespace rung::cuda {
namespace {

/// The call with its operands replaced by their copies on the device.
GemmCall on_device(GemmCall call, const GemmOperands& operands) {
  const auto pointer = [](const DeviceMatrix& matrix) {
    return reinterpret_cast<void*>(matrix.data());
  };
  call.a.data = pointer(operands.a());
  call.b.data = pointer(operands.b());
  call.c.data = pointer(operands.c());
  return call;
}

}  // namespace

std::optional<std::string> why_not_grid(const ConfiguredGemm& gemm, const GemmCall& call) {
  const Dim3 grid = launch_of(gemm, call).grid;
  if (is_possible(grid)) return std::nullopt;
  return fmt::format("a grid of {}x{}x{} blocks; at most {}x{}x{} are possible", grid.x, grid.y,
                     grid.z, max_grid_x, max_grid_yz, max_grid_yz);
}

GemmCallOnGpu::GemmCallOnGpu(Gpu& gpu, const ConfiguredGemm& gemm, const GemmCall& call,
                             int threads)
    : GemmCallOnGpu(std::make_shared<const GemmOperands>(gpu, call), gemm, call, threads) {}

GemmCallOnGpu::GemmCallOnGpu(std::shared_ptr<const GemmOperands> operands,
                             const ConfiguredGemm& gemm, const GemmCall& call, int threads)
    : gpu_(operands->gpu()),
      threads_(threads),
      name_(kernel_of(gemm, call.dtype).text()),
      operands_(std::move(operands)),
      launch_(fitted(launch_of(gemm, on_device(call, *operands_)), gpu_.limits().multiprocessors)),
      workspace_(gpu_, static_cast<std::size_t>(launch_.workspace_bytes)),
      copies_(gpu_, static_cast<std::size_t>(packed_bytes(launch_))),
      prepared_(gpu_.api(), gemm, on_device(call, *operands_), launch_,
                gpu_.limits().multiprocessors, {workspace_.data(), copies_.data()}) {
  check(gpu_.api(), prepared_.result(), "cuTensorMapEncodeTiled");
  workspace_.set_to_zero();
  prepared_.for_each_launch([&](const KernelName& kernel, const Launch& launch, void**,
                                std::size_t) { gpu_.load(kernel, launch.shared_bytes); });
}

void GemmCallOnGpu::enqueue(std::int64_t calls) {
  gpu_.make_current();
  operands_->require_present(name_);
  if (launch_.grid.count() == 0) return;
  for (std::int64_t i = 0; i < calls; ++i) {
    prepared_.for_each_launch(
        [&](const KernelName& kernel, const Launch& launch, void** parameters, std::size_t) {
          gpu_.launch(kernel, launch, parameters, threads_);
        });
  }
}

void GemmCallOnGpu::wait() {
  gpu_.make_current();
  gpu_.wait(name_);
}

}  // namespace rung::cuda
