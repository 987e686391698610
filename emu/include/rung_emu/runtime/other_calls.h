#pragma once
/* Handles for other processes, objects that graphs own, and variants of calls above. Included by
 * cuda_runtime_api.h, whose words it uses. */

enum cudaUserObjectFlags { cudaUserObjectNoDestructorSync = 0x1 };
enum cudaUserObjectRetainFlags { cudaGraphUserObjectMove = 0x1 };
struct cudaMemcpy3DPeerParms {
  cudaArray_t srcArray;
  struct cudaPos srcPos;
  struct cudaPitchedPtr srcPtr;
  int srcDevice;
  cudaArray_t dstArray;
  struct cudaPos dstPos;
  struct cudaPitchedPtr dstPtr;
  int dstDevice;
  struct cudaExtent extent;
};

/* A virtual GPU belongs to one process: cudaErrorNotSupported. */
RUNG_EMU_API cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* pointer);
RUNG_EMU_API cudaError_t cudaIpcOpenMemHandle(void** pointer, cudaIpcMemHandle_t handle,
                                              unsigned int flags);
RUNG_EMU_API cudaError_t cudaIpcCloseMemHandle(void* pointer);
RUNG_EMU_API cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event);
RUNG_EMU_API cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t handle);

RUNG_EMU_API cudaError_t cudaUserObjectCreate(cudaUserObject_t* object, void* pointer,
                                              cudaHostFn_t destroy, unsigned int references,
                                              unsigned int flags);
RUNG_EMU_API cudaError_t cudaUserObjectRelease(cudaUserObject_t object,
                                               unsigned int count RUNG_EMU_DEFAULT(1));
RUNG_EMU_API cudaError_t cudaStreamGetCaptureInfo_v2(
    cudaStream_t stream, enum cudaStreamCaptureStatus* status,
    unsigned long long* id RUNG_EMU_DEFAULT(0), cudaGraph_t* graph RUNG_EMU_DEFAULT(0),
    const cudaGraphNode_t** dependencies RUNG_EMU_DEFAULT(0), size_t* count RUNG_EMU_DEFAULT(0));

RUNG_EMU_API cudaError_t cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms* copy);
RUNG_EMU_API cudaError_t cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms* copy,
                                               cudaStream_t stream RUNG_EMU_DEFAULT(0));
RUNG_EMU_API cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y,
                                                const void* from, size_t bytes,
                                                enum cudaMemcpyKind kind,
                                                cudaStream_t stream RUNG_EMU_DEFAULT(0));
RUNG_EMU_API cudaError_t cudaMemcpyFromArrayAsync(void* to, cudaArray_const_t from, size_t x,
                                                  size_t y, size_t bytes, enum cudaMemcpyKind kind,
                                                  cudaStream_t stream RUNG_EMU_DEFAULT(0));
RUNG_EMU_API cudaError_t cudaMemRangeGetAttributes(void** data, size_t* bytes,
                                                   enum cudaMemRangeAttribute* attributes,
                                                   size_t attribute_count, const void* pointer,
                                                   size_t count);
