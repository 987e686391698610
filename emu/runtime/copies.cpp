// Copies and fills.

#include <fmt/format.h>

#include "cuda_runtime_api.h"
#include "emu/runtime/memory_history.hpp"
#include "emu/runtime/runtime.hpp"

using namespace rung::emu;
namespace cuda = rung::cuda;

namespace {

bool is_kind(cudaMemcpyKind kind) {
  return kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault;
}

cuda::Result copy(const cuda::DriverApi& api, void* to, const void* from, std::size_t bytes,
                  cudaMemcpyKind kind, cuda::Stream stream) {
  switch (kind) {
    case cudaMemcpyHostToDevice:
      return api.cuMemcpyHtoDAsync(device_pointer(to), from, bytes, stream);
    case cudaMemcpyDeviceToHost:
      return api.cuMemcpyDtoHAsync(to, device_pointer(from), bytes, stream);
    case cudaMemcpyDeviceToDevice:
      return api.cuMemcpyDtoDAsync(device_pointer(to), device_pointer(from), bytes, stream);
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault:
      return api.cuMemcpyAsync(device_pointer(to), device_pointer(from), bytes, stream);
  }
  return cuda::Result::invalid_value;
}

cuda::Result copy_now(const cuda::DriverApi& api, void* to, const void* from, std::size_t bytes,
                      cudaMemcpyKind kind) {
  switch (kind) {
    case cudaMemcpyHostToDevice: return api.cuMemcpyHtoD(device_pointer(to), from, bytes);
    case cudaMemcpyDeviceToHost: return api.cuMemcpyDtoH(to, device_pointer(from), bytes);
    case cudaMemcpyDeviceToDevice:
      return api.cuMemcpyDtoD(device_pointer(to), device_pointer(from), bytes);
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault: return api.cuMemcpy(device_pointer(to), device_pointer(from), bytes);
  }
  return cuda::Result::invalid_value;
}

/// Runs call(api), a copy, and notes what it has written.
template <class Call>
cudaError_t run_copy(void* to, std::size_t bytes, cudaMemcpyKind kind, const Call& call) {
  if (!is_kind(kind)) return finish(cudaErrorInvalidMemcpyDirection);
  return with_context([&](const cuda::DriverApi& api) {
    if (bytes == 0) return cuda::Result::success;
    const cuda::Result result = call(api);
    const bool to_host = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost;
    if (result == cuda::Result::success && !to_host) note_written(to, bytes, "cudaMemcpy");
    return result;
  });
}

cuda::MemoryType source_type(cudaMemcpyKind kind) {
  if (kind == cudaMemcpyDefault) return cuda::MemoryType::unified;
  return kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice ? cuda::MemoryType::host
                                                                        : cuda::MemoryType::device;
}

cuda::MemoryType destination_type(cudaMemcpyKind kind) {
  if (kind == cudaMemcpyDefault) return cuda::MemoryType::unified;
  return kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost ? cuda::MemoryType::host
                                                                        : cuda::MemoryType::device;
}

cuda::Memcpy2D rectangle(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  cuda::Memcpy2D copy{};
  copy.source_type = source_type(kind);
  copy.source_host = from;
  copy.source_device = device_pointer(from);
  copy.source_pitch = from_pitch;
  copy.destination_type = destination_type(kind);
  copy.destination_host = to;
  copy.destination_device = device_pointer(to);
  copy.destination_pitch = to_pitch;
  copy.width_bytes = width;
  copy.height = height;
  return copy;
}

}  // namespace

extern "C" {

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return run_copy(to, bytes, kind, [&](const cuda::DriverApi& api) {
    return copy(api, to, from, bytes, kind, to_driver(stream));
  });
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return run_copy(to, bytes, kind,
                  [&](const cuda::DriverApi& api) { return copy_now(api, to, from, bytes, kind); });
}

cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
  if (!is_kind(kind)) return finish(cudaErrorInvalidMemcpyDirection);
  if (width > to_pitch || width > from_pitch) {
    const bool is_source = width <= to_pitch;
    return finish(
        cudaErrorInvalidPitchValue,
        fmt::format("rows of {} bytes do not fit into the {}'s pitch of {} bytes", width,
                    is_source ? "source" : "destination", is_source ? from_pitch : to_pitch));
  }
  return with_context([&](const cuda::DriverApi& api) {
    if (width == 0 || height == 0) return cuda::Result::success;
    const cuda::Memcpy2D copy = rectangle(to, to_pitch, from, from_pitch, width, height, kind);
    return api.cuMemcpy2DAsync(&copy, to_driver(stream));
  });
}

cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind) {
  const cudaError_t error =
      cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, cudaStreamLegacy);
  return error != cudaSuccess ? error : cudaStreamSynchronize(cudaStreamLegacy);
}

cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream) {
  return with_context([&](const cuda::DriverApi& api) {
    if (bytes == 0) return cuda::Result::success;
    const cuda::Result result = api.cuMemsetD8Async(
        device_pointer(to), static_cast<unsigned char>(value), bytes, to_driver(stream));
    if (result == cuda::Result::success) note_written(to, bytes, "cudaMemset");
    return result;
  });
}

cudaError_t cudaMemset(void* to, int value, size_t bytes) {
  return cudaMemsetAsync(to, value, bytes, cudaStreamLegacy);
}

cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
  return with_context([&](const cuda::DriverApi& api) {
    if (width == 0 || height == 0) return cuda::Result::success;
    return api.cuMemsetD2D8Async(device_pointer(to), pitch, static_cast<unsigned char>(value),
                                 width, height, to_driver(stream));
  });
}

cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
  return cudaMemset2DAsync(to, pitch, value, width, height, cudaStreamLegacy);
}

}  // extern "C"
