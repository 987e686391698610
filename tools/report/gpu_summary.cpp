#include "tools/report/gpu_summary.hpp"

#include <fmt/format.h>

#include "core/dtype.hpp"
#include "tools/report/table.hpp"

namespace rung {
namespace {

std::string bytes(std::int64_t count) {
  const auto mib = static_cast<double>(count) / (1 << 20);
  return mib < 1024 ? fmt::format("{:.4g} MiB", mib) : fmt::format("{:.4g} GiB", mib / 1024);
}

/// The rates of FMAs. Types with 16-bit results have the same rates as those with f32 results.
std::string rates(const GpuCeilings& ceilings) {
  std::string text = "multiply-adds:";
  const char* separator = " ";
  for (const auto& [type, rate] : ceilings.multiply_add) {
    const auto dtype = parse_dtype(type);
    if (dtype && unrounded(*dtype) != *dtype) continue;
    text += fmt::format("{}{} {}", separator, type, format_rate(1e-3 * rate));
    separator = ", ";
  }
  return wrap(text + " TFLOP/s", 0);
}

}  // namespace

std::string gpu_summary(const GpuEnvironment& gpu) {
  const NvmlFacts& nvml = gpu.nvml;
  std::string text = fmt::format("device: {} (sm_{}, {} multiprocessors)\n", gpu.name, gpu.arch,
                                 gpu.multiprocessors);
  text += fmt::format("driver: {}{}CUDA {}.{}\n", nvml.driver_version,
                      nvml.driver_version.empty() ? "" : ", ", gpu.cuda_version / 1000,
                      gpu.cuda_version % 1000 / 10);
  text += fmt::format("memory: {}, L2 cache {}\n", bytes(gpu.memory_bytes), bytes(gpu.l2_bytes));
  text += fmt::format("bandwidth: {} GB/s measured", format_rate(gpu.ceilings.memory_read));
  if (gpu.peak_bandwidth > 0) {
    text += fmt::format(", {} GB/s by the memory's clock", format_rate(1e-9 * gpu.peak_bandwidth));
  }
  text += "\n" + rates(gpu.ceilings);
  if (nvml.clock_mhz > 0) {
    text += fmt::format("clocks: {} MHz (at most {}), memory {} MHz, power limit {:.0f} W\n",
                        nvml.clock_mhz, nvml.max_clock_mhz, nvml.memory_clock_mhz,
                        nvml.power_limit_watts);
  }
  return text;
}

}  // namespace rung
