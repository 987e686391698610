#include "analysis/machine.hpp"

#include <fmt/format.h>

namespace rung::analysis {
namespace {

/// Multiply-adds of one multiprocessor and cycle (CUDA C++ Programming Guide, "Throughput of Native
/// Arithmetic Instructions").
double lanes(const vgpu::DeviceDescription& device, Dtype dtype) {
  const double f32 = device.fp32_lanes_per_multiprocessor;
  if (is_apple(device)) return f32;  // of other types nothing is public
  const int arch = 10 * device.compute_major + device.compute_minor;
  switch (dtype) {
    case Dtype::f64: return arch == 80 ? 32 : arch == 90 ? 64 : 2;
    case Dtype::i32: return 64;
    default: return f32;
  }
}

}  // namespace

bool is_apple(const vgpu::DeviceDescription& device) { return device.name.starts_with("Apple"); }

Machine machine_of(const vgpu::DeviceDescription& device, Dtype dtype, bool matrix_units,
                   const Results& results) {
  Machine machine;
  machine.name = device.name;
  machine.clock = 1e3 * device.clock_khz;
  machine.multiprocessors = device.multiprocessors;
  machine.is_public = !is_apple(device);
  // Elements of 16 bits are summed in f32; without matrix units that is what multiplies, too.
  const bool narrow = dtype == Dtype::bf16 || dtype == Dtype::f16;
  const Dtype multiplied = narrow && !matrix_units ? Dtype::f32 : dtype;
  if (const MeasuredGpu* gpu = results.find_gpu(device.name)) {
    const auto found = gpu->multiply_add.find(std::string(name(multiplied)));
    if (found != gpu->multiply_add.end()) {
      machine.flops = found->second;
      machine.memory_bytes = gpu->memory_read;
      machine.source = fmt::format("measured, {}", gpu->source);
      return machine;
    }
  }
  machine.flops = 2 * machine.rate(lanes(device, multiplied));
  machine.memory_bytes = device.memory_bandwidth;
  machine.source = machine.is_public ? "data sheet" : "as the notes say";
  return machine;
}

}  // namespace rung::analysis
