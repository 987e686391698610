// Texture and surface objects: each is a description in device memory, which the functions of
// rung_emu/texture_fetch.h and surface_access.h read.

#include <algorithm>
#include <map>
#include <mutex>

#include "emu/runtime/arrays.hpp"
#include "emu/runtime/memory_history.hpp"
#include "emu/runtime/runtime.hpp"
#include "rung_emu/texture_data.h"

using namespace rung::emu;
namespace cuda = rung::cuda;
using rung_emu::TextureData;

namespace {

std::mutex mutex;
std::map<unsigned long long, cudaResourceDesc>& resources() {
  static auto& found = *new std::map<unsigned long long, cudaResourceDesc>;
  return found;
}

void set_format(TextureData& data, const cudaChannelFormatDesc& format) {
  data.channels = 1 + (format.y != 0) + (format.z != 0) + (format.w != 0);
  data.channel_bits = format.x;
  data.kind = format.f;
}

// cudaDeviceProp's maxTexture1DLinear and maxTexture2DLinear.
constexpr std::size_t max_linear_texels = 268435456, max_pitched_width = 131072,
                      max_pitched_height = 65000, max_pitch = 2097120;

unsigned as_unsigned(std::size_t value) { return static_cast<unsigned>(value); }

void set_array(TextureData& data, const cudaArray& array) {
  set_format(data, array.format);
  data.data = array.data;
  data.width = as_unsigned(array.extent.width);
  data.height = as_unsigned(std::max<std::size_t>(array.extent.height, 1));
  data.depth = as_unsigned(std::max<std::size_t>(array.extent.depth, 1));
  data.pitch = array.pitch;
  data.slice = array.slice;
  if ((array.flags & (cudaArrayLayered | cudaArrayCubemap)) != 0) {
    data.layers = data.depth;
    data.depth = 1;
  }
}

bool set_resource(TextureData& data, const cudaResourceDesc& resource) {
  switch (resource.resType) {
    case cudaResourceTypeArray:
      if (resource.res.array.array == nullptr) return false;
      set_array(data, *resource.res.array.array);
      return true;
    case cudaResourceTypeMipmappedArray: {
      cudaArray_t level = nullptr;
      if (cudaGetMipmappedArrayLevel(&level, resource.res.mipmap.mipmap, 0) != cudaSuccess) {
        return false;
      }
      set_array(data, *level);
      return true;
    }
    case cudaResourceTypeLinear: {
      const auto& linear = resource.res.linear;
      set_format(data, linear.desc);
      if (data.channel_bits == 0) return false;
      data.data = device_pointer(linear.devPtr);
      const auto texel_bits = static_cast<std::size_t>(data.channels * data.channel_bits);
      if (linear.sizeInBytes > max_linear_texels * texel_bits / 8) return false;
      data.width = as_unsigned(linear.sizeInBytes * 8 / texel_bits);
      data.height = data.depth = 1;
      return true;
    }
    case cudaResourceTypePitch2D: {
      const auto& rows = resource.res.pitch2D;
      if (rows.width > max_pitched_width || rows.height > max_pitched_height ||
          rows.pitchInBytes > max_pitch) {
        return false;
      }
      set_format(data, rows.desc);
      data.data = device_pointer(rows.devPtr);
      data.width = as_unsigned(rows.width);
      data.height = as_unsigned(rows.height);
      data.depth = 1;
      data.pitch = rows.pitchInBytes;
      return true;
    }
  }
  return false;
}

cudaError_t create(unsigned long long* object, const TextureData& data,
                   const cudaResourceDesc& resource, const char* call) {
  return with_context([&](const cuda::DriverApi& api) {
    cuda::DevicePointer address = 0;
    cuda::Result result = api.cuMemAlloc(&address, sizeof(data));
    if (result == cuda::Result::success) result = api.cuMemcpyHtoD(address, &data, sizeof(data));
    if (result != cuda::Result::success) return result;
    *object = address;
    note_allocated(reinterpret_cast<const void*>(address), sizeof(data), call, CallSite::here());
    const std::lock_guard lock(mutex);
    resources()[address] = resource;
    return result;
  });
}

cudaError_t destroy(unsigned long long object) {
  if (object == 0) return cudaSuccess;
  {
    const std::lock_guard lock(mutex);
    if (resources().erase(object) == 0) return finish(cudaErrorInvalidValue);
  }
  note_freed(reinterpret_cast<const void*>(object));
  return with_context([&](const cuda::DriverApi& api) { return api.cuMemFree(object); });
}

}  // namespace

extern "C" {

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* description,
                                    const cudaResourceViewDesc* /*view*/) {
  if (texture == nullptr || resource == nullptr || description == nullptr) {
    return finish(cudaErrorInvalidValue);
  }
  TextureData data{};
  if (!set_resource(data, *resource)) return finish(cudaErrorInvalidValue);
  for (int i = 0; i < 3; ++i) data.address_mode[i] = description->addressMode[i];
  for (int i = 0; i < 4; ++i) data.border[i] = description->borderColor[i];
  // A fetch outside linear memory gives 0.
  if (resource->resType == cudaResourceTypeLinear) {
    std::fill_n(data.address_mode, 3, cudaAddressModeBorder);
  }
  // Wrap and mirror exist for normalised coordinates only (CUDA Runtime API, cudaTextureDesc).
  for (int& mode : data.address_mode) {
    const bool needs_normalized = mode == cudaAddressModeWrap || mode == cudaAddressModeMirror;
    if (needs_normalized && description->normalizedCoords == 0) mode = cudaAddressModeClamp;
  }
  data.filter_mode = description->filterMode;
  data.read_mode = description->readMode;
  data.normalized = description->normalizedCoords;
  if (resource->resType == cudaResourceTypeArray &&
      (resource->res.array.array->flags & cudaArrayCubemap) != 0) {
    data.normalized = 1;
    std::fill_n(data.address_mode, 3, cudaAddressModeClamp);
  }
  return create(texture, data, *resource, "cudaCreateTextureObject");
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) { return destroy(texture); }

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaTextureObject_t texture) {
  const std::lock_guard lock(mutex);
  const auto found = resources().find(texture);
  if (resource == nullptr || found == resources().end()) return finish(cudaErrorInvalidValue);
  *resource = found->second;
  return cudaSuccess;
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surface,
                                    const cudaResourceDesc* resource) {
  if (surface == nullptr || resource == nullptr || resource->resType != cudaResourceTypeArray) {
    return finish(cudaErrorInvalidValue);
  }
  TextureData data{};
  if (!set_resource(data, *resource)) return finish(cudaErrorInvalidValue);
  return create(surface, data, *resource, "cudaCreateSurfaceObject");
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface) { return destroy(surface); }

}  // extern "C"
