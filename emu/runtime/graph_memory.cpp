#include "emu/runtime/graph_memory.hpp"

#include <map>
#include <mutex>

#include "emu/runtime/runtime.hpp"
#include "vgpu/driver/virtual_driver.hpp"

using namespace rung::emu;
namespace cuda = rung::cuda;

namespace {

struct GraphMemory {
  std::mutex mutex;
  std::map<const void*, std::size_t> allocations;
};

GraphMemory& memory() {
  static auto& only = *new GraphMemory;
  return only;
}

}  // namespace

namespace rung::emu {

cudaError_t allocate_graph_memory(void** pointer, std::size_t bytes) {
  if (pointer == nullptr || bytes == 0) return finish(cudaErrorInvalidValue);
  return with_context([&](const cuda::DriverApi& api) {
    cuda::DevicePointer address = 0;
    auto mode = cuda::CaptureMode::relaxed;  // captures of this thread allow it
    api.cuThreadExchangeStreamCaptureMode(&mode);
    const cuda::Result result = api.cuMemAlloc(&address, bytes);
    api.cuThreadExchangeStreamCaptureMode(&mode);
    if (result != cuda::Result::success) return result;
    *pointer = reinterpret_cast<void*>(address);
    const std::lock_guard lock(memory().mutex);
    memory().allocations[*pointer] = bytes;
    return result;
  });
}

cudaError_t replace_graph_memory(void* pointer, bool frees, cudaStream_t stream) {
  if (uses_given_driver()) return cudaSuccess;
  return with_context([&](const cuda::DriverApi&) {
    return vgpu::replace_graph_memory(reinterpret_cast<cuda::DevicePointer>(pointer), frees,
                                      to_driver(stream));
  });
}

bool is_graph_memory(const void* pointer) {
  const std::lock_guard lock(memory().mutex);
  return memory().allocations.contains(pointer);
}

std::size_t graph_memory_bytes() {
  const std::lock_guard lock(memory().mutex);
  std::size_t sum = 0;
  for (const auto& [pointer, bytes] : memory().allocations) sum += bytes;
  return sum;
}

}  // namespace rung::emu

extern "C" {

cudaError_t cudaDeviceGetGraphMemAttribute(int /*device*/, cudaGraphMemAttributeType attribute,
                                           void* value) {
  if (value == nullptr || attribute < cudaGraphMemAttrUsedMemCurrent ||
      attribute > cudaGraphMemAttrReservedMemHigh) {
    return finish(cudaErrorInvalidValue);
  }
  *static_cast<unsigned long long*>(value) = graph_memory_bytes();
  return cudaSuccess;
}

cudaError_t cudaDeviceSetGraphMemAttribute(int /*device*/, cudaGraphMemAttributeType /*mark*/,
                                           void* value) {
  return value == nullptr ? finish(cudaErrorInvalidValue) : cudaSuccess;  // nothing to reset
}

cudaError_t cudaDeviceGraphMemTrim(int /*device*/) { return cudaSuccess; }

}  // extern "C"
