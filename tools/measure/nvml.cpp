#include "tools/measure/nvml.hpp"

#include <cstdlib>

#include "core/ignored_variable.hpp"
#include "core/shared_library/shared_library.hpp"

namespace rung {
namespace {

// Values from the NVML API reference.
using NvmlDevice = struct NvmlDeviceHandle*;
constexpr int success = 0;
constexpr int sm_clock = 1, memory_clock = 2;  // nvmlClockType_t

using GetClock = int(NvmlDevice, int type, unsigned* mhz);

int clock_of(GetClock* get_clock, NvmlDevice device, int type) {
  unsigned mhz = 0;
  const bool told = get_clock != nullptr && get_clock(device, type, &mhz) == success;
  return told ? static_cast<int>(mhz) : 0;
}

}  // namespace

NvmlFacts ask_nvml(const std::string& pci_bus_id) {
  NvmlFacts facts;
  const SharedLibrary nvml("RUNG_NVML", {"libnvidia-ml.so.1"});
  if (const char* const given = std::getenv("RUNG_NVML"); given != nullptr && !nvml) {
    ignore_variable("RUNG_NVML", given, "cannot be opened; clocks of GPUs are unknown");
  }
  const auto init = nvml.find<int()>("nvmlInit_v2");
  if (init == nullptr || init() != success) return facts;
  char driver[80] = "";
  if (const auto get = nvml.find<int(char*, unsigned)>("nvmlSystemGetDriverVersion")) {
    if (get(driver, sizeof driver) == success) facts.driver_version = driver;
  }
  NvmlDevice device = nullptr;
  const auto find = nvml.find<int(const char*, NvmlDevice*)>("nvmlDeviceGetHandleByPciBusId_v2");
  if (find != nullptr && find(pci_bus_id.c_str(), &device) == success) {
    const auto clock = nvml.find<GetClock>("nvmlDeviceGetClockInfo");
    facts.clock_mhz = clock_of(clock, device, sm_clock);
    facts.memory_clock_mhz = clock_of(clock, device, memory_clock);
    facts.max_clock_mhz =
        clock_of(nvml.find<GetClock>("nvmlDeviceGetMaxClockInfo"), device, sm_clock);
    unsigned milliwatts = 0;
    const auto limit = nvml.find<int(NvmlDevice, unsigned*)>("nvmlDeviceGetEnforcedPowerLimit");
    if (limit != nullptr && limit(device, &milliwatts) == success) {
      facts.power_limit_watts = 1e-3 * milliwatts;
    }
  }
  if (const auto shutdown = nvml.find<int()>("nvmlShutdown")) shutdown();
  return facts;
}

}  // namespace rung
