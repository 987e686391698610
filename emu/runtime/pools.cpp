// Memory pools. Every allocation comes from the one device's memory; a pool keeps only its
// attributes.

#include <atomic>
#include <cstdint>

#include "cuda_runtime_api.h"
#include "emu/runtime/runtime.hpp"

using namespace rung::emu;
namespace cuda = rung::cuda;

struct CUmemPoolHandle_st {
  cuda::MemoryPool driver = nullptr;
  std::uint64_t release_threshold = 0;
  int reuse[3] = {1, 1, 1};  // the three ways to reuse memory
};

namespace {

CUmemPoolHandle_st default_pool;
std::atomic<cudaMemPool_t> current_pool = &default_pool;

// The driver makes the default pool at its first use.
cuda::Result ready(const cuda::DriverApi& api, cudaMemPool_t pool) {
  if (pool->driver != nullptr) return cuda::Result::success;
  const cuda::MemoryPoolProperties properties;
  return api.cuMemPoolCreate(&pool->driver, &properties);
}

std::uint64_t used_bytes(const cuda::DriverApi& api) {
  std::size_t free = 0, total = 0;
  api.cuMemGetInfo(&free, &total);
  return total - free;
}

}  // namespace

extern "C" {

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  if (pool == nullptr || properties == nullptr) return finish(cudaErrorInvalidValue);
  return with_context([&](const cuda::DriverApi& api) {
    cuda::MemoryPoolProperties wanted;
    wanted.allocation = static_cast<cuda::AllocationType>(properties->allocType);
    wanted.handle_types = properties->handleTypes;
    wanted.location = static_cast<cuda::MemoryLocationType>(properties->location.type);
    wanted.device = properties->location.id;
    wanted.max_bytes = properties->maxSize;
    cuda::MemoryPool made = nullptr;
    const cuda::Result result = api.cuMemPoolCreate(&made, &wanted);
    if (result == cuda::Result::success) *pool = new CUmemPoolHandle_st{made};
    return result;
  });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  if (pool == nullptr || pool == &default_pool) return finish(cudaErrorInvalidValue);
  cudaMemPool_t expected = pool;
  current_pool.compare_exchange_strong(expected, &default_pool);
  return with_context([&](const cuda::DriverApi& api) {
    const cuda::Result result = api.cuMemPoolDestroy(pool->driver);
    if (result == cuda::Result::success) delete pool;
    return result;
  });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  if (pool == nullptr || value == nullptr) return finish(cudaErrorInvalidValue);
  switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies:
      pool->reuse[attribute - 1] = *static_cast<const int*>(value);
      return cudaSuccess;
    case cudaMemPoolAttrReleaseThreshold:
      pool->release_threshold = *static_cast<const std::uint64_t*>(value);
      return cudaSuccess;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh: return cudaSuccess;  // resets the mark
    default: return finish(cudaErrorInvalidValue);
  }
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  if (pool == nullptr || value == nullptr) return finish(cudaErrorInvalidValue);
  switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies:
      *static_cast<int*>(value) = pool->reuse[attribute - 1];
      return cudaSuccess;
    case cudaMemPoolAttrReleaseThreshold:
      *static_cast<std::uint64_t*>(value) = pool->release_threshold;
      return cudaSuccess;
    default:
      return with_context([&](const cuda::DriverApi& api) {
        *static_cast<std::uint64_t*>(value) = used_bytes(api);
        return cuda::Result::success;
      });
  }
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes_to_keep) {
  if (pool == nullptr) return finish(cudaErrorInvalidValue);
  return with_context([&](const cuda::DriverApi& api) {
    const cuda::Result result = ready(api, pool);
    return result == cuda::Result::success ? api.cuMemPoolTrimTo(pool->driver, bytes_to_keep)
                                           : result;
  });
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* list, size_t count) {
  if (pool == nullptr || (list == nullptr && count != 0)) return finish(cudaErrorInvalidValue);
  return cudaSuccess;  // the one device has access anyway
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool,
                                 cudaMemLocation* location) {
  if (flags == nullptr || pool == nullptr || location == nullptr) {
    return finish(cudaErrorInvalidValue);
  }
  *flags = cudaMemAccessFlagsProtReadWrite;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  if (pool == nullptr) return finish(cudaErrorInvalidValue);
  if (device != 0) return finish(cudaErrorInvalidDevice);
  *pool = &default_pool;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  if (pool == nullptr) return finish(cudaErrorInvalidValue);
  if (device != 0) return finish(cudaErrorInvalidDevice);
  *pool = current_pool;
  return cudaSuccess;
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  if (pool == nullptr) return finish(cudaErrorInvalidValue);
  if (device != 0) return finish(cudaErrorInvalidDevice);
  current_pool = pool;
  return cudaSuccess;
}

cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  if (pool == nullptr) return finish(cudaErrorInvalidValue);
  return cudaMallocAsync(pointer, bytes, stream);
}

}  // extern "C"
