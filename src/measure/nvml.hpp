#pragma once
// What NVIDIA's management library (libnvidia-ml, which comes with the driver) says of a GPU.
// Opened at run time and optional.

#include <string>

namespace rung {

/// 0 or empty: not told.
struct NvmlFacts {
  std::string driver_version;  // "580.95.05"
  int clock_mhz = 0;           // of the multiprocessors, at the moment
  int max_clock_mhz = 0;
  int memory_clock_mhz = 0;
  double power_limit_watts = 0;
};

/// pci_bus_id as cuDeviceGetPCIBusId gives it.
NvmlFacts ask_nvml(const std::string& pci_bus_id);

}  // namespace rung
