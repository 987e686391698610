// Arrays, which are pitched memory here, and copies of boxes.

#include "emu/runtime/arrays.hpp"

#include <algorithm>

#include "emu/runtime/runtime.hpp"

using namespace rung::emu;
namespace cuda = rung::cuda;

struct cudaMipmappedArray {
  std::vector<cudaArray_t> levels;
};

namespace {

constexpr std::size_t pitch_alignment = 512;

std::size_t at_least_one(std::size_t extent) { return extent == 0 ? 1 : extent; }

std::size_t texel_bytes(const cudaChannelFormatDesc& format) {
  return static_cast<std::size_t>(format.x + format.y + format.z + format.w) / 8;
}

/// The largest extents of such an array (CUDA C++ Programming Guide, "Compute Capabilities").
bool is_supported(cudaExtent extent, unsigned flags) {
  const auto fits = [&](std::size_t width, std::size_t height, std::size_t depth) {
    return extent.width <= width && extent.height <= height && extent.depth <= depth;
  };
  if ((flags & (cudaArrayLayered | cudaArrayCubemap)) != 0) return fits(32768, 32768, 2048);
  if (extent.depth != 0) return fits(16384, 16384, 16384) || fits(8192, 8192, 32768);
  return fits(131072, extent.height == 0 ? 0 : 65536, 0);
}

cudaError_t allocate_array(cudaArray_t* array, const cudaChannelFormatDesc* format,
                           cudaExtent extent, unsigned flags, const char* call) {
  if (array == nullptr || format == nullptr || extent.width == 0 || !is_supported(extent, flags)) {
    return finish(cudaErrorInvalidValue);
  }
  return with_context([&](const cuda::DriverApi& api) {
    auto made = std::make_unique<cudaArray>();
    made->format = *format;
    made->extent = extent;
    made->flags = flags;
    const std::size_t row = extent.width * texel_bytes(*format);
    made->pitch = (row + pitch_alignment - 1) / pitch_alignment * pitch_alignment;
    made->slice = made->pitch * at_least_one(extent.height);
    const auto result = api.cuMemAlloc(&made->data, made->slice * at_least_one(extent.depth));
    if (result != cuda::Result::success) return result;
    Runtime::get().add_allocation(reinterpret_cast<void*>(made->data),
                                  made->slice * at_least_one(extent.depth), call);
    *array = made.release();
    return result;
  });
}

// One side of a copy: where its slices and rows begin, in device or host memory.
struct Side {
  cuda::MemoryType type;
  char* data;
  std::size_t pitch, slice;
};

Side array_side(cudaArray_const_t array, cudaPos at) {
  auto* data = reinterpret_cast<char*>(array->data) + at.z * array->slice + at.y * array->pitch +
               at.x * texel_bytes(array->format);
  return {cuda::MemoryType::device, data, array->pitch, array->slice};
}

Side pointer_side(const cudaPitchedPtr& pointer, cudaPos at, cuda::MemoryType type) {
  const std::size_t slice = pointer.pitch * pointer.ysize;
  return {type, static_cast<char*>(pointer.ptr) + at.z * slice + at.y * pointer.pitch + at.x,
          pointer.pitch, slice};
}

cuda::Result copy_box(const cuda::DriverApi& api, const Side& to, const Side& from,
                      cudaExtent bytes, cuda::Stream stream) {
  for (std::size_t z = 0; z < bytes.depth; ++z) {
    cuda::Memcpy2D copy{};
    copy.source_type = from.type;
    copy.source_host = from.data + z * from.slice;
    copy.source_device = device_pointer(copy.source_host);
    copy.source_pitch = from.pitch;
    copy.destination_type = to.type;
    copy.destination_host = to.data + z * to.slice;
    copy.destination_device = device_pointer(copy.destination_host);
    copy.destination_pitch = to.pitch;
    copy.width_bytes = bytes.width;
    copy.height = bytes.height;
    if (const auto result = api.cuMemcpy2DAsync(&copy, stream); result != cuda::Result::success) {
      return result;
    }
  }
  return cuda::Result::success;
}

cuda::MemoryType memory_type(cudaMemcpyKind kind, bool is_source) {
  if (kind == cudaMemcpyDefault) return cuda::MemoryType::unified;
  const bool is_host = kind == cudaMemcpyHostToHost ||
                       kind == (is_source ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost);
  return is_host ? cuda::MemoryType::host : cuda::MemoryType::device;
}

// Between a rectangle of an array, in bytes from (x, y), and rows in memory.
cudaError_t copy_rectangle(cudaArray_const_t array, std::size_t x, std::size_t y,
                           const void* memory, std::size_t pitch, std::size_t width,
                           std::size_t height, cudaMemcpyKind kind, bool to_array,
                           cudaStream_t stream) {
  if (array == nullptr || memory == nullptr) return finish(cudaErrorInvalidValue);
  if (width == 0 || height == 0) return cudaSuccess;
  return with_context([&](const cuda::DriverApi& api) {
    Side inside = array_side(array, {0, y, 0});
    inside.data += x;
    const Side outside = {memory_type(kind, to_array),
                          const_cast<char*>(static_cast<const char*>(memory)), pitch, 0};
    return copy_box(api, to_array ? inside : outside, to_array ? outside : inside,
                    {width, height, 1}, to_driver(stream));
  });
}

cudaError_t wait(cudaError_t error) {
  return error != cudaSuccess ? error : cudaStreamSynchronize(cudaStreamLegacy);
}

// `bytes` bytes from the array's place (x, y) on, over the ends of its rows.
cudaError_t copy_run(cudaArray_const_t array, std::size_t x, std::size_t y, const void* memory,
                     std::size_t bytes, cudaMemcpyKind kind, bool to_array) {
  if (array == nullptr) return finish(cudaErrorInvalidValue);
  const std::size_t row = array->extent.width * texel_bytes(array->format);
  const char* from = static_cast<const char*>(memory);
  while (bytes > 0) {
    const std::size_t part = std::min(bytes, row - x);
    const cudaError_t error =
        copy_rectangle(array, x, y, from, part, part, 1, kind, to_array, cudaStreamLegacy);
    if (error != cudaSuccess) return error;
    from += part;
    bytes -= part;
    x = 0;
    ++y;
  }
  return wait(cudaSuccess);
}

// Between rectangles of two arrays, in bytes from (x, y).
struct Corner {
  cudaArray_const_t array;
  std::size_t x, y;

  Side side() const {
    Side at = array_side(array, {0, y, 0});
    at.data += x;
    return at;
  }
};

cudaError_t copy_rectangle(const Corner& to, const Corner& from, std::size_t width,
                           std::size_t height) {
  if (to.array == nullptr || from.array == nullptr) return finish(cudaErrorInvalidValue);
  if (width == 0 || height == 0) return cudaSuccess;
  return with_context([&](const cuda::DriverApi& api) {
    return copy_box(api, to.side(), from.side(), {width, height, 1}, to_driver(cudaStreamLegacy));
  });
}

}  // namespace

extern "C" {

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format, size_t width,
                            size_t height, unsigned int flags) {
  return allocate_array(array, format, {width, height, 0}, flags, "cudaMallocArray");
}

cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format,
                              cudaExtent extent, unsigned int flags) {
  return allocate_array(array, format, extent, flags, "cudaMalloc3DArray");
}

cudaError_t cudaFreeArray(cudaArray_t array) {
  if (array == nullptr) return cudaSuccess;
  const cudaError_t error = cudaFree(reinterpret_cast<void*>(array->data));
  if (error == cudaSuccess) delete array;
  return error;
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned int* flags,
                             cudaArray_t array) {
  if (array == nullptr) return finish(cudaErrorInvalidResourceHandle);
  if (format != nullptr) *format = array->format;
  if (extent != nullptr) *extent = array->extent;
  if (flags != nullptr) *flags = array->flags;
  return cudaSuccess;
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array) {
  if (format == nullptr || array == nullptr) return finish(cudaErrorInvalidValue);
  *format = array->format;
  return cudaSuccess;
}

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* array,
                                     const cudaChannelFormatDesc* format, cudaExtent extent,
                                     unsigned int levels, unsigned int flags) {
  if (array == nullptr) return finish(cudaErrorInvalidValue);
  auto made = std::make_unique<cudaMipmappedArray>();
  for (unsigned level = 0; level < levels; ++level) {
    const auto half = [&](std::size_t size) {
      return size == 0 ? 0 : std::max<std::size_t>(size >> level, 1);
    };
    cudaArray_t one = nullptr;
    const cudaError_t error =
        allocate_array(&one, format, {half(extent.width), half(extent.height), half(extent.depth)},
                       flags, "cudaMallocMipmappedArray");
    if (error != cudaSuccess) return error;
    made->levels.push_back(one);
  }
  *array = made.release();
  return cudaSuccess;
}

cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t* level, cudaMipmappedArray_const_t array,
                                       unsigned int number) {
  if (level == nullptr || array == nullptr || number >= array->levels.size()) {
    return finish(cudaErrorInvalidValue);
  }
  *level = array->levels[number];
  return cudaSuccess;
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array) {
  if (array == nullptr) return cudaSuccess;
  for (const cudaArray_t level : array->levels) cudaFreeArray(level);
  delete array;
  return cudaSuccess;
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* pointer, cudaExtent extent) {
  if (pointer == nullptr) return finish(cudaErrorInvalidValue);
  std::size_t pitch = 0;
  void* found = nullptr;
  std::size_t rows = 0;
  if (__builtin_mul_overflow(extent.height, extent.depth, &rows)) {
    return finish(cudaErrorMemoryAllocation);
  }
  const cudaError_t error = cudaMallocPitch(&found, &pitch, extent.width, rows);
  if (error == cudaSuccess) *pointer = {found, pitch, extent.width, extent.height};
  return error;
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr pointer, int value, cudaExtent extent,
                              cudaStream_t stream) {
  for (std::size_t z = 0; z < extent.depth; ++z) {
    char* const slice = static_cast<char*>(pointer.ptr) + z * pointer.pitch * pointer.ysize;
    const cudaError_t error =
        cudaMemset2DAsync(slice, pointer.pitch, value, extent.width, extent.height, stream);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

cudaError_t cudaMemset3D(cudaPitchedPtr pointer, int value, cudaExtent extent) {
  return cudaMemset3DAsync(pointer, value, extent, cudaStreamLegacy);
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* copy, cudaStream_t stream) {
  if (copy == nullptr || (copy->srcArray == nullptr) == (copy->srcPtr.ptr == nullptr) ||
      (copy->dstArray == nullptr) == (copy->dstPtr.ptr == nullptr)) {
    return finish(cudaErrorInvalidValue);
  }
  return with_context([&](const cuda::DriverApi& api) {
    const Side from = copy->srcArray != nullptr
                          ? array_side(copy->srcArray, copy->srcPos)
                          : pointer_side(copy->srcPtr, copy->srcPos, memory_type(copy->kind, true));
    const Side to = copy->dstArray != nullptr
                        ? array_side(copy->dstArray, copy->dstPos)
                        : pointer_side(copy->dstPtr, copy->dstPos, memory_type(copy->kind, false));
    // In elements if an array takes part, in bytes otherwise.
    cudaExtent extent = copy->extent;
    const cudaArray_t array = copy->srcArray != nullptr ? copy->srcArray : copy->dstArray;
    if (array != nullptr) extent.width *= texel_bytes(array->format);
    return copy_box(api, to, from, extent, to_driver(stream));
  });
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* copy) {
  return wait(cudaMemcpy3DAsync(copy, cudaStreamLegacy));
}

cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t bytes,
                              cudaMemcpyKind kind) {
  return copy_run(to, x, y, from, bytes, kind, true);
}

cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                cudaMemcpyKind kind) {
  return copy_run(from, x, y, to, bytes, kind, false);
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from,
                                     size_t pitch, size_t width, size_t height, cudaMemcpyKind kind,
                                     cudaStream_t stream) {
  return copy_rectangle(to, x, y, from, pitch, width, height, kind, true, stream);
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch,
                                size_t width, size_t height, cudaMemcpyKind kind) {
  return wait(
      cudaMemcpy2DToArrayAsync(to, x, y, from, pitch, width, height, kind, cudaStreamLegacy));
}

cudaError_t cudaMemcpy2DFromArray(void* to, size_t pitch, cudaArray_const_t from, size_t x,
                                  size_t y, size_t width, size_t height, cudaMemcpyKind kind) {
  return wait(copy_rectangle(from, x, y, to, pitch, width, height, kind, false, cudaStreamLegacy));
}

cudaError_t cudaMemcpy2DFromArrayAsync(void* to, size_t pitch, cudaArray_const_t from, size_t x,
                                       size_t y, size_t width, size_t height, cudaMemcpyKind kind,
                                       cudaStream_t stream) {
  return copy_rectangle(from, x, y, to, pitch, width, height, kind, false, stream);
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y,
                                     cudaArray_const_t from, size_t from_x, size_t from_y,
                                     size_t width, size_t height, cudaMemcpyKind /*kind*/) {
  return wait(copy_rectangle({to, to_x, to_y}, {from, from_x, from_y}, width, height));
}

}  // extern "C"
