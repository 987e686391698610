#include "tools/measure/gpu_environment.hpp"

namespace rung {

GpuEnvironment gpu_environment(cuda::Gpu& gpu) {
  using enum cuda::DeviceAttribute;
  gpu.make_current();
  GpuEnvironment here;
  here.name = gpu.name();
  here.arch = gpu.target().arch;
  here.cuda_version = gpu.target().driver_version;
  here.multiprocessors = gpu.attribute(multiprocessor_count);
  here.memory_bytes = gpu.memory_bytes();
  here.l2_bytes = gpu.attribute(l2_cache_size);
  // Double data rate: both clock edges carry data.
  here.peak_bandwidth =
      2.0 * 1e3 * gpu.attribute(memory_clock_rate) * gpu.attribute(global_memory_bus_width) / 8;
  here.ceilings = measure_gpu_ceilings(gpu);
  here.nvml = ask_nvml(gpu.pci_bus_id());
  return here;
}

}  // namespace rung
