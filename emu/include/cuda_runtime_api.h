#pragma once
/* The calls of the CUDA Runtime API that `rung emu` has. One that is missing here is missing by its
 * name, from the compiler or from the linker. */

/* As in the header of the vendor: programs ask for it. */
#define __CUDA_RUNTIME_API_H__

#include "driver_types.h"
#include "library_types.h"
#include "rung_emu/version.h"
#include "surface_types.h"
#include "texture_types.h"

#define CUDART_VERSION RUNG_EMU_CUDA_VERSION

#ifdef __cplusplus
#define RUNG_EMU_DEFAULT(value) = value
extern "C" {
#else
#define RUNG_EMU_DEFAULT(value)
#endif
#define RUNG_EMU_API __attribute__((visibility("default")))

/* Errors. */
RUNG_EMU_API cudaError_t cudaGetLastError(void);
RUNG_EMU_API cudaError_t cudaPeekAtLastError(void);
RUNG_EMU_API const char* cudaGetErrorName(cudaError_t error);
RUNG_EMU_API const char* cudaGetErrorString(cudaError_t error);

/* Versions and devices. There is one device, number 0. */
RUNG_EMU_API cudaError_t cudaDriverGetVersion(int* version);
RUNG_EMU_API cudaError_t cudaRuntimeGetVersion(int* version);
RUNG_EMU_API cudaError_t cudaGetDeviceCount(int* count);
RUNG_EMU_API cudaError_t cudaGetDevice(int* device);
RUNG_EMU_API cudaError_t cudaSetDevice(int device);
RUNG_EMU_API cudaError_t cudaInitDevice(int device, unsigned int device_flags, unsigned int flags);
RUNG_EMU_API cudaError_t cudaSetDeviceFlags(unsigned int flags);
RUNG_EMU_API cudaError_t cudaGetDeviceFlags(unsigned int* flags);
RUNG_EMU_API cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp* properties, int device);
RUNG_EMU_API cudaError_t cudaDeviceGetAttribute(int* value, enum cudaDeviceAttr attribute,
                                                int device);
RUNG_EMU_API cudaError_t cudaChooseDevice(int* device, const struct cudaDeviceProp* properties);
RUNG_EMU_API cudaError_t cudaDeviceGetPCIBusId(char* text, int bytes, int device);
RUNG_EMU_API cudaError_t cudaDeviceCanAccessPeer(int* can_access, int device, int peer);
RUNG_EMU_API cudaError_t cudaDeviceSynchronize(void);
RUNG_EMU_API cudaError_t cudaDeviceReset(void);
RUNG_EMU_API cudaError_t cudaDeviceGetLimit(size_t* value, enum cudaLimit limit);
RUNG_EMU_API cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value);
RUNG_EMU_API cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache* config);
RUNG_EMU_API cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config);
RUNG_EMU_API cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig* config);
RUNG_EMU_API cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config);
RUNG_EMU_API cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest);

RUNG_EMU_API cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text);
RUNG_EMU_API cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags);
RUNG_EMU_API cudaError_t cudaDeviceDisablePeerAccess(int peer);
RUNG_EMU_API cudaError_t cudaDeviceGetP2PAttribute(int* value, enum cudaDeviceP2PAttr attribute,
                                                   int device, int peer);
RUNG_EMU_API cudaError_t cudaSetValidDevices(int* devices, int count);
RUNG_EMU_API cudaError_t cudaCtxResetPersistingL2Cache(void);
/* Deprecated names of calls about the device. */
RUNG_EMU_API cudaError_t cudaThreadSynchronize(void);
RUNG_EMU_API cudaError_t cudaThreadExit(void);
RUNG_EMU_API cudaError_t cudaThreadGetLimit(size_t* value, enum cudaLimit limit);
RUNG_EMU_API cudaError_t cudaThreadSetLimit(enum cudaLimit limit, size_t value);
RUNG_EMU_API cudaError_t cudaThreadGetCacheConfig(enum cudaFuncCache* config);
RUNG_EMU_API cudaError_t cudaThreadSetCacheConfig(enum cudaFuncCache config);

/* Memory. */
RUNG_EMU_API cudaError_t cudaMalloc(void** pointer, size_t bytes);
RUNG_EMU_API cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width,
                                         size_t height);
RUNG_EMU_API cudaError_t cudaMallocManaged(
    void** pointer, size_t bytes, unsigned int flags RUNG_EMU_DEFAULT(cudaMemAttachGlobal));
RUNG_EMU_API cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream);
RUNG_EMU_API cudaError_t cudaMallocHost(void** pointer, size_t bytes);
RUNG_EMU_API cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned int flags);
RUNG_EMU_API cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned int flags);
RUNG_EMU_API cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned int flags);
RUNG_EMU_API cudaError_t cudaHostUnregister(void* pointer);
RUNG_EMU_API cudaError_t cudaFree(void* pointer);
RUNG_EMU_API cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream);
RUNG_EMU_API cudaError_t cudaFreeHost(void* pointer);
RUNG_EMU_API cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes);
RUNG_EMU_API cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes* attributes,
                                                  const void* pointer);
RUNG_EMU_API cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, int device,
                                              cudaStream_t stream RUNG_EMU_DEFAULT(0));
RUNG_EMU_API cudaError_t cudaMemAdvise(const void* pointer, size_t bytes,
                                       enum cudaMemoryAdvise advice, int device);

RUNG_EMU_API cudaError_t cudaHostGetFlags(unsigned int* flags, void* pointer);
RUNG_EMU_API cudaError_t cudaMemRangeGetAttribute(void* data, size_t bytes,
                                                  enum cudaMemRangeAttribute attribute,
                                                  const void* pointer, size_t count);

/* Memory pools; each device has a default one. */
RUNG_EMU_API cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool,
                                           const struct cudaMemPoolProps* properties);
RUNG_EMU_API cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool);
RUNG_EMU_API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute,
                                                 void* value);
RUNG_EMU_API cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute,
                                                 void* value);
RUNG_EMU_API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes_to_keep);
RUNG_EMU_API cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool,
                                              const struct cudaMemAccessDesc* list, size_t count);
RUNG_EMU_API cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags* flags, cudaMemPool_t pool,
                                              struct cudaMemLocation* location);
RUNG_EMU_API cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device);
RUNG_EMU_API cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device);
RUNG_EMU_API cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool);
RUNG_EMU_API cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t bytes, cudaMemPool_t pool,
                                                 cudaStream_t stream);

/* Pitched memory and arrays. */
RUNG_EMU_API cudaError_t cudaMalloc3D(struct cudaPitchedPtr* pointer, struct cudaExtent extent);
RUNG_EMU_API cudaError_t cudaMallocArray(cudaArray_t* array,
                                         const struct cudaChannelFormatDesc* format, size_t width,
                                         size_t height RUNG_EMU_DEFAULT(0),
                                         unsigned int flags RUNG_EMU_DEFAULT(0));
RUNG_EMU_API cudaError_t cudaMalloc3DArray(cudaArray_t* array,
                                           const struct cudaChannelFormatDesc* format,
                                           struct cudaExtent extent,
                                           unsigned int flags RUNG_EMU_DEFAULT(0));
RUNG_EMU_API cudaError_t cudaFreeArray(cudaArray_t array);
RUNG_EMU_API cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc* format,
                                          struct cudaExtent* extent, unsigned int* flags,
                                          cudaArray_t array);
RUNG_EMU_API cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* array,
                                                  const struct cudaChannelFormatDesc* format,
                                                  struct cudaExtent extent, unsigned int levels,
                                                  unsigned int flags RUNG_EMU_DEFAULT(0));
RUNG_EMU_API cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t* level,
                                                    cudaMipmappedArray_const_t array,
                                                    unsigned int number);
RUNG_EMU_API cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array);
RUNG_EMU_API cudaError_t cudaMemset3D(struct cudaPitchedPtr pointer, int value,
                                      struct cudaExtent extent);
RUNG_EMU_API cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr pointer, int value,
                                           struct cudaExtent extent,
                                           cudaStream_t stream RUNG_EMU_DEFAULT(0));
RUNG_EMU_API cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms* copy);
RUNG_EMU_API cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms* copy,
                                           cudaStream_t stream RUNG_EMU_DEFAULT(0));
RUNG_EMU_API cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void* from,
                                           size_t bytes, enum cudaMemcpyKind kind);
RUNG_EMU_API cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, size_t x, size_t y,
                                             size_t bytes, enum cudaMemcpyKind kind);
RUNG_EMU_API cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void* from,
                                             size_t pitch, size_t width, size_t height,
                                             enum cudaMemcpyKind kind);
RUNG_EMU_API cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y,
                                                  const void* from, size_t pitch, size_t width,
                                                  size_t height, enum cudaMemcpyKind kind,
                                                  cudaStream_t stream RUNG_EMU_DEFAULT(0));
RUNG_EMU_API cudaError_t cudaMemcpy2DFromArray(void* to, size_t pitch, cudaArray_const_t from,
                                               size_t x, size_t y, size_t width, size_t height,
                                               enum cudaMemcpyKind kind);
RUNG_EMU_API cudaError_t cudaMemcpy2DFromArrayAsync(void* to, size_t pitch, cudaArray_const_t from,
                                                    size_t x, size_t y, size_t width, size_t height,
                                                    enum cudaMemcpyKind kind,
                                                    cudaStream_t stream RUNG_EMU_DEFAULT(0));
RUNG_EMU_API cudaError_t
cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from,
                         size_t from_x, size_t from_y, size_t width, size_t height,
                         enum cudaMemcpyKind kind RUNG_EMU_DEFAULT(cudaMemcpyDeviceToDevice));
RUNG_EMU_API cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture,
                                                 const struct cudaResourceDesc* resource,
                                                 const struct cudaTextureDesc* description,
                                                 const struct cudaResourceViewDesc* view);
RUNG_EMU_API cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture);
RUNG_EMU_API cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc* resource,
                                                          cudaTextureObject_t texture);
RUNG_EMU_API cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surface,
                                                 const struct cudaResourceDesc* resource);
RUNG_EMU_API cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface);
RUNG_EMU_API cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc* format,
                                            cudaArray_const_t array);
static inline struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                                 enum cudaChannelFormatKind kind) {
  struct cudaChannelFormatDesc made = {x, y, z, w, kind};
  return made;
}

/* Copies. */
RUNG_EMU_API cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes,
                                    enum cudaMemcpyKind kind);
RUNG_EMU_API cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes,
                                         enum cudaMemcpyKind kind,
                                         cudaStream_t stream RUNG_EMU_DEFAULT(0));
RUNG_EMU_API cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from,
                                      size_t from_pitch, size_t width, size_t height,
                                      enum cudaMemcpyKind kind);
RUNG_EMU_API cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from,
                                           size_t from_pitch, size_t width, size_t height,
                                           enum cudaMemcpyKind kind,
                                           cudaStream_t stream RUNG_EMU_DEFAULT(0));
RUNG_EMU_API cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                                        size_t bytes);
RUNG_EMU_API cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from,
                                             int from_device, size_t bytes,
                                             cudaStream_t stream RUNG_EMU_DEFAULT(0));
RUNG_EMU_API cudaError_t cudaMemset(void* to, int value, size_t bytes);
RUNG_EMU_API cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes,
                                         cudaStream_t stream RUNG_EMU_DEFAULT(0));
RUNG_EMU_API cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width,
                                      size_t height);
RUNG_EMU_API cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width,
                                           size_t height, cudaStream_t stream RUNG_EMU_DEFAULT(0));

/* __device__ and __constant__ variables. */
RUNG_EMU_API cudaError_t cudaMemcpyToSymbol(
    const void* symbol, const void* from, size_t bytes, size_t offset RUNG_EMU_DEFAULT(0),
    enum cudaMemcpyKind kind RUNG_EMU_DEFAULT(cudaMemcpyHostToDevice));
RUNG_EMU_API cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes,
                                                 size_t offset, enum cudaMemcpyKind kind,
                                                 cudaStream_t stream RUNG_EMU_DEFAULT(0));
RUNG_EMU_API cudaError_t
cudaMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset RUNG_EMU_DEFAULT(0),
                     enum cudaMemcpyKind kind RUNG_EMU_DEFAULT(cudaMemcpyDeviceToHost));
RUNG_EMU_API cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes,
                                                   size_t offset, enum cudaMemcpyKind kind,
                                                   cudaStream_t stream RUNG_EMU_DEFAULT(0));
RUNG_EMU_API cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol);
RUNG_EMU_API cudaError_t cudaGetSymbolSize(size_t* bytes, const void* symbol);

/* Streams and events. */
RUNG_EMU_API cudaError_t cudaStreamCreate(cudaStream_t* stream);
RUNG_EMU_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags);
RUNG_EMU_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags,
                                                      int priority);
RUNG_EMU_API cudaError_t cudaStreamDestroy(cudaStream_t stream);
RUNG_EMU_API cudaError_t cudaStreamSynchronize(cudaStream_t stream);
RUNG_EMU_API cudaError_t cudaStreamQuery(cudaStream_t stream);
RUNG_EMU_API cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                             unsigned int flags RUNG_EMU_DEFAULT(0));
RUNG_EMU_API cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags);
RUNG_EMU_API cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority);
RUNG_EMU_API cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id);
RUNG_EMU_API cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                               void* user_data, unsigned int flags);
RUNG_EMU_API cudaError_t
cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, size_t bytes RUNG_EMU_DEFAULT(0),
                         unsigned int flags RUNG_EMU_DEFAULT(cudaMemAttachSingle));
RUNG_EMU_API cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID id,
                                                const cudaLaunchAttributeValue* value);
RUNG_EMU_API cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID id,
                                                cudaLaunchAttributeValue* value);
RUNG_EMU_API cudaError_t cudaEventRecordWithFlags(cudaEvent_t event,
                                                  cudaStream_t stream RUNG_EMU_DEFAULT(0),
                                                  unsigned int flags RUNG_EMU_DEFAULT(0));
RUNG_EMU_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags);
#ifndef __cplusplus
RUNG_EMU_API cudaError_t cudaEventCreate(cudaEvent_t* event);
#endif
RUNG_EMU_API cudaError_t cudaEventRecord(cudaEvent_t event,
                                         cudaStream_t stream RUNG_EMU_DEFAULT(0));
RUNG_EMU_API cudaError_t cudaEventQuery(cudaEvent_t event);
RUNG_EMU_API cudaError_t cudaEventSynchronize(cudaEvent_t event);
RUNG_EMU_API cudaError_t cudaEventDestroy(cudaEvent_t event);
RUNG_EMU_API cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start,
                                              cudaEvent_t end);

/* Kernels. */
RUNG_EMU_API cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block,
                                          void** arguments, size_t shared_bytes,
                                          cudaStream_t stream);
RUNG_EMU_API cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block,
                                                     void** arguments, size_t shared_bytes,
                                                     cudaStream_t stream);
RUNG_EMU_API cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes* attributes,
                                               const void* function);
RUNG_EMU_API cudaError_t cudaFuncSetAttribute(const void* function,
                                              enum cudaFuncAttribute attribute, int value);
RUNG_EMU_API cudaError_t cudaFuncSetCacheConfig(const void* function, enum cudaFuncCache config);
RUNG_EMU_API cudaError_t cudaFuncSetSharedMemConfig(const void* function,
                                                    enum cudaSharedMemConfig config);
RUNG_EMU_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks,
                                                                       const void* function,
                                                                       int block_threads,
                                                                       size_t shared_bytes);
RUNG_EMU_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* function, int block_threads, size_t shared_bytes, unsigned int flags);

RUNG_EMU_API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                             void** arguments);
RUNG_EMU_API cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* function,
                                                        const cudaLaunchConfig_t* config);
RUNG_EMU_API cudaError_t cudaOccupancyMaxPotentialClusterSize(int* size, const void* function,
                                                              const cudaLaunchConfig_t* config);
RUNG_EMU_API cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes,
                                                                   const void* function, int blocks,
                                                                   int block_threads);
RUNG_EMU_API cudaError_t cudaFuncGetName(const char** name, const void* function);
RUNG_EMU_API cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, const void* symbol);

/* A function of the host in a stream's order. */
RUNG_EMU_API cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function,
                                            void* user_data);

#include "rung_emu/runtime/graph_calls.h"
#include "rung_emu/runtime/other_calls.h"

#ifdef __cplusplus
}
/* Overloaded by cudaEventCreate(event, flags), so not extern "C". */
inline cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}
inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned int flags) {
  return cudaEventCreateWithFlags(event, flags);
}
#endif
