#pragma once
/* Peers, other processes, values that streams write and wait for, and what few programs ask for. */

#include "rung_emu/driver/device_attributes.h"
#include "rung_emu/driver/errors.h"
#include "rung_emu/driver/handles.h"
#include "rung_emu/driver/launch.h"
#include "rung_emu/driver/options.h"
#include "rung_emu/driver/virtual_memory.h"

typedef void (*CUstreamCallback)(CUstream stream, CUresult status, void* user_data);
typedef enum CUsharedconfig_enum {
  CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE = 0,
  CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE = 1,
  CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE = 2
} CUsharedconfig;
typedef struct CUdevprop_st {
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  int sharedMemPerBlock;
  int totalConstantMemory;
  int SIMDWidth;
  int memPitch;
  int regsPerBlock;
  int clockRate;
  int textureAlign;
} CUdevprop;
typedef struct CUipcMemHandle_st {
  char reserved[64];
} CUipcMemHandle;
typedef struct CUipcEventHandle_st {
  char reserved[64];
} CUipcEventHandle;
#define CU_IPC_HANDLE_SIZE 64
#define CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS 0x1
#define CU_EVENT_INTERPROCESS 0x4
#define CU_STREAM_WAIT_VALUE_GEQ 0x0
#define CU_STREAM_WAIT_VALUE_EQ 0x1
#define CU_STREAM_WAIT_VALUE_AND 0x2
#define CU_STREAM_WAIT_VALUE_NOR 0x3
#define CU_STREAM_WRITE_VALUE_DEFAULT 0x0
typedef struct CUmemPoolProps_st {
  CUmemAllocationType allocType;
  CUmemAllocationHandleType handleTypes;
  CUmemLocation location;
  void* win32SecurityAttributes;
  size_t maxSize;
  unsigned short usage;
  unsigned char reserved[54];
} CUmemPoolProps;
typedef enum CUmemPool_attribute_enum {
  CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES = 1,
  CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC = 2,
  CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES = 3,
  CU_MEMPOOL_ATTR_RELEASE_THRESHOLD = 4,
  CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT = 5,
  CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH = 6,
  CU_MEMPOOL_ATTR_USED_MEM_CURRENT = 7,
  CU_MEMPOOL_ATTR_USED_MEM_HIGH = 8
} CUmemPool_attribute;

#ifdef __cplusplus
extern "C" {
#endif

RUNG_EMU_API CUresult rung_emu_cuDeviceGetAttribute(int* value, CUdevice_attribute attribute,
                                                    CUdevice device);
RUNG_EMU_API CUresult cuDeviceGetProperties(CUdevprop* properties, CUdevice device);
RUNG_EMU_API CUresult cuDeviceCanAccessPeer(int* can_access, CUdevice device, CUdevice peer);
RUNG_EMU_API CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags);
RUNG_EMU_API CUresult cuCtxDisablePeerAccess(CUcontext peer);
RUNG_EMU_API CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                                   CUcontext from_context, size_t bytes);
RUNG_EMU_API CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                                        CUcontext from_context, size_t bytes, CUstream stream);
RUNG_EMU_API CUresult cuCtxAttach(CUcontext* context, unsigned flags);
RUNG_EMU_API CUresult cuCtxDetach(CUcontext context);
RUNG_EMU_API CUresult cuCtxGetSharedMemConfig(CUsharedconfig* config);
RUNG_EMU_API CUresult cuCtxSetSharedMemConfig(CUsharedconfig config);
RUNG_EMU_API CUresult cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig config);
RUNG_EMU_API CUresult cuCtxResetPersistingL2Cache(void);
/* Handles for other processes: CUDA_ERROR_NOT_SUPPORTED. */
RUNG_EMU_API CUresult cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr pointer);
RUNG_EMU_API CUresult cuIpcOpenMemHandle_v2(CUdeviceptr* pointer, CUipcMemHandle handle,
                                            unsigned flags);
RUNG_EMU_API CUresult cuIpcCloseMemHandle(CUdeviceptr pointer);
RUNG_EMU_API CUresult cuIpcGetEventHandle(CUipcEventHandle* handle, CUevent event);
RUNG_EMU_API CUresult cuIpcOpenEventHandle(CUevent* event, CUipcEventHandle handle);

RUNG_EMU_API CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback,
                                          void* user_data, unsigned flags);
RUNG_EMU_API CUresult cuStreamGetCtx(CUstream stream, CUcontext* context);
RUNG_EMU_API CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr pointer, size_t bytes,
                                             unsigned flags);
/* Work runs when it is put into a stream: a wait for a value that is not there yet is refused. */
RUNG_EMU_API CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr pointer, cuuint32_t value,
                                             unsigned flags);
RUNG_EMU_API CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr pointer, cuuint64_t value,
                                             unsigned flags);
RUNG_EMU_API CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr pointer,
                                              cuuint32_t value, unsigned flags);
RUNG_EMU_API CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr pointer,
                                              cuuint64_t value, unsigned flags);
RUNG_EMU_API CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags);

RUNG_EMU_API CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes,
                                             void** values, CUdeviceptr pointer);
RUNG_EMU_API CUresult cuMemsetD2D16_v2(CUdeviceptr to, size_t pitch, unsigned short value,
                                       size_t width, size_t height);
RUNG_EMU_API CUresult cuMemsetD2D32_v2(CUdeviceptr to, size_t pitch, unsigned value, size_t width,
                                       size_t height);
RUNG_EMU_API CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(
    int* least_grid_size, int* block_size, CUfunction function,
    CUoccupancyB2DSize shared_bytes_of_block, size_t dynamic_shared_bytes, int block_size_limit,
    unsigned flags);

RUNG_EMU_API CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device);
RUNG_EMU_API CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device);
RUNG_EMU_API CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool);
RUNG_EMU_API CUresult rung_emu_cuMemPoolCreate(CUmemoryPool* pool,
                                               const CUmemPoolProps* properties);
RUNG_EMU_API CUresult rung_emu_cuMemPoolDestroy(CUmemoryPool pool);
RUNG_EMU_API CUresult rung_emu_cuMemPoolSetAttribute(CUmemoryPool pool,
                                                     CUmemPool_attribute attribute, void* value);
RUNG_EMU_API CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute,
                                            void* value);
RUNG_EMU_API CUresult rung_emu_cuMemPoolTrimTo(CUmemoryPool pool, size_t bytes_to_keep);
RUNG_EMU_API CUresult rung_emu_cuMemAllocFromPoolAsync(CUdeviceptr* pointer, size_t bytes,
                                                       CUmemoryPool pool, CUstream stream);

#ifdef __cplusplus
}
#endif
