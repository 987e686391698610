// The driver API for arrays, textures and surfaces, and for copies from and to arrays. The objects
// are those of the runtime API.

#include "emu/runtime/arrays.hpp"

#include <algorithm>

#include "emu/runtime/driver_api/from_runtime.hpp"

using namespace rung::emu;
using namespace rung::emu::driver_api;
namespace cuda = rung::cuda;

namespace {

cudaArray_t runtime_array(CUarray array) { return reinterpret_cast<cudaArray_t>(array); }

cudaChannelFormatDesc to_format(CUarray_format format, unsigned channels) {
  const int kind = format & 0x38, width = format & 0x7;
  int bits = 8;
  if (kind == CU_AD_FORMAT_FLOAT) {
    bits = 32;
  } else if (kind == CU_AD_FORMAT_HALF) {
    bits = 16;
  } else if (kind == CU_AD_FORMAT_SIGNED_INT8) {
    bits = 8 << width;  // formats 8, 9 and 10 have 8, 16 and 32 bits
  } else {
    bits = 8 << (width - 1);  // formats 1, 2 and 3 have 8, 16 and 32 bits
  }
  const bool is_float = kind == CU_AD_FORMAT_FLOAT || kind == CU_AD_FORMAT_HALF;
  const auto of = [&](unsigned channel) { return channels > channel ? bits : 0; };
  return {of(0), of(1), of(2), of(3),
          is_float                           ? cudaChannelFormatKindFloat
          : kind == CU_AD_FORMAT_SIGNED_INT8 ? cudaChannelFormatKindSigned
                                             : cudaChannelFormatKindUnsigned};
}

CUarray_format from_format(const cudaChannelFormatDesc& format) {
  const int step = format.x == 8 ? 0 : format.x == 16 ? 1 : 2;
  if (format.f == cudaChannelFormatKindFloat) {
    return format.x == 16 ? CU_AD_FORMAT_HALF : CU_AD_FORMAT_FLOAT;
  }
  const int first = format.f == cudaChannelFormatKindSigned ? CU_AD_FORMAT_SIGNED_INT8
                                                            : CU_AD_FORMAT_UNSIGNED_INT8;
  return static_cast<CUarray_format>(first + step);
}

unsigned channels_of(const cudaChannelFormatDesc& format) {
  return 1u + (format.y != 0) + (format.z != 0) + (format.w != 0);
}

/// Source or destination of a 3D copy: the first byte, and the bytes between rows and slices.
struct Side {
  cuda::MemoryType type;
  char* data;
  std::size_t pitch, slice;
};

Side make_side(CUmemorytype type, const void* host, CUdeviceptr device, CUarray array,
               std::size_t pitch, std::size_t height) {
  if (type == CU_MEMORYTYPE_ARRAY) {
    const cudaArray& of = *runtime_array(array);
    return {cuda::MemoryType::device, reinterpret_cast<char*>(of.data), of.pitch, of.slice};
  }
  char* const data = type == CU_MEMORYTYPE_HOST ? static_cast<char*>(const_cast<void*>(host))
                                                : reinterpret_cast<char*>(device);
  return {static_cast<cuda::MemoryType>(type), data, pitch, pitch * height};
}

Side moved(Side side, std::size_t x, std::size_t y, std::size_t z) {
  side.data += x + y * side.pitch + z * side.slice;
  return side;
}

CUresult copy_box(const Side& to, const Side& from, std::size_t width, std::size_t height,
                  std::size_t depth, CUstream stream) {
  for (std::size_t z = 0; z < depth; ++z) {
    cuda::Memcpy2D copy{};
    copy.source_type = from.type;
    copy.source_host = from.data + z * from.slice;
    copy.source_device = device_pointer(copy.source_host);
    copy.source_pitch = from.pitch;
    copy.destination_type = to.type;
    copy.destination_host = to.data + z * to.slice;
    copy.destination_device = device_pointer(copy.destination_host);
    copy.destination_pitch = to.pitch;
    copy.width_bytes = width;
    copy.height = height;
    const cuda::Result result = driver().cuMemcpy2DAsync(&copy, driver_stream(stream));
    if (result != cuda::Result::success) return to_result(result);
  }
  return CUDA_SUCCESS;
}

CUresult wait(CUresult result) {
  return result == CUDA_SUCCESS ? cuStreamSynchronize(nullptr) : result;
}

bool lacks_array(CUmemorytype type, CUarray array) {
  return type == CU_MEMORYTYPE_ARRAY && array == nullptr;
}

/// Copies `bytes` bytes between memory and the first row of an array, there from `offset` on.
CUresult copy_run(CUarray array, std::size_t offset, const void* memory, std::size_t bytes,
                  cudaMemcpyKind kind, bool to_array) {
  if (array == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (to_array) {
    return to_result(cudaMemcpyToArray(runtime_array(array), offset, 0, memory, bytes, kind));
  }
  return to_result(
      cudaMemcpyFromArray(const_cast<void*>(memory), runtime_array(array), offset, 0, bytes, kind));
}

bool to_resource(cudaResourceDesc& to, const CUDA_RESOURCE_DESC& from) {
  to = {};
  to.resType = static_cast<cudaResourceType>(from.resType);
  switch (from.resType) {
    case CU_RESOURCE_TYPE_ARRAY:
      to.res.array.array = runtime_array(from.res.array.hArray);
      return true;
    case CU_RESOURCE_TYPE_LINEAR: {
      const auto& linear = from.res.linear;
      to.res.linear = {reinterpret_cast<void*>(linear.devPtr),
                       to_format(linear.format, linear.numChannels), linear.sizeInBytes};
      return true;
    }
    case CU_RESOURCE_TYPE_PITCH2D: {
      const auto& rows = from.res.pitch2D;
      to.res.pitch2D = {reinterpret_cast<void*>(rows.devPtr),
                        to_format(rows.format, rows.numChannels), rows.width, rows.height,
                        rows.pitchInBytes};
      return true;
    }
    default: return false;
  }
}

bool is_integer(const cudaResourceDesc& resource) {
  const cudaChannelFormatDesc& format =
      resource.resType == cudaResourceTypeArray    ? resource.res.array.array->format
      : resource.resType == cudaResourceTypeLinear ? resource.res.linear.desc
                                                   : resource.res.pitch2D.desc;
  return format.f != cudaChannelFormatKindFloat && format.x < 32;
}

}  // namespace

extern "C" {

CUresult cuArray3DCreate_v2(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* description) {
  if (array == nullptr || description == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const cudaChannelFormatDesc format = to_format(description->Format, description->NumChannels);
  return to_result(cudaMalloc3DArray(reinterpret_cast<cudaArray_t*>(array), &format,
                                     {description->Width, description->Height, description->Depth},
                                     description->Flags));
}

CUresult cuArrayCreate_v2(CUarray* array, const CUDA_ARRAY_DESCRIPTOR* description) {
  if (description == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUDA_ARRAY3D_DESCRIPTOR with_depth = {description->Width,  description->Height,      0,
                                              description->Format, description->NumChannels, 0};
  return cuArray3DCreate_v2(array, &with_depth);
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR* description, CUarray array) {
  if (description == nullptr || array == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const cudaArray& of = *runtime_array(array);
  *description = {of.extent.width,        of.extent.height,       of.extent.depth,
                  from_format(of.format), channels_of(of.format), of.flags};
  return CUDA_SUCCESS;
}

CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR* description, CUarray array) {
  CUDA_ARRAY3D_DESCRIPTOR all{};
  const CUresult result = cuArray3DGetDescriptor_v2(&all, array);
  if (result != CUDA_SUCCESS || description == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *description = {all.Width, all.Height, all.Format, all.NumChannels};
  return CUDA_SUCCESS;
}

CUresult cuArrayDestroy(CUarray array) { return to_result(cudaFreeArray(runtime_array(array))); }

CUresult cuMemcpyHtoA_v2(CUarray to, size_t offset, const void* from, size_t bytes) {
  return copy_run(to, offset, from, bytes, cudaMemcpyHostToDevice, true);
}
CUresult cuMemcpyAtoH_v2(void* to, CUarray from, size_t offset, size_t bytes) {
  return copy_run(from, offset, to, bytes, cudaMemcpyDeviceToHost, false);
}
CUresult cuMemcpyDtoA_v2(CUarray to, size_t offset, CUdeviceptr from, size_t bytes) {
  return copy_run(to, offset, reinterpret_cast<void*>(from), bytes, cudaMemcpyDeviceToDevice, true);
}
CUresult cuMemcpyAtoD_v2(CUdeviceptr to, CUarray from, size_t offset, size_t bytes) {
  return copy_run(from, offset, reinterpret_cast<void*>(to), bytes, cudaMemcpyDeviceToDevice,
                  false);
}

CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* copy, CUstream stream) {
  if (copy == nullptr || lacks_array(copy->srcMemoryType, copy->srcArray) ||
      lacks_array(copy->dstMemoryType, copy->dstArray)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const Side from = make_side(copy->srcMemoryType, copy->srcHost, copy->srcDevice, copy->srcArray,
                              copy->srcPitch, copy->srcHeight);
  const Side to = make_side(copy->dstMemoryType, copy->dstHost, copy->dstDevice, copy->dstArray,
                            copy->dstPitch, copy->dstHeight);
  return copy_box(moved(to, copy->dstXInBytes, copy->dstY, copy->dstZ),
                  moved(from, copy->srcXInBytes, copy->srcY, copy->srcZ), copy->WidthInBytes,
                  copy->Height, copy->Depth, stream);
}

CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* copy) {
  return wait(cuMemcpy3DAsync_v2(copy, nullptr));
}

CUresult rung_emu_cuMemcpy2DAsync(const CUDA_MEMCPY2D* copy, CUstream stream) {
  if (copy == nullptr || lacks_array(copy->srcMemoryType, copy->srcArray) ||
      lacks_array(copy->dstMemoryType, copy->dstArray)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const Side from = make_side(copy->srcMemoryType, copy->srcHost, copy->srcDevice, copy->srcArray,
                              copy->srcPitch, 0);
  const Side to = make_side(copy->dstMemoryType, copy->dstHost, copy->dstDevice, copy->dstArray,
                            copy->dstPitch, 0);
  return copy_box(moved(to, copy->dstXInBytes, copy->dstY, 0),
                  moved(from, copy->srcXInBytes, copy->srcY, 0), copy->WidthInBytes, copy->Height,
                  1, stream);
}

CUresult rung_emu_cuMemcpy2D(const CUDA_MEMCPY2D* copy) {
  return wait(rung_emu_cuMemcpy2DAsync(copy, nullptr));
}

CUresult cuTexObjectCreate(CUtexObject* texture, const CUDA_RESOURCE_DESC* resource,
                           const CUDA_TEXTURE_DESC* description,
                           const CUDA_RESOURCE_VIEW_DESC* /*view*/) {
  cudaResourceDesc of{};
  if (resource == nullptr || description == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!to_resource(of, *resource)) return CUDA_ERROR_NOT_SUPPORTED;
  if (of.resType == cudaResourceTypeArray && of.res.array.array == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  cudaTextureDesc how{};
  for (int i = 0; i < 3; ++i) {
    how.addressMode[i] = static_cast<cudaTextureAddressMode>(description->addressMode[i]);
  }
  std::copy_n(description->borderColor, 4, how.borderColor);
  how.filterMode = static_cast<cudaTextureFilterMode>(description->filterMode);
  how.normalizedCoords = (description->flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
  const bool as_integer = (description->flags & CU_TRSF_READ_AS_INTEGER) != 0;
  how.readMode =
      is_integer(of) && !as_integer ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
  return to_result(cudaCreateTextureObject(texture, &of, &how, nullptr));
}

CUresult cuTexObjectDestroy(CUtexObject texture) {
  return to_result(cudaDestroyTextureObject(texture));
}

CUresult cuSurfObjectCreate(CUsurfObject* surface, const CUDA_RESOURCE_DESC* resource) {
  cudaResourceDesc of{};
  if (resource == nullptr || !to_resource(of, *resource)) return CUDA_ERROR_INVALID_VALUE;
  return to_result(cudaCreateSurfaceObject(surface, &of));
}

CUresult cuSurfObjectDestroy(CUsurfObject surface) {
  return to_result(cudaDestroySurfaceObject(surface));
}

}  // extern "C"
