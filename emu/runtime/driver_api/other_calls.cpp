// Peers, other processes, values that streams write and wait for, memory pools.

#include <cstring>

#include "emu/runtime/driver_api/from_runtime.hpp"

using namespace rung::emu;
using namespace rung::emu::driver_api;
namespace cuda = rung::cuda;

namespace {

int attribute(CUdevice_attribute which, CUdevice device) {
  int value = 0;
  cuDeviceGetAttribute(&value, which, device);
  return value;
}

/// Streams run what they are given at once, so that a value either is there or never comes.
template <class T>
CUresult wait_for(CUdeviceptr pointer, T value, unsigned flags) {
  T found{};
  const CUresult result = cuMemcpyDtoH_v2(&found, pointer, sizeof(found));
  if (result != CUDA_SUCCESS) return result;
  bool is_there = false;
  switch (flags & 3) {
    case CU_STREAM_WAIT_VALUE_GEQ:
      is_there = static_cast<std::make_signed_t<T>>(found - value) >= 0;
      break;
    case CU_STREAM_WAIT_VALUE_EQ: is_there = found == value; break;
    case CU_STREAM_WAIT_VALUE_AND: is_there = (found & value) != 0; break;
    default: is_there = static_cast<T>(~(found | value)) != 0;
  }
  return is_there ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

cudaMemPool_t runtime_pool(CUmemoryPool pool) { return reinterpret_cast<cudaMemPool_t>(pool); }
cudaMemPool_t* runtime_pool(CUmemoryPool* pool) { return reinterpret_cast<cudaMemPool_t*>(pool); }

static_assert(sizeof(CUmemPoolProps) == sizeof(cudaMemPoolProps));

}  // namespace

extern "C" {

CUresult cuDeviceGetProperties(CUdevprop* properties, CUdevice device) {
  if (properties == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *properties = {attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, device),
                 {attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, device),
                  attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, device),
                  attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, device)},
                 {attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, device),
                  attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, device),
                  attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, device)},
                 attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, device),
                 attribute(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, device),
                 attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE, device),
                 attribute(CU_DEVICE_ATTRIBUTE_MAX_PITCH, device),
                 attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, device),
                 attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE, device),
                 attribute(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, device)};
  return CUDA_SUCCESS;
}

CUresult cuDeviceCanAccessPeer(int* can_access, CUdevice /*device*/, CUdevice /*peer*/) {
  if (can_access == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *can_access = 0;  // there is one device
  return CUDA_SUCCESS;
}
CUresult cuCtxEnablePeerAccess(CUcontext /*peer*/, unsigned /*flags*/) {
  return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
}
CUresult cuCtxDisablePeerAccess(CUcontext /*peer*/) { return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED; }

CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext /*to_context*/, CUdeviceptr from,
                      CUcontext /*from_context*/, size_t bytes) {
  return cuMemcpyDtoD_v2(to, from, bytes);
}
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext /*to_context*/, CUdeviceptr from,
                           CUcontext /*from_context*/, size_t bytes, CUstream stream) {
  return cuMemcpyDtoDAsync_v2(to, from, bytes, stream);
}

CUresult cuCtxAttach(CUcontext* context, unsigned flags) {
  if (context == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  return cuCtxGetCurrent(context);
}
CUresult cuCtxDetach(CUcontext context) { return cuCtxDestroy_v2(context); }

// Banks have been 4 bytes wide since compute capability 5.
CUresult cuCtxGetSharedMemConfig(CUsharedconfig* config) {
  if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *config = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
  return CUDA_SUCCESS;
}
CUresult cuCtxSetSharedMemConfig(CUsharedconfig /*config*/) { return CUDA_SUCCESS; }
CUresult cuFuncSetSharedMemConfig(CUfunction /*function*/, CUsharedconfig /*config*/) {
  return CUDA_SUCCESS;
}
CUresult cuCtxResetPersistingL2Cache() { return CUDA_SUCCESS; }

CUresult cuIpcGetMemHandle(CUipcMemHandle* /*handle*/, CUdeviceptr /*pointer*/) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuIpcOpenMemHandle_v2(CUdeviceptr* /*pointer*/, CUipcMemHandle /*handle*/,
                               unsigned /*flags*/) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuIpcCloseMemHandle(CUdeviceptr /*pointer*/) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuIpcGetEventHandle(CUipcEventHandle* /*handle*/, CUevent /*event*/) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuIpcOpenEventHandle(CUevent* /*event*/, CUipcEventHandle /*handle*/) {
  return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void* user_data,
                             unsigned flags) {
  return to_result(cudaStreamAddCallback(reinterpret_cast<cudaStream_t>(stream),
                                         reinterpret_cast<cudaStreamCallback_t>(callback),
                                         user_data, flags));
}
CUresult cuStreamGetCtx(CUstream /*stream*/, CUcontext* context) {
  return cuCtxGetCurrent(context);
}
CUresult cuStreamAttachMemAsync(CUstream /*stream*/, CUdeviceptr /*pointer*/, size_t /*bytes*/,
                                unsigned /*flags*/) {
  return CUDA_SUCCESS;  // all memory is accessible everywhere
}
CUresult cuStreamWaitValue32_v2(CUstream /*stream*/, CUdeviceptr pointer, cuuint32_t value,
                                unsigned flags) {
  return wait_for(pointer, value, flags);
}
CUresult cuStreamWaitValue64_v2(CUstream /*stream*/, CUdeviceptr pointer, cuuint64_t value,
                                unsigned flags) {
  return wait_for(pointer, value, flags);
}
CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr pointer, cuuint32_t value,
                                 unsigned /*flags*/) {
  return cuMemsetD32Async(pointer, value, 1, stream);
}
CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr pointer, cuuint64_t value,
                                 unsigned /*flags*/) {
  return cuMemcpyHtoDAsync_v2(pointer, &value, sizeof(value), stream);
}
CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned /*flags*/) {
  return cuEventRecord(event, stream);
}

CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes, void** values,
                                CUdeviceptr pointer) {
  if (attributes == nullptr || values == nullptr) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < count; ++i) {
    const CUresult result = cuPointerGetAttribute(values[i], attributes[i], pointer);
    // Attributes that a foreign pointer lacks are 0 (CUDA Driver API, cuPointerGetAttributes).
    if (result == CUDA_ERROR_INVALID_VALUE && values[i] != nullptr) {
      const bool is_wide = attributes[i] == CU_POINTER_ATTRIBUTE_CONTEXT ||
                           attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_POINTER ||
                           attributes[i] == CU_POINTER_ATTRIBUTE_HOST_POINTER;
      std::memset(values[i], 0, is_wide ? sizeof(void*) : sizeof(int));
    } else if (result != CUDA_SUCCESS) {
      return result;
    }
  }
  return CUDA_SUCCESS;
}

CUresult cuMemsetD2D16_v2(CUdeviceptr to, size_t pitch, unsigned short value, size_t width,
                          size_t height) {
  CUresult result = CUDA_SUCCESS;
  for (std::size_t y = 0; y < height && result == CUDA_SUCCESS; ++y) {
    result = cuMemsetD16_v2(to + y * pitch, value, width);
  }
  return result;
}
CUresult cuMemsetD2D32_v2(CUdeviceptr to, size_t pitch, unsigned value, size_t width,
                          size_t height) {
  CUresult result = CUDA_SUCCESS;
  for (std::size_t y = 0; y < height && result == CUDA_SUCCESS; ++y) {
    result = cuMemsetD32_v2(to + y * pitch, value, width);
  }
  return result;
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* least_grid_size, int* block_size,
                                                   CUfunction function,
                                                   CUoccupancyB2DSize shared_bytes_of_block,
                                                   size_t dynamic_shared_bytes,
                                                   int block_size_limit, unsigned /*flags*/) {
  return cuOccupancyMaxPotentialBlockSize(least_grid_size, block_size, function,
                                          shared_bytes_of_block, dynamic_shared_bytes,
                                          block_size_limit);
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  return to_result(cudaDeviceGetDefaultMemPool(runtime_pool(pool), device));
}
CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  return to_result(cudaDeviceGetMemPool(runtime_pool(pool), device));
}
CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  return to_result(cudaDeviceSetMemPool(device, runtime_pool(pool)));
}
CUresult rung_emu_cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  return to_result(
      cudaMemPoolCreate(runtime_pool(pool), reinterpret_cast<const cudaMemPoolProps*>(properties)));
}
CUresult rung_emu_cuMemPoolDestroy(CUmemoryPool pool) {
  return to_result(cudaMemPoolDestroy(runtime_pool(pool)));
}
CUresult rung_emu_cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute,
                                        void* value) {
  return to_result(
      cudaMemPoolSetAttribute(runtime_pool(pool), static_cast<cudaMemPoolAttr>(attribute), value));
}
CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return to_result(
      cudaMemPoolGetAttribute(runtime_pool(pool), static_cast<cudaMemPoolAttr>(attribute), value));
}
CUresult rung_emu_cuMemPoolTrimTo(CUmemoryPool pool, size_t bytes_to_keep) {
  return to_result(cudaMemPoolTrimTo(runtime_pool(pool), bytes_to_keep));
}
CUresult rung_emu_cuMemAllocFromPoolAsync(CUdeviceptr* pointer, size_t bytes, CUmemoryPool pool,
                                          CUstream stream) {
  return to_result(cudaMallocFromPoolAsync(reinterpret_cast<void**>(pointer), bytes,
                                           runtime_pool(pool),
                                           reinterpret_cast<cudaStream_t>(stream)));
}

}  // extern "C"
