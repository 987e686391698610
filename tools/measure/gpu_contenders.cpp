// The library on a GPU as a contender, and what workloads ask of GPUs.

#include <fmt/format.h>

#include <memory>

#include "backends/cuda/cuda.hpp"
#include "backends/cuda/dot_operands.hpp"
#include "backends/cuda/gemm_operands.hpp"
#include "core/dtype.hpp"
#include "core/kernel_error.hpp"
#include "rung/cuda.hpp"
#include "select/cuda/select.hpp"
#include "tools/measure/contenders.hpp"
#include "tools/measure/gpu_ceilings.hpp"
#include "tools/measure/on_gpu.hpp"
#include "tools/measure/peers/gpu_batch.hpp"
#include "tools/measure/public_calls.hpp"
#include "tools/measure/random/library_plan.hpp"

namespace rung {

using public_calls::bind_dot;
using public_calls::OnGpu;
using public_calls::public_gemm;

GpuLibraryContender::GpuLibraryContender(cuda::Gpu& gpu, ComputeMode mode, bool is_mixed)
    : gpu_(gpu),
      mode_(mode),
      is_mixed_(is_mixed),
      driver_{&gpu.api(), gpu.target().takes_cubin, gpu.target().wanted} {
  cuda::use_driver(&driver_);
}

GpuLibraryContender::~GpuLibraryContender() { cuda::use_driver(nullptr); }

Bound GpuLibraryContender::bind(const GemmCall& call, int threads) const {
  if (is_mixed_) return bind_mixed(call, threads);
  gpu_.make_current();
  const auto operands = std::make_shared<cuda::GemmOperands>(gpu_, call);
  GemmCall on_device = call;
  on_device.a.data = reinterpret_cast<const void*>(operands->a().data());
  on_device.b.data = reinterpret_cast<const void*>(operands->b().data());
  on_device.c.data = reinterpret_cast<void*>(operands->c().data());
  const auto run =
      public_gemm(on_device, OnGpu{CudaStream(gpu_.stream()), {.compute_mode = mode_}});
  if (!run) return {{}, fmt::format("has no {} on GPUs", rung::name(call.dtype))};
  return {batch_on_gpu("library", operands, [=, this] { launch([&] { run(1); }, threads); }), {}};
}

Bound GpuLibraryContender::bind(const DotCall& call, int threads, void* result) const {
  return bind_dot(call, [&]<class In, class Out>(Elements<In, Out>) -> BoundCall {
    gpu_.make_current();
    const auto operands = std::make_shared<cuda::DotOperands>(gpu_, call, result);
    const auto run = [this, call, operands] {
      const auto lowest = [n = call.n](const void* first, std::int64_t increment) {
        const auto* const element = static_cast<const In*>(first);
        return increment < 0 && n > 0 ? element + (n - 1) * increment : element;
      };
      dot(call.n, lowest(operands->x(), call.incx), call.incx, lowest(operands->y(), call.incy),
          call.incy, static_cast<Out*>(operands->result().data()), CudaStream(gpu_.stream()));
    };
    return batch_on_gpu("library", operands, [=, this] { launch(run, threads); });
  });
}

void GpuLibraryContender::launch(const std::function<void()>& run, int threads) const {
  try {
    gpu_.observe(run, threads);
  } catch (const Error& error) {
    gpu_.wait("library");  // throws, with a new context, if earlier work has failed
    throw KernelError(error.what());
  }
}

std::unique_ptr<Contender> library_on_gpu(const Backend& backend, ComputeMode mode, bool is_mixed) {
  cuda::Gpu* const gpu = gpu_of(backend);
  return gpu == nullptr ? nullptr : std::make_unique<GpuLibraryContender>(*gpu, mode, is_mixed);
}

std::string choice_on_gpu(const Backend& backend, const GemmCall& call) {
  cuda::Gpu* const gpu = gpu_of(backend);
  if (gpu == nullptr) return {};
  const auto batched =
      call.batch > 1 ? choose_cuda_batch(call, gpu->target().arch, false) : std::nullopt;
  return std::string(batched ? batched->id : library_plan(*gpu, call).rung);
}

std::string choice_on_gpu(const Backend& backend, const DotCall& call) {
  const cuda::Gpu* const gpu = gpu_of(backend);
  if (gpu == nullptr) return {};
  return std::string(
      choose_cuda_dot({call.dtype, call.n, DotMode::deterministic, gpu->target().arch}).id);
}

WorkloadCeiling gpu_multiply_add_ceiling(const Backend& backend, Dtype dtype) {
  cuda::Gpu* const gpu = backend.name() == "virtual" ? nullptr : gpu_of(backend);
  if (gpu == nullptr) return {};
  auto kernels = gpu_multiply_add_ceilings(*gpu, dtype);
  if (kernels.empty()) return {};
  return {std::string(name(dtype)) + " multiply-add", std::move(kernels)};
}

WorkloadCeiling gpu_read_ceiling(const Backend& backend, std::int64_t bytes) {
  cuda::Gpu* const gpu = backend.name() == "virtual" ? nullptr : gpu_of(backend);
  if (gpu == nullptr) return {};
  return {"read", {gpu_read_ceiling(*gpu, bytes)}};
}

}  // namespace rung
