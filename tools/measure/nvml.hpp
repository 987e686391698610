#pragma once
// Data about a GPU from NVIDIA's management library (libnvidia-ml, part of the driver). Loaded at
// run time; optional.

#include <string>

namespace rung {

/// Values that are 0 or empty are unknown.
struct NvmlFacts {
  std::string driver_version;  // "580.95.05"
  int clock_mhz = 0;           // current SM clock
  int max_clock_mhz = 0;
  int memory_clock_mhz = 0;
  double power_limit_watts = 0;
};

/// `pci_bus_id`: as returned by cuDeviceGetPCIBusId.
NvmlFacts ask_nvml(const std::string& pci_bus_id);

}  // namespace rung
