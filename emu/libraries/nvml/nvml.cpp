// NVML, by the runtime's own calls. A handle is the number of its device, from 1.

#include "nvml.h"

#include <cstdint>
#include <cstdio>
#include <cstring>

namespace {

bool is_started = false;

nvmlReturn_t as_result(cudaError_t error) {
  return error == cudaSuccess ? NVML_SUCCESS : NVML_ERROR_UNKNOWN;
}

/// call(device's ordinal, its properties), if NVML is started and the handle is a device's.
template <class Call>
nvmlReturn_t with_device(nvmlDevice_t handle, const void* result, Call&& call) {
  if (!is_started) return NVML_ERROR_UNINITIALIZED;
  const int ordinal = static_cast<int>(reinterpret_cast<std::intptr_t>(handle)) - 1;
  cudaDeviceProp properties;
  if (result == nullptr || cudaGetDeviceProperties(&properties, ordinal) != cudaSuccess) {
    return NVML_ERROR_INVALID_ARGUMENT;
  }
  return call(ordinal, properties);
}

nvmlReturn_t no_sensor(nvmlDevice_t handle, const void* result) {
  return with_device(handle, result,
                     [](int, const cudaDeviceProp&) { return NVML_ERROR_NOT_SUPPORTED; });
}

nvmlReturn_t copy(const char* text, char* to, unsigned length) {
  if (std::strlen(text) >= length) return NVML_ERROR_INSUFFICIENT_SIZE;
  std::strcpy(to, text);
  return NVML_SUCCESS;
}

}  // namespace

extern "C" {

nvmlReturn_t nvmlInit_v2() {
  is_started = true;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlShutdown() {
  if (!is_started) return NVML_ERROR_UNINITIALIZED;
  is_started = false;
  return NVML_SUCCESS;
}

const char* nvmlErrorString(nvmlReturn_t result) {
  switch (result) {
    case NVML_SUCCESS: return "Success";
    case NVML_ERROR_UNINITIALIZED: return "Uninitialized";
    case NVML_ERROR_INVALID_ARGUMENT: return "Invalid Argument";
    case NVML_ERROR_NOT_SUPPORTED: return "Not Supported";
    case NVML_ERROR_NOT_FOUND: return "Not Found";
    case NVML_ERROR_INSUFFICIENT_SIZE: return "Insufficient Size";
    default: return "Unknown Error";
  }
}

nvmlReturn_t nvmlSystemGetDriverVersion(char* version, unsigned int length) {
  if (!is_started) return NVML_ERROR_UNINITIALIZED;
  return version == nullptr ? NVML_ERROR_INVALID_ARGUMENT : copy("virtual", version, length);
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion(int* version) {
  if (!is_started) return NVML_ERROR_UNINITIALIZED;
  return version == nullptr ? NVML_ERROR_INVALID_ARGUMENT
                            : as_result(cudaDriverGetVersion(version));
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int* count) {
  if (!is_started) return NVML_ERROR_UNINITIALIZED;
  int devices = 0;
  if (count == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  *count = static_cast<unsigned>(devices);
  return as_result(error);
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t* device) {
  const auto handle = reinterpret_cast<nvmlDevice_t>(std::uintptr_t{index} + 1);
  return with_device(handle, device, [&](int, const cudaDeviceProp&) {
    *device = handle;
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char* id, nvmlDevice_t* device) {
  if (!is_started) return NVML_ERROR_UNINITIALIZED;
  int ordinal = 0;
  if (id == nullptr || device == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
  if (cudaDeviceGetByPCIBusId(&ordinal, id) != cudaSuccess) return NVML_ERROR_NOT_FOUND;
  return nvmlDeviceGetHandleByIndex_v2(static_cast<unsigned>(ordinal), device);
}

nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned int* index) {
  return with_device(device, index, [&](int ordinal, const cudaDeviceProp&) {
    *index = static_cast<unsigned>(ordinal);
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char* name, unsigned int length) {
  return with_device(device, name, [&](int, const cudaDeviceProp& properties) {
    return copy(properties.name, name, length);
  });
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t* info) {
  return with_device(device, info, [&](int, const cudaDeviceProp& properties) {
    *info = {};
    info->domain = static_cast<unsigned>(properties.pciDomainID);
    info->bus = static_cast<unsigned>(properties.pciBusID);
    info->device = static_cast<unsigned>(properties.pciDeviceID);
    std::snprintf(info->busIdLegacy, sizeof info->busIdLegacy, "%04X:%02X:%02X.0",
                  info->domain & 0xFFFFu, info->bus & 0xFFu, info->device & 0xFFu);
    std::snprintf(info->busId, sizeof info->busId, "%08X:%02X:%02X.0", info->domain, info->bus,
                  info->device);
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t* memory) {
  return with_device(device, memory, [&](int, const cudaDeviceProp&) {
    std::size_t free = 0, total = 0;
    const cudaError_t error = cudaMemGetInfo(&free, &total);
    *memory = {total, free, total - free};
    return as_result(error);
  });
}

nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int* major, int* minor) {
  return with_device(device, major, [&](int, const cudaDeviceProp& properties) {
    if (minor == nullptr) return NVML_ERROR_INVALID_ARGUMENT;
    *major = properties.major;
    *minor = properties.minor;
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, nvmlClockType_t type,
                                       unsigned int* clock) {
  return with_device(device, clock, [&](int ordinal, const cudaDeviceProp&) {
    int kilohertz = 0;
    const auto attribute =
        type == NVML_CLOCK_MEM ? cudaDevAttrMemoryClockRate : cudaDevAttrClockRate;
    const cudaError_t error = cudaDeviceGetAttribute(&kilohertz, attribute, ordinal);
    *clock = static_cast<unsigned>(kilohertz) / 1000;
    return as_result(error);
  });
}

// A virtual device's clocks never change.
nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type,
                                    unsigned int* clock) {
  return nvmlDeviceGetMaxClockInfo(device, type, clock);
}
nvmlReturn_t nvmlDeviceGetApplicationsClock(nvmlDevice_t device, nvmlClockType_t type,
                                            unsigned int* clock) {
  return nvmlDeviceGetMaxClockInfo(device, type, clock);
}

nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, nvmlTemperatureSensors_t /*sensor*/,
                                      unsigned int* celsius) {
  return no_sensor(device, celsius);
}
nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned int* milliwatts) {
  return no_sensor(device, milliwatts);
}
nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t device, unsigned int* milliwatts) {
  return no_sensor(device, milliwatts);
}
nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t device,
                                                 unsigned long long* millijoules) {
  return no_sensor(device, millijoules);
}
nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t* rates) {
  return no_sensor(device, rates);
}

}  // extern "C"
