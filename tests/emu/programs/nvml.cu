// NVML: what a virtual device can say of itself, and what it has no sensors for.

#include <nvml.h>

#include <cstdio>

int main() {
  nvmlDevice_t device, same;
  const nvmlReturn_t early = nvmlDeviceGetHandleByIndex(0, &device);
  nvmlInit();
  unsigned count = 0, clock = 0, power = 0;
  nvmlDeviceGetCount(&count);
  const nvmlReturn_t beyond = nvmlDeviceGetHandleByIndex(count, &device);
  nvmlDeviceGetHandleByIndex(0, &device);
  char name[NVML_DEVICE_NAME_BUFFER_SIZE], bus[32];
  nvmlDeviceGetName(device, name, sizeof name);
  cudaDeviceGetPCIBusId(bus, sizeof bus, 0);
  nvmlDeviceGetHandleByPciBusId(bus, &same);
  nvmlPciInfo_t info;
  nvmlDeviceGetPciInfo(device, &info);
  nvmlMemory_t memory;
  nvmlDeviceGetMemoryInfo(device, &memory);
  nvmlDeviceGetClockInfo(device, NVML_CLOCK_SM, &clock);
  printf("%u %s %d %d %d\n", count, name, same == device, memory.total > memory.used, clock > 500);
  printf("%s, %s, %s\n", nvmlErrorString(early), nvmlErrorString(beyond),
         nvmlErrorString(nvmlDeviceGetPowerUsage(device, &power)));
  nvmlShutdown();
}
