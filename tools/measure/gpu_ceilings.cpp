#include "tools/measure/gpu_ceilings.hpp"

#include <algorithm>
#include <map>
#include <memory>

#include "backends/cuda/device_buffer.hpp"
#include "core/cuda_driver/error.hpp"
#include "core/dtype.hpp"
#include "tools/measure/gpu_ceiling_kernels.hpp"
#include "tools/measure/gpu_matrix_kernels.hpp"
#include "tools/measure/timing.hpp"

namespace rung {
namespace {

constexpr std::int64_t block = 256;
// The maximum number of threads per SM, to hide all latencies.
constexpr std::int64_t blocks_per_multiprocessor = 8;

constexpr std::int32_t iterations = 100;  // about 200 us, to amortize the launch

cuda::Launch whole(const cuda::Gpu& gpu, std::int64_t blocks, std::int64_t threads) {
  const std::int64_t multiprocessors = gpu.attribute(cuda::DeviceAttribute::multiprocessor_count);
  return {.grid = {multiprocessors * blocks}, .block = {threads}};
}

/// One launch per call. The batch owns the buffers.
template <class Argument>
BoundCall batch_of(cuda::Gpu& gpu, const cuda::Unit& module, const char* entry,
                   const cuda::Launch& launch, const Argument& argument,
                   std::vector<std::shared_ptr<cuda::DeviceBuffer>> buffers) {
  const cuda::Function function = gpu.function(module, entry);
  const auto enqueue = [=, &gpu, buffers = std::move(buffers)](std::int64_t calls) {
    gpu.make_current();
    Argument copy = argument;
    void* arguments[] = {&copy};
    for (std::int64_t i = 0; i < calls; ++i) gpu.launch(function, entry, launch, arguments, 1);
  };
  const auto wait = [&gpu, entry] {
    gpu.make_current();
    gpu.wait(entry);
  };
  return {enqueue, wait, [] {}};
}

std::shared_ptr<cuda::DeviceBuffer> buffer(cuda::Gpu& gpu, std::int64_t bytes) {
  return std::make_shared<cuda::DeviceBuffer>(gpu, static_cast<std::size_t>(bytes));
}

// The best of several samples, because noise only increases times.
double best_gpu_rate(const CeilingBatch& ceiling) {
  TimingOptions options;
  options.seconds = 0.12;
  const Timing timing = time_interleaved({{ceiling.batch}}, options).front();
  return ceiling.work / *std::min_element(timing.seconds.begin(), timing.seconds.end()) * 1e-9;
}

CeilingBatch in_registers(cuda::Gpu& gpu, Dtype dtype) {
  const GpuFmaKernel kernel = gpu_fma_kernel(dtype);
  const cuda::Launch launch = whole(gpu, blocks_per_multiprocessor, block);
  const std::int64_t threads = launch.grid.count() * block;
  const auto sums = buffer(gpu, threads * kernel.element_bytes);
  const GpuFmaKernel::Argument argument = {sums->address(), iterations};
  return {batch_of(gpu, gpu_ceiling_module(), kernel.entry, launch, argument, {sums}),
          kernel.flops_per_iteration() * static_cast<double>(threads * iterations)};
}

CeilingBatch on_matrix_unit(cuda::Gpu& gpu, const GpuMatrixKernel& kernel) {
  const cuda::Launch launch = whole(gpu, kernel.blocks_per_multiprocessor, kernel.block);
  const std::int64_t threads = launch.grid.count() * kernel.block;
  const auto sums = buffer(gpu, threads * kernel.element_bytes);
  const GpuMatrixKernel::Argument argument = {sums->address(), iterations};
  return {batch_of(gpu, *kernel.module, kernel.entry, launch, argument, {sums}),
          kernel.flops_per_iteration * static_cast<double>(threads * iterations)};
}

/// True if CUDA cores can multiply the type; all other types need tensor cores.
bool is_for_threads(Dtype dtype) { return is_for_dot(dtype); }

}  // namespace

std::vector<CeilingBatch> gpu_multiply_add_ceilings(cuda::Gpu& gpu, Dtype dtype) {
  gpu.make_current();
  std::vector<CeilingBatch> ceilings;
  const cuda::Target& target = gpu.target();
  for (const GpuMatrixKernel& kernel :
       gpu_matrix_kernels(dtype, target.arch, target.driver_version)) {
    ceilings.push_back(on_matrix_unit(gpu, kernel));
  }
  const bool is_half = input_bytes(dtype) == 2;
  const bool in_threads = is_for_threads(dtype) && (ceilings.empty() || !is_half);
  if (in_threads) ceilings.push_back(in_registers(gpu, dtype));
  return ceilings;
}

CeilingBatch gpu_read_ceiling(cuda::Gpu& gpu, std::int64_t bytes) {
  constexpr std::int64_t piece = 16;
  gpu.make_current();
  const cuda::Launch launch = whole(gpu, blocks_per_multiprocessor, block);
  const std::int64_t pieces = std::max<std::int64_t>(1, bytes / piece);
  const auto data = buffer(gpu, pieces * piece);
  const cuda::DriverApi& api = gpu.api();
  cuda::check(api, api.cuMemsetD8(data->address(), 1, data->bytes()), "cuMemsetD8");
  const auto bits = buffer(gpu, launch.grid.count() * block * 4);
  const GpuReadKernel::Argument argument = {data->address(), bits->address(), pieces};
  return {
      batch_of(gpu, gpu_ceiling_module(), GpuReadKernel().entry, launch, argument, {data, bits}),
      static_cast<double>(pieces * piece)};
}

GpuCeilings measure_gpu_ceilings(cuda::Gpu& gpu) {
  constexpr std::int64_t least = std::int64_t{1} << 30;
  const std::int64_t past_cache = 8 * gpu.attribute(cuda::DeviceAttribute::l2_cache_size);
  GpuCeilings ceilings;
  std::map<Dtype, double> rates;  // GFLOP/s; 0 if not supported
  for (const Dtype dtype : all_dtypes) {
    const auto [found, is_new] = rates.try_emplace(unrounded(dtype), 0.0);
    double& rate = found->second;
    if (is_new) {
      for (const CeilingBatch& ceiling : gpu_multiply_add_ceilings(gpu, dtype)) {
        rate = std::max(rate, best_gpu_rate(ceiling));
      }
    }
    if (rate > 0) ceilings.multiply_add.emplace_back(name(dtype), rate);
  }
  ceilings.memory_read = best_gpu_rate(gpu_read_ceiling(gpu, std::max(least, past_cache)));
  return ceilings;
}

}  // namespace rung
