#include "backends/cuda/gemm_call.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "backends/cuda/grid_limits.hpp"
#include "backends/cuda/rungs.hpp"
#include "backends/cuda/start.hpp"
#include "cuda_driver/error.hpp"

namespace rung::cuda {
namespace {

Launch launch_of(const GemmRung& rung, const GemmCall& call, const GemmPlan& plan) {
  return visit(call.dtype, [&]<class In, class Out>(Elements<In, Out>) {
    return rung.launches.of<In, Out>()(call.typed<In, Out>(), plan);
  });
}

/// The same call with operands on the device.
GemmCall on_device(GemmCall call, const GemmOperands& operands) {
  const auto pointer = [](const DeviceMatrix& matrix) {
    return reinterpret_cast<void*>(matrix.data());
  };
  call.a.data = pointer(operands.a());
  call.b.data = pointer(operands.b());
  call.c.data = pointer(operands.c());
  return call;
}

constexpr std::string_view pack_operand_id = "gemm/cuda/pack_operand";

std::string entry_of(const PackOperand& copy) {
  return fmt::format("gemm_cuda_library_pack_operand_{}", name(type_of(copy)));
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
      launch_(fitted(launch_of(rung, on_device(call, *operands_), plan),
                     gpu_.limits().multiprocessors)),
      function_(gpu_.function(image.unit(call.dtype), entry_)),
      workspace_(gpu_, static_cast<std::size_t>(launch_.workspace_bytes)),
      copies_(gpu_, static_cast<std::size_t>(packed_bytes(launch_))) {
  workspace_.set_to_zero();
  const PreparedMaps maps(gpu_.api(), launch_, copies_.data());
  check(gpu_.api(), maps.result(), "cuTensorMapEncodeTiled");
  visit(call.dtype, [&]<class In, class Out>(Elements<In, Out>) {
    const KernelArgs<In, Out> args = {on_device(call, *operands_).typed<In, Out>(),
                                      {plan.splits, workspace_.data()},
                                      maps.maps()};
    args_.resize(sizeof args);
    std::memcpy(args_.data(), &args, sizeof args);
  });
  to_pack_.assign(maps.copies().begin(), maps.copies().end());
  if (!to_pack_.empty()) {
    pack_entry_ = entry_of(to_pack_.front());
    pack_ =
        gpu_.function(select_image(pack_operand_id, gpu_.target())->unit(call.dtype), pack_entry_);
  }
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
  void* arguments[] = {args_.data()};
  for (std::int64_t i = 0; i < calls; ++i) {
    pack_operands();
    gpu_.launch(function_, entry_, launch_, arguments, threads_);
  }
}

void GemmCallOnGpu::pack_operands() {
  for (PackOperand& copy : to_pack_) {
    void* arguments[] = {&copy};
    gpu_.launch(pack_, pack_entry_, launch_of(copy), arguments, threads_);
  }
}

void GemmCallOnGpu::wait() {
  gpu_.make_current();
  gpu_.wait(entry_);
}

}  // namespace rung::cuda
