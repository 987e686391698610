// Allocation of device memory, and of host memory for the device.

#include "cuda_runtime_api.h"
#include "emu/runtime/graph_memory.hpp"
#include "emu/runtime/memory_history.hpp"
#include "emu/runtime/runtime.hpp"

using namespace rung::emu;
namespace cuda = rung::cuda;

namespace {

// allocate(api, DevicePointer*) -> Result; records the result as live, under the call's name.
template <class Allocate>
cudaError_t allocate(void** pointer, std::size_t bytes, const char* call, Allocate&& allocate_by) {
  if (pointer == nullptr) return finish(cudaErrorInvalidValue);
  if (bytes == 0) {  // as in CUDA: no memory, and no error
    *pointer = nullptr;
    return cudaSuccess;
  }
  return with_context([&](const cuda::DriverApi& api) {
    void* found = nullptr;
    const cuda::Result result = allocate_by(api, found);
    if (result != cuda::Result::success) return result;
    *pointer = found;
    Runtime::get().add_allocation(found, bytes, call);
    return result;
  });
}

template <class Release>
cudaError_t release(const void* pointer, Release&& release_by) {
  if (pointer == nullptr) return with_context([](const auto&) { return cuda::Result::success; });
  return with_context([&](const cuda::DriverApi& api) {
    const cuda::Result result = release_by(api);
    if (result == cuda::Result::success) {
      Runtime::get().remove_allocation(pointer);
      note_freed(pointer);
    }
    return result;
  });
}

bool is_capturing(cudaStream_t stream) {
  auto status = cudaStreamCaptureStatusNone;
  return stream != nullptr && cudaStreamIsCapturing(stream, &status) == cudaSuccess &&
         status == cudaStreamCaptureStatusActive;
}

cuda::DevicePointer* as_device(void*& pointer) {
  return reinterpret_cast<cuda::DevicePointer*>(&pointer);
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  return allocate(pointer, bytes, "cudaMalloc", [&](const cuda::DriverApi& api, void*& found) {
    return api.cuMemAlloc(as_device(found), bytes);
  });
}

cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream) {
  if (is_capturing(stream)) {
    const cudaError_t error = allocate_graph_memory(pointer, bytes);
    return error == cudaSuccess ? replace_graph_memory(*pointer, false, stream) : error;
  }
  return allocate(pointer, bytes, "cudaMallocAsync", [&](const cuda::DriverApi& api, void*& found) {
    return api.cuMemAllocAsync(as_device(found), bytes, to_driver(stream));
  });
}

cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned int flags) {
  if (bytes == 0) return finish(cudaErrorInvalidValue);
  return allocate(pointer, bytes, "cudaMallocManaged",
                  [&](const cuda::DriverApi& api, void*& found) {
                    return api.cuMemAllocManaged(as_device(found), bytes, flags);
                  });
}

cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  if (pitch == nullptr) return finish(cudaErrorInvalidValue);
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(width, height, &bytes)) return finish(cudaErrorMemoryAllocation);
  constexpr unsigned widest_access = 16;  // bytes: this pitch suits all other sizes, too
  return allocate(pointer, bytes, "cudaMallocPitch", [&](const cuda::DriverApi& api, void*& found) {
    return api.cuMemAllocPitch(as_device(found), pitch, width, height, widest_access);
  });
}

cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned int flags) {
  return allocate(pointer, bytes, "cudaHostAlloc", [&](const cuda::DriverApi& api, void*& found) {
    return api.cuMemHostAlloc(&found, bytes, flags);
  });
}

cudaError_t cudaMallocHost(void** pointer, size_t bytes) {
  return allocate(pointer, bytes, "cudaMallocHost", [&](const cuda::DriverApi& api, void*& found) {
    return api.cuMemAllocHost(&found, bytes);
  });
}

cudaError_t cudaFree(void* pointer) {
  if (is_graph_memory(pointer)) return cudaSuccess;
  return release(
      pointer, [&](const cuda::DriverApi& api) { return api.cuMemFree(device_pointer(pointer)); });
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  if (is_graph_memory(pointer)) return replace_graph_memory(pointer, true, stream);
  return release(pointer, [&](const cuda::DriverApi& api) {
    return api.cuMemFreeAsync(device_pointer(pointer), to_driver(stream));
  });
}

cudaError_t cudaFreeHost(void* pointer) {
  return release(pointer, [&](const cuda::DriverApi& api) { return api.cuMemFreeHost(pointer); });
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned int flags) {
  if (device == nullptr) return finish(cudaErrorInvalidValue);
  return with_context([&](const cuda::DriverApi& api) {
    return api.cuMemHostGetDevicePointer(reinterpret_cast<cuda::DevicePointer*>(device), host,
                                         flags);
  });
}

cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned int flags) {
  return with_context(
      [&](const cuda::DriverApi& api) { return api.cuMemHostRegister(pointer, bytes, flags); });
}

cudaError_t cudaHostUnregister(void* pointer) {
  return with_context([&](const cuda::DriverApi& api) { return api.cuMemHostUnregister(pointer); });
}

cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  return with_context(
      [&](const cuda::DriverApi& api) { return api.cuMemGetInfo(free_bytes, total_bytes); });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  if (attributes == nullptr) return finish(cudaErrorInvalidValue);
  return with_context([&](const cuda::DriverApi& api) {
    const auto address = device_pointer(pointer);
    auto type = cuda::MemoryType::host;
    cudaPointerAttributes found{cudaMemoryTypeUnregistered, cudaInvalidDeviceId, nullptr, nullptr};
    const auto known =
        api.cuPointerGetAttribute(&type, cuda::PointerAttribute::memory_type, address);
    if (known == cuda::Result::success) {
      int managed = 0;
      api.cuPointerGetAttribute(&managed, cuda::PointerAttribute::is_managed, address);
      const bool is_host = type == cuda::MemoryType::host;
      found.type = managed   ? cudaMemoryTypeManaged
                   : is_host ? cudaMemoryTypeHost
                             : cudaMemoryTypeDevice;
      found.device = Runtime::get().device_of(pointer);
      found.devicePointer = const_cast<void*>(pointer);
      if (managed || is_host) found.hostPointer = const_cast<void*>(pointer);
    } else if (known != cuda::Result::invalid_value) {
      return known;
    }
    *attributes = found;
    return cuda::Result::success;
  });
}

cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, int device,
                                 cudaStream_t stream) {
  if (is_device(device)) device = 0;  // the driver's only one
  return with_context([&](const cuda::DriverApi& api) {
    return api.cuMemPrefetchAsync(device_pointer(pointer), bytes, device, to_driver(stream));
  });
}

cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice, int device) {
  return with_context([&](const cuda::DriverApi& api) {
    return api.cuMemAdvise(device_pointer(pointer), bytes, static_cast<cuda::MemoryAdvice>(advice),
                           device);
  });
}

cudaError_t cudaHostGetFlags(unsigned int* flags, void* pointer) {
  return with_context(
      [&](const cuda::DriverApi& api) { return api.cuMemHostGetFlags(flags, pointer); });
}

// No page was ever moved or advised of: the answers are those for memory without advice.
cudaError_t cudaMemRangeGetAttribute(void* data, size_t bytes, cudaMemRangeAttribute attribute,
                                     const void* /*pointer*/, size_t /*count*/) {
  if (data == nullptr || bytes < sizeof(int)) return finish(cudaErrorInvalidValue);
  *static_cast<int*>(data) = attribute == cudaMemRangeAttributeReadMostly ? 0 : cudaInvalidDeviceId;
  return cudaSuccess;
}

}  // extern "C"
