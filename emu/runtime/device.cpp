// Versions, devices and their properties.

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <utility>

#include "cuda_runtime_api.h"
#include "emu/runtime/devices.hpp"
#include "emu/runtime/driver_api/device_attribute.hpp"
#include "emu/runtime/runtime.hpp"

using namespace rung::emu;
namespace cuda = rung::cuda;

namespace {

// The properties that are also attributes, under both names.
#define RUNG_EMU_PROPERTIES(X)                                                                 \
  X(sharedMemPerBlock, cudaDevAttrMaxSharedMemoryPerBlock)                                     \
  X(regsPerBlock, cudaDevAttrMaxRegistersPerBlock)                                             \
  X(warpSize, cudaDevAttrWarpSize)                                                             \
  X(memPitch, cudaDevAttrMaxPitch)                                                             \
  X(maxThreadsPerBlock, cudaDevAttrMaxThreadsPerBlock)                                         \
  X(maxThreadsDim[0], cudaDevAttrMaxBlockDimX)                                                 \
  X(maxThreadsDim[1], cudaDevAttrMaxBlockDimY)                                                 \
  X(maxThreadsDim[2], cudaDevAttrMaxBlockDimZ)                                                 \
  X(maxGridSize[0], cudaDevAttrMaxGridDimX)                                                    \
  X(maxGridSize[1], cudaDevAttrMaxGridDimY)                                                    \
  X(maxGridSize[2], cudaDevAttrMaxGridDimZ)                                                    \
  X(clockRate, cudaDevAttrClockRate)                                                           \
  X(totalConstMem, cudaDevAttrTotalConstantMemory)                                             \
  X(major, cudaDevAttrComputeCapabilityMajor)                                                  \
  X(minor, cudaDevAttrComputeCapabilityMinor)                                                  \
  X(textureAlignment, cudaDevAttrTextureAlignment)                                             \
  X(texturePitchAlignment, cudaDevAttrTexturePitchAlignment)                                   \
  X(deviceOverlap, cudaDevAttrGpuOverlap)                                                      \
  X(multiProcessorCount, cudaDevAttrMultiProcessorCount)                                       \
  X(kernelExecTimeoutEnabled, cudaDevAttrKernelExecTimeout)                                    \
  X(integrated, cudaDevAttrIntegrated)                                                         \
  X(canMapHostMemory, cudaDevAttrCanMapHostMemory)                                             \
  X(computeMode, cudaDevAttrComputeMode)                                                       \
  X(concurrentKernels, cudaDevAttrConcurrentKernels)                                           \
  X(ECCEnabled, cudaDevAttrEccEnabled)                                                         \
  X(pciBusID, cudaDevAttrPciBusId)                                                             \
  X(pciDeviceID, cudaDevAttrPciDeviceId)                                                       \
  X(pciDomainID, cudaDevAttrPciDomainId)                                                       \
  X(tccDriver, cudaDevAttrTccDriver)                                                           \
  X(asyncEngineCount, cudaDevAttrAsyncEngineCount)                                             \
  X(unifiedAddressing, cudaDevAttrUnifiedAddressing)                                           \
  X(memoryClockRate, cudaDevAttrMemoryClockRate)                                               \
  X(memoryBusWidth, cudaDevAttrGlobalMemoryBusWidth)                                           \
  X(l2CacheSize, cudaDevAttrL2CacheSize)                                                       \
  X(persistingL2CacheMaxSize, cudaDevAttrMaxPersistingL2CacheSize)                             \
  X(maxThreadsPerMultiProcessor, cudaDevAttrMaxThreadsPerMultiProcessor)                       \
  X(streamPrioritiesSupported, cudaDevAttrStreamPrioritiesSupported)                           \
  X(globalL1CacheSupported, cudaDevAttrGlobalL1CacheSupported)                                 \
  X(localL1CacheSupported, cudaDevAttrLocalL1CacheSupported)                                   \
  X(sharedMemPerMultiprocessor, cudaDevAttrMaxSharedMemoryPerMultiprocessor)                   \
  X(regsPerMultiprocessor, cudaDevAttrMaxRegistersPerMultiprocessor)                           \
  X(managedMemory, cudaDevAttrManagedMemory)                                                   \
  X(isMultiGpuBoard, cudaDevAttrIsMultiGpuBoard)                                               \
  X(multiGpuBoardGroupID, cudaDevAttrMultiGpuBoardGroupID)                                     \
  X(hostNativeAtomicSupported, cudaDevAttrHostNativeAtomicSupported)                           \
  X(singleToDoublePrecisionPerfRatio, cudaDevAttrSingleToDoublePrecisionPerfRatio)             \
  X(pageableMemoryAccess, cudaDevAttrPageableMemoryAccess)                                     \
  X(concurrentManagedAccess, cudaDevAttrConcurrentManagedAccess)                               \
  X(computePreemptionSupported, cudaDevAttrComputePreemptionSupported)                         \
  X(canUseHostPointerForRegisteredMem, cudaDevAttrCanUseHostPointerForRegisteredMem)           \
  X(cooperativeLaunch, cudaDevAttrCooperativeLaunch)                                           \
  X(sharedMemPerBlockOptin, cudaDevAttrMaxSharedMemoryPerBlockOptin)                           \
  X(pageableMemoryAccessUsesHostPageTables, cudaDevAttrPageableMemoryAccessUsesHostPageTables) \
  X(directManagedMemAccessFromHost, cudaDevAttrDirectManagedMemAccessFromHost)                 \
  X(maxBlocksPerMultiProcessor, cudaDevAttrMaxBlocksPerMultiprocessor)                         \
  X(reservedSharedMemPerBlock, cudaDevAttrReservedSharedMemoryPerBlock)                        \
  X(hostRegisterSupported, cudaDevAttrHostRegisterSupported)                                   \
  X(memoryPoolsSupported, cudaDevAttrMemoryPoolsSupported)                                     \
  X(clusterLaunch, cudaDevAttrClusterLaunch)

// The driver has one device, of the model that all are.
constexpr cuda::Device the_model = 0;

cuda::Result get_attribute(cudaDeviceAttr attribute, int device, int& value) {
  const cuda::Result result = device_attribute(attribute, the_model, value);
  if (attribute == cudaDevAttrPciBusId) value += device;
  return result;
}

/// "0000:01:00.0"
cuda::Result pci_bus_id(int device, char* text, int bytes) {
  int domain = 0, bus = 0, slot = 0;
  for (const auto& [attribute, value] :
       {std::pair{cudaDevAttrPciDomainId, &domain}, std::pair{cudaDevAttrPciBusId, &bus},
        std::pair{cudaDevAttrPciDeviceId, &slot}}) {
    const cuda::Result result = get_attribute(attribute, device, *value);
    if (result != cuda::Result::success) return result;
  }
  std::snprintf(text, static_cast<std::size_t>(bytes), "%04X:%02X:%02X.0",
                static_cast<unsigned>(domain), static_cast<unsigned>(bus),
                static_cast<unsigned>(slot));
  return cuda::Result::success;
}

// An attribute that the driver does not know is 0, as for a feature that the device lacks.
template <class Field>
cuda::Result set_property(Field& field, cudaDeviceAttr attribute, int device) {
  int value = 0;
  const cuda::Result result = get_attribute(attribute, device, value);
  if (result == cuda::Result::success) field = static_cast<Field>(value);
  return result == cuda::Result::invalid_value ? cuda::Result::success : result;
}

// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability", since 8.0.
void set_texture_limits(cudaDeviceProp& found) {
  const auto set = [](int* extents, std::initializer_list<int> values) {
    std::copy(values.begin(), values.end(), extents);
  };
  found.maxTexture1D = found.maxSurface1D = 131072;
  found.maxTexture1DMipmap = found.maxTextureCubemap = found.maxSurfaceCubemap = 32768;
  found.maxTexture1DLinear = 268435456;
  set(found.maxTexture2D, {131072, 65536});
  set(found.maxTexture2DMipmap, {32768, 32768});
  set(found.maxTexture2DLinear, {131072, 65000, 2097120});
  set(found.maxTexture2DGather, {32768, 32768});
  set(found.maxTexture3D, {16384, 16384, 16384});
  set(found.maxTexture3DAlt, {8192, 8192, 32768});
  set(found.maxTexture1DLayered, {32768, 2048});
  set(found.maxTexture2DLayered, {32768, 32768, 2048});
  set(found.maxTextureCubemapLayered, {32768, 2046});
  set(found.maxSurface2D, {131072, 65536});
  set(found.maxSurface3D, {16384, 16384, 16384});
  set(found.maxSurface1DLayered, {32768, 2048});
  set(found.maxSurface2DLayered, {32768, 32768, 2048});
  set(found.maxSurfaceCubemapLayered, {32768, 2046});
}

}  // namespace

extern "C" {

cudaError_t cudaDriverGetVersion(int* version) {
  if (version == nullptr) return finish(cudaErrorInvalidValue);
  return finish(driver().cuDriverGetVersion(version));
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  if (version == nullptr) return finish(cudaErrorInvalidValue);
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaSetDeviceFlags(unsigned int flags) {
  return with_context(
      [&](const cuda::DriverApi& api) { return api.cuDevicePrimaryCtxSetFlags(0, flags); });
}

cudaError_t cudaGetDeviceFlags(unsigned int* flags) {
  if (flags == nullptr) return finish(cudaErrorInvalidValue);
  return with_context([&](const cuda::DriverApi& api) { return api.cuCtxGetFlags(flags); });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (properties == nullptr) return finish(cudaErrorInvalidValue);
  if (!is_device(device)) return finish(cudaErrorInvalidDevice);
  return with_context([&](const cuda::DriverApi& api) {
    cudaDeviceProp found{};
    set_texture_limits(found);
    found.surfaceAlignment = 512;
    found.unifiedFunctionPointers = 1;
    cuda::Uuid uuid{};
    cuda::Result result = api.cuDeviceGetName(found.name, sizeof(found.name), the_model);
    if (result == cuda::Result::success) {
      result = api.cuDeviceTotalMem(&found.totalGlobalMem, the_model);
    }
    if (result == cuda::Result::success) result = api.cuDeviceGetUuid(&uuid, the_model);
    std::memcpy(found.uuid.bytes, uuid.bytes, sizeof(uuid.bytes));
    found.uuid.bytes[0] = static_cast<char>(found.uuid.bytes[0] + device);
#define RUNG_EMU_PROPERTY(field, attribute)                \
  if (result == cuda::Result::success) {                   \
    result = set_property(found.field, attribute, device); \
  }
    RUNG_EMU_PROPERTIES(RUNG_EMU_PROPERTY)
#undef RUNG_EMU_PROPERTY
    if (result == cuda::Result::success) *properties = found;
    return result;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (value == nullptr) return finish(cudaErrorInvalidValue);
  if (!is_device(device)) return finish(cudaErrorInvalidDevice);
  return with_context(
      [&](const cuda::DriverApi& /*api*/) { return get_attribute(attribute, device, *value); });
}

cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* properties) {
  if (device == nullptr || properties == nullptr) return finish(cudaErrorInvalidValue);
  *device = 0;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int bytes, int device) {
  if (!is_device(device)) return finish(cudaErrorInvalidDevice);
  if (text == nullptr || bytes <= 0) return finish(cudaErrorInvalidValue);
  return with_context(
      [&](const cuda::DriverApi& /*api*/) { return pci_bus_id(device, text, bytes); });
}

cudaError_t cudaDeviceSynchronize(void) {
  return with_context([](const cuda::DriverApi& api) { return api.cuCtxSynchronize(); });
}

cudaError_t cudaDeviceReset(void) {
  clear_last_error();
  forget_peers();
  return finish(Runtime::get().reset());
}

cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  return with_context([&](const cuda::DriverApi& api) {
    return api.cuCtxGetLimit(value, static_cast<cuda::Limit>(limit));
  });
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  return with_context([&](const cuda::DriverApi& api) {
    return api.cuCtxSetLimit(static_cast<cuda::Limit>(limit), value);
  });
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  if (config == nullptr) return finish(cudaErrorInvalidValue);
  return with_context([&](const cuda::DriverApi& api) {
    cuda::CacheConfig found{};
    const cuda::Result result = api.cuCtxGetCacheConfig(&found);
    if (result == cuda::Result::success) *config = static_cast<cudaFuncCache>(found);
    return result;
  });
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
  return with_context([&](const cuda::DriverApi& api) {
    return api.cuCtxSetCacheConfig(static_cast<cuda::CacheConfig>(config));
  });
}

// Banks have always been four bytes wide since compute capability 5.0.
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  if (config == nullptr) return finish(cudaErrorInvalidValue);
  *config = cudaSharedMemBankSizeFourByte;
  return cudaSuccess;
}

cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig /*config*/) { return cudaSuccess; }

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return with_context(
      [&](const cuda::DriverApi& api) { return api.cuCtxGetStreamPriorityRange(least, greatest); });
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  if (device == nullptr || text == nullptr) return finish(cudaErrorInvalidValue);
  for (int candidate = 0; candidate < device_count(); ++candidate) {
    std::array<char, 32> known{};
    if (const cudaError_t error = cudaDeviceGetPCIBusId(known.data(), known.size(), candidate)) {
      return error;
    }
    if (std::strcmp(known.data(), text) != 0) continue;
    *device = candidate;
    return cudaSuccess;
  }
  return finish(cudaErrorInvalidValue);
}

cudaError_t cudaCtxResetPersistingL2Cache(void) { return cudaSuccess; }

cudaError_t cudaThreadSynchronize(void) { return cudaDeviceSynchronize(); }
cudaError_t cudaThreadExit(void) { return cudaDeviceReset(); }
cudaError_t cudaThreadGetLimit(size_t* value, cudaLimit limit) {
  return cudaDeviceGetLimit(value, limit);
}
cudaError_t cudaThreadSetLimit(cudaLimit limit, size_t value) {
  return cudaDeviceSetLimit(limit, value);
}
cudaError_t cudaThreadGetCacheConfig(cudaFuncCache* config) {
  return cudaDeviceGetCacheConfig(config);
}
cudaError_t cudaThreadSetCacheConfig(cudaFuncCache config) {
  return cudaDeviceSetCacheConfig(config);
}

}  // extern "C"
