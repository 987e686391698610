#include "bench_gpu.hpp"

#include <fmt/format.h>

#include "backends/cuda/cuda.hpp"
#include "progress.hpp"
#include "tools/report/gpu_summary.hpp"

namespace rung {

std::optional<GpuEnvironment> measure_gpu(const std::vector<const Backend*>& backends,
                                          std::FILE* out) {
  for (const Backend* backend : backends) {
    cuda::Gpu* const gpu = backend->name() == "gpu" ? gpu_of(*backend) : nullptr;
    if (gpu == nullptr) continue;
    const GpuEnvironment environment = [&] {
      Progress progress;
      progress.show("measuring the ceilings of this GPU");
      return gpu_environment(*gpu);
    }();
    fmt::print(out, "{}\n", gpu_summary(environment));
    return environment;
  }
  return std::nullopt;
}

}  // namespace rung
