#pragma once
/* Virtual memory management: addresses, physical memory, and which of it lies where. */

#include "rung_emu/driver/errors.h"
#include "rung_emu/driver/handles.h"

typedef unsigned long long CUmemGenericAllocationHandle;
typedef enum CUmemAllocationType_enum {
  CU_MEM_ALLOCATION_TYPE_INVALID = 0,
  CU_MEM_ALLOCATION_TYPE_PINNED = 1
} CUmemAllocationType;
typedef enum CUmemLocationType_enum {
  CU_MEM_LOCATION_TYPE_INVALID = 0,
  CU_MEM_LOCATION_TYPE_DEVICE = 1,
  CU_MEM_LOCATION_TYPE_HOST = 2,
  CU_MEM_LOCATION_TYPE_HOST_NUMA = 3,
  CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT = 4
} CUmemLocationType;
typedef enum CUmemAllocationHandleType_enum {
  CU_MEM_HANDLE_TYPE_NONE = 0,
  CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR = 1,
  CU_MEM_HANDLE_TYPE_WIN32 = 2,
  CU_MEM_HANDLE_TYPE_WIN32_KMT = 4,
  CU_MEM_HANDLE_TYPE_FABRIC = 8
} CUmemAllocationHandleType;
typedef enum CUmemAccess_flags_enum {
  CU_MEM_ACCESS_FLAGS_PROT_NONE = 0,
  CU_MEM_ACCESS_FLAGS_PROT_READ = 1,
  CU_MEM_ACCESS_FLAGS_PROT_READWRITE = 3
} CUmemAccess_flags;
typedef enum CUmemAllocationGranularity_flags_enum {
  CU_MEM_ALLOC_GRANULARITY_MINIMUM = 0,
  CU_MEM_ALLOC_GRANULARITY_RECOMMENDED = 1
} CUmemAllocationGranularity_flags;
#define CU_MEM_ALLOCATION_COMP_NONE 0x0
#define CU_MEM_ALLOCATION_COMP_GENERIC 0x1

typedef struct CUmemLocation_st {
  CUmemLocationType type;
  int id;
} CUmemLocation;
typedef struct CUmemAllocationProp_st {
  CUmemAllocationType type;
  CUmemAllocationHandleType requestedHandleTypes;
  CUmemLocation location;
  void* win32HandleMetaData;
  struct {
    unsigned char compressionType;
    unsigned char gpuDirectRDMACapable;
    unsigned short usage;
    unsigned char reserved[4];
  } allocFlags;
} CUmemAllocationProp;
typedef enum CUmulticastGranularity_flags_enum {
  CU_MULTICAST_GRANULARITY_MINIMUM = 0,
  CU_MULTICAST_GRANULARITY_RECOMMENDED = 1
} CUmulticastGranularity_flags;
typedef struct CUmulticastObjectProp_st {
  unsigned int numDevices;
  size_t size;
  unsigned long long handleTypes, flags;
} CUmulticastObjectProp;
typedef struct CUmemAccessDesc_st {
  CUmemLocation location;
  CUmemAccess_flags flags;
} CUmemAccessDesc;

#ifdef __cplusplus
extern "C" {
#endif

/* The granularity is 2 MiB. An access to reserved addresses where nothing is mapped, or that no
 * cuMemSetAccess has allowed, is not reported. Physical memory lies at one address at a time; at a
 * second one cuMemMap gives CUDA_ERROR_NOT_SUPPORTED, as do handles for other processes. */
RUNG_EMU_API CUresult cuMemGetAllocationGranularity(size_t* bytes,
                                                    const CUmemAllocationProp* properties,
                                                    CUmemAllocationGranularity_flags which);
RUNG_EMU_API CUresult cuMemAddressReserve(CUdeviceptr* pointer, size_t bytes, size_t alignment,
                                          CUdeviceptr wanted, unsigned long long flags);
RUNG_EMU_API CUresult cuMemAddressFree(CUdeviceptr pointer, size_t bytes);
RUNG_EMU_API CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t bytes,
                                  const CUmemAllocationProp* properties, unsigned long long flags);
RUNG_EMU_API CUresult cuMemRelease(CUmemGenericAllocationHandle handle);
RUNG_EMU_API CUresult cuMemMap(CUdeviceptr pointer, size_t bytes, size_t offset,
                               CUmemGenericAllocationHandle handle, unsigned long long flags);
RUNG_EMU_API CUresult cuMemUnmap(CUdeviceptr pointer, size_t bytes);
RUNG_EMU_API CUresult cuMemSetAccess(CUdeviceptr pointer, size_t bytes, const CUmemAccessDesc* list,
                                     size_t count);
RUNG_EMU_API CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location,
                                     CUdeviceptr pointer);
RUNG_EMU_API CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle,
                                                  void* pointer);
RUNG_EMU_API CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* properties,
                                                             CUmemGenericAllocationHandle handle);
RUNG_EMU_API CUresult cuMemExportToShareableHandle(void* shareable,
                                                   CUmemGenericAllocationHandle handle,
                                                   CUmemAllocationHandleType type,
                                                   unsigned long long flags);
RUNG_EMU_API CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle,
                                                     void* shareable,
                                                     CUmemAllocationHandleType type);

/* Memory that several devices share through a switch: CUDA_ERROR_NOT_SUPPORTED. */
RUNG_EMU_API CUresult cuMulticastCreate(CUmemGenericAllocationHandle* handle,
                                        const CUmulticastObjectProp* properties);
RUNG_EMU_API CUresult cuMulticastAddDevice(CUmemGenericAllocationHandle handle, CUdevice device);
RUNG_EMU_API CUresult cuMulticastBindMem(CUmemGenericAllocationHandle handle, size_t offset,
                                         CUmemGenericAllocationHandle memory, size_t memory_offset,
                                         size_t bytes, unsigned long long flags);
RUNG_EMU_API CUresult cuMulticastBindAddr(CUmemGenericAllocationHandle handle, size_t offset,
                                          CUdeviceptr pointer, size_t bytes,
                                          unsigned long long flags);
RUNG_EMU_API CUresult cuMulticastUnbind(CUmemGenericAllocationHandle handle, CUdevice device,
                                        size_t offset, size_t bytes);
RUNG_EMU_API CUresult cuMulticastGetGranularity(size_t* bytes,
                                                const CUmulticastObjectProp* properties,
                                                CUmulticastGranularity_flags which);

#ifdef __cplusplus
}
#endif
