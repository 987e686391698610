#include "tools/analysis/machine.hpp"

#include <fmt/format.h>

#include "core/dtype.hpp"

namespace rung::analysis {
namespace {

/// FMAs per SM and cycle (CUDA C++ Programming Guide, "Throughput of Native Arithmetic
/// Instructions").
double lanes(const vgpu::DeviceDescription& device, Dtype dtype) {
  const double f32 = device.fp32_lanes_per_multiprocessor;
  if (is_apple(device)) return f32;  // other types are not public
  const int arch = device.arch();
  switch (dtype) {
    case Dtype::f64: return arch == 80 ? 32 : arch == 90 ? 64 : 2;
    case Dtype::i32: return 64;
    default: return f32;
  }
}

/// Peak dense FLOP/s of tensor cores from data sheets: for 16-bit elements with f32 accumulation,
/// and for f64 (0 if not supported).
struct MatrixPeak {
  std::string_view key;
  double flops, f64_flops;
};
constexpr MatrixPeak matrix_peaks[] = {
    {"h200", 989e12, 67e12},    // H200 Tensor Core GPU, SXM: half of the figure with sparsity
    {"h100", 989e12, 67e12},    // H100 Tensor Core GPU, SXM
    {"a100", 312e12, 19.5e12},  // A100 Tensor Core GPU
    {"t4", 65e12, 0},           // T4 Tensor Core GPU
    {"rtx3090", 71e12, 0},      // Ampere GA102 GPU Architecture, table 2
    {"rtx4090", 165.2e12, 0},   // Ada GPU Architecture, appendix A
    {"b200", 2250e12,
     37e12},  // HGX B200: an eighth of the figures for eight GPUs, without sparsity
    {"rtx5090", 209.5e12, 0},  // RTX Blackwell GPU Architecture, appendix A
};

/// The type used for multiplication: types with 16-bit results are computed like f32 results, then
/// rounded; without tensor cores, 16-bit elements are multiplied in f32.
Dtype multiplied_as(Dtype dtype, bool matrix_units) {
  const Dtype inputs = unrounded(dtype);
  const bool is_half = inputs == Dtype::bf16 || inputs == Dtype::f16;
  return is_half && !matrix_units ? Dtype::f32 : inputs;
}

/// The peak from the data sheet, derived from 16-bit elements: 8-bit elements have twice the rate,
/// tf32 half.
double sheet_flops(const vgpu::DeviceDescription& device, Dtype multiplied, bool matrix_units,
                   double by_clock) {
  const double bytes = static_cast<double>(input_bytes(multiplied));
  for (const MatrixPeak& peak : matrix_peaks) {
    if (!matrix_units || device.key != peak.key) continue;
    if (multiplied == Dtype::f64) return peak.f64_flops > 0 ? peak.f64_flops : by_clock;
    return peak.flops * 2 / bytes;
  }
  return by_clock;
}

/// The rates by operand type: measured if available, otherwise from the data sheet.
std::map<Dtype, double> matrix_flops(const vgpu::DeviceDescription& device,
                                     const MeasuredGpu* gpu) {
  std::map<Dtype, double> rates;
  for (const Dtype dtype : unrounded_dtypes) {
    if (dtype == Dtype::f32 || dtype == Dtype::i32) continue;  // not for tensor cores
    double flops = sheet_flops(device, dtype, true, 0);
    if (gpu != nullptr) {
      const auto found = gpu->multiply_add.find(std::string(name(dtype)));
      if (found != gpu->multiply_add.end()) flops = found->second;
    }
    if (flops > 0) rates[dtype] = flops;
  }
  return rates;
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
  const Dtype multiplied = multiplied_as(dtype, matrix_units);
  machine.sheet_flops =
      sheet_flops(device, multiplied, matrix_units, 2 * machine.rate(lanes(device, multiplied)));
  const MeasuredGpu* gpu = results.find_gpu(device.name);
  machine.matrix_flops = matrix_flops(device, gpu);
  if (gpu != nullptr) {
    const auto found = gpu->multiply_add.find(std::string(name(multiplied)));
    if (found != gpu->multiply_add.end()) {
      machine.flops = found->second;
      machine.memory_bytes = gpu->memory_read;
      machine.source = fmt::format("measured, {}", gpu->source);
      return machine;
    }
  }
  machine.flops = machine.sheet_flops;
  machine.memory_bytes = device.memory_bandwidth;
  machine.source = machine.is_public ? "data sheet" : "as the notes say";
  return machine;
}

}  // namespace rung::analysis
