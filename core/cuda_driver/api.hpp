#pragma once
// The part of the CUDA driver API that this project uses, as a table of function pointers with the
// names and signatures of the CUDA Driver API reference. The functions are those of the real driver
// (real_driver.hpp) or of the virtual GPU (vgpu/driver/virtual_driver.hpp).

#include "core/cuda_driver/result_codes.hpp"
#include "core/cuda_driver/types.hpp"

/// X(member, exported symbol, signature). Drivers export these symbols since CUDA 12.0.
#define RUNG_CUDA_DRIVER_FUNCTIONS(X)                                                              \
  X(cuInit, "cuInit", Result(unsigned flags))                                                      \
  X(cuDriverGetVersion, "cuDriverGetVersion", Result(int* version))                                \
  X(cuGetErrorName, "cuGetErrorName", Result(Result error, const char** name))                     \
  X(cuGetErrorString, "cuGetErrorString", Result(Result error, const char** text))                 \
  X(cuDeviceGet, "cuDeviceGet", Result(Device* device, int ordinal))                               \
  X(cuDeviceGetCount, "cuDeviceGetCount", Result(int* count))                                      \
  X(cuDeviceGetName, "cuDeviceGetName", Result(char* name, int length, Device device))             \
  X(cuDeviceGetUuid, "cuDeviceGetUuid", Result(Uuid* uuid, Device device))                         \
  X(cuDeviceTotalMem, "cuDeviceTotalMem_v2", Result(std::size_t* bytes, Device device))            \
  X(cuDeviceGetAttribute, "cuDeviceGetAttribute",                                                  \
    Result(int* value, DeviceAttribute attribute, Device device))                                  \
  X(cuDeviceGetPCIBusId, "cuDeviceGetPCIBusId", Result(char* id, int length, Device device))       \
  X(cuDeviceGetByPCIBusId, "cuDeviceGetByPCIBusId", Result(Device* device, const char* id))        \
  X(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", Result(Context* context, Device device)) \
  X(cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", Result(Device device))              \
  X(cuDevicePrimaryCtxReset, "cuDevicePrimaryCtxReset_v2", Result(Device device))                  \
  X(cuDevicePrimaryCtxSetFlags, "cuDevicePrimaryCtxSetFlags_v2",                                   \
    Result(Device device, unsigned flags))                                                         \
  X(cuDevicePrimaryCtxGetState, "cuDevicePrimaryCtxGetState",                                      \
    Result(Device device, unsigned* flags, int* active))                                           \
  X(cuCtxCreate, "cuCtxCreate_v2", Result(Context* context, unsigned flags, Device device))        \
  X(cuCtxDestroy, "cuCtxDestroy_v2", Result(Context context))                                      \
  X(cuCtxSetCurrent, "cuCtxSetCurrent", Result(Context context))                                   \
  X(cuCtxGetCurrent, "cuCtxGetCurrent", Result(Context* context))                                  \
  X(cuCtxPushCurrent, "cuCtxPushCurrent_v2", Result(Context context))                              \
  X(cuCtxPopCurrent, "cuCtxPopCurrent_v2", Result(Context* context))                               \
  X(cuCtxGetDevice, "cuCtxGetDevice", Result(Device* device))                                      \
  X(cuCtxGetFlags, "cuCtxGetFlags", Result(unsigned* flags))                                       \
  X(cuCtxGetApiVersion, "cuCtxGetApiVersion", Result(Context context, unsigned* version))          \
  X(cuCtxGetId, "cuCtxGetId", Result(Context context, unsigned long long* id))                     \
  X(cuCtxSynchronize, "cuCtxSynchronize", Result())                                                \
  X(cuCtxGetLimit, "cuCtxGetLimit", Result(std::size_t* value, Limit limit))                       \
  X(cuCtxSetLimit, "cuCtxSetLimit", Result(Limit limit, std::size_t value))                        \
  X(cuCtxGetCacheConfig, "cuCtxGetCacheConfig", Result(CacheConfig* config))                       \
  X(cuCtxSetCacheConfig, "cuCtxSetCacheConfig", Result(CacheConfig config))                        \
  X(cuCtxGetStreamPriorityRange, "cuCtxGetStreamPriorityRange", Result(int* least, int* greatest)) \
  X(cuModuleLoadData, "cuModuleLoadData", Result(Module* module, const void* image))               \
  X(cuModuleLoadDataEx, "cuModuleLoadDataEx",                                                      \
    Result(Module* module, const void* image, unsigned count, JitOption* options, void** values))  \
  X(cuModuleUnload, "cuModuleUnload", Result(Module module))                                       \
  X(cuModuleGetFunction, "cuModuleGetFunction",                                                    \
    Result(Function* function, Module module, const char* name))                                   \
  X(cuModuleGetGlobal, "cuModuleGetGlobal_v2",                                                     \
    Result(DevicePointer* pointer, std::size_t* bytes, Module module, const char* name))           \
  X(cuFuncGetAttribute, "cuFuncGetAttribute",                                                      \
    Result(int* value, FunctionAttribute attribute, Function function))                            \
  X(cuFuncSetAttribute, "cuFuncSetAttribute",                                                      \
    Result(Function function, FunctionAttribute attribute, int value))                             \
  X(cuFuncSetCacheConfig, "cuFuncSetCacheConfig", Result(Function function, CacheConfig config))   \
  X(cuFuncGetModule, "cuFuncGetModule", Result(Module* module, Function function))                 \
  X(cuMemGetInfo, "cuMemGetInfo_v2", Result(std::size_t* free, std::size_t* total))                \
  X(cuMemAlloc, "cuMemAlloc_v2", Result(DevicePointer* pointer, std::size_t bytes))                \
  X(cuMemAllocPitch, "cuMemAllocPitch_v2",                                                         \
    Result(DevicePointer* pointer, std::size_t* pitch, std::size_t width_bytes,                    \
           std::size_t height, unsigned element_bytes))                                            \
  X(cuMemFree, "cuMemFree_v2", Result(DevicePointer pointer))                                      \
  X(cuMemAllocAsync, "cuMemAllocAsync",                                                            \
    Result(DevicePointer* pointer, std::size_t bytes, Stream stream))                              \
  X(cuMemFreeAsync, "cuMemFreeAsync", Result(DevicePointer pointer, Stream stream))                \
  X(cuMemPoolCreate, "cuMemPoolCreate",                                                            \
    Result(MemoryPool* pool, const MemoryPoolProperties* properties))                              \
  X(cuMemPoolSetAttribute, "cuMemPoolSetAttribute",                                                \
    Result(MemoryPool pool, MemoryPoolAttribute attribute, void* value))                           \
  X(cuMemPoolDestroy, "cuMemPoolDestroy", Result(MemoryPool pool))                                 \
  X(cuMemPoolTrimTo, "cuMemPoolTrimTo", Result(MemoryPool pool, std::size_t bytes_to_keep))        \
  X(cuMemAllocFromPoolAsync, "cuMemAllocFromPoolAsync",                                            \
    Result(DevicePointer* pointer, std::size_t bytes, MemoryPool pool, Stream stream))             \
  X(cuMemAllocManaged, "cuMemAllocManaged",                                                        \
    Result(DevicePointer* pointer, std::size_t bytes, unsigned flags))                             \
  X(cuMemGetAddressRange, "cuMemGetAddressRange_v2",                                               \
    Result(DevicePointer* base, std::size_t* bytes, DevicePointer pointer))                        \
  X(cuMemAllocHost, "cuMemAllocHost_v2", Result(void** pointer, std::size_t bytes))                \
  X(cuMemHostAlloc, "cuMemHostAlloc", Result(void** pointer, std::size_t bytes, unsigned flags))   \
  X(cuMemFreeHost, "cuMemFreeHost", Result(void* pointer))                                         \
  X(cuMemHostGetDevicePointer, "cuMemHostGetDevicePointer_v2",                                     \
    Result(DevicePointer* pointer, void* host, unsigned flags))                                    \
  X(cuMemHostGetFlags, "cuMemHostGetFlags", Result(unsigned* flags, void* host))                   \
  X(cuMemHostRegister, "cuMemHostRegister_v2",                                                     \
    Result(void* pointer, std::size_t bytes, unsigned flags))                                      \
  X(cuMemHostUnregister, "cuMemHostUnregister", Result(void* pointer))                             \
  X(cuMemPrefetchAsync, "cuMemPrefetchAsync",                                                      \
    Result(DevicePointer pointer, std::size_t bytes, Device device, Stream stream))                \
  X(cuMemAdvise, "cuMemAdvise",                                                                    \
    Result(DevicePointer pointer, std::size_t bytes, MemoryAdvice advice, Device device))          \
  X(cuPointerGetAttribute, "cuPointerGetAttribute",                                                \
    Result(void* value, PointerAttribute attribute, DevicePointer pointer))                        \
  X(cuMemcpy, "cuMemcpy", Result(DevicePointer to, DevicePointer from, std::size_t bytes))         \
  X(cuMemcpyAsync, "cuMemcpyAsync",                                                                \
    Result(DevicePointer to, DevicePointer from, std::size_t bytes, Stream stream))                \
  X(cuMemcpyHtoD, "cuMemcpyHtoD_v2",                                                               \
    Result(DevicePointer to, const void* from, std::size_t bytes))                                 \
  X(cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2",                                                     \
    Result(DevicePointer to, const void* from, std::size_t bytes, Stream stream))                  \
  X(cuMemcpyDtoH, "cuMemcpyDtoH_v2", Result(void* to, DevicePointer from, std::size_t bytes))      \
  X(cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2",                                                     \
    Result(void* to, DevicePointer from, std::size_t bytes, Stream stream))                        \
  X(cuMemcpyDtoD, "cuMemcpyDtoD_v2",                                                               \
    Result(DevicePointer to, DevicePointer from, std::size_t bytes))                               \
  X(cuMemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2",                                                     \
    Result(DevicePointer to, DevicePointer from, std::size_t bytes, Stream stream))                \
  X(cuMemcpy2D, "cuMemcpy2D_v2", Result(const Memcpy2D* copy))                                     \
  X(cuMemcpy2DUnaligned, "cuMemcpy2DUnaligned_v2", Result(const Memcpy2D* copy))                   \
  X(cuMemcpy2DAsync, "cuMemcpy2DAsync_v2", Result(const Memcpy2D* copy, Stream stream))            \
  X(cuMemsetD8, "cuMemsetD8_v2", Result(DevicePointer to, unsigned char value, std::size_t count)) \
  X(cuMemsetD16, "cuMemsetD16_v2",                                                                 \
    Result(DevicePointer to, unsigned short value, std::size_t count))                             \
  X(cuMemsetD32, "cuMemsetD32_v2", Result(DevicePointer to, unsigned value, std::size_t count))    \
  X(cuMemsetD8Async, "cuMemsetD8Async",                                                            \
    Result(DevicePointer to, unsigned char value, std::size_t count, Stream stream))               \
  X(cuMemsetD16Async, "cuMemsetD16Async",                                                          \
    Result(DevicePointer to, unsigned short value, std::size_t count, Stream stream))              \
  X(cuMemsetD32Async, "cuMemsetD32Async",                                                          \
    Result(DevicePointer to, unsigned value, std::size_t count, Stream stream))                    \
  X(cuMemsetD2D8, "cuMemsetD2D8_v2",                                                               \
    Result(DevicePointer to, std::size_t pitch, unsigned char value, std::size_t width,            \
           std::size_t height))                                                                    \
  X(cuMemsetD2D8Async, "cuMemsetD2D8Async",                                                        \
    Result(DevicePointer to, std::size_t pitch, unsigned char value, std::size_t width,            \
           std::size_t height, Stream stream))                                                     \
  X(cuStreamCreate, "cuStreamCreate", Result(Stream* stream, unsigned flags))                      \
  X(cuStreamCreateWithPriority, "cuStreamCreateWithPriority",                                      \
    Result(Stream* stream, unsigned flags, int priority))                                          \
  X(cuStreamDestroy, "cuStreamDestroy_v2", Result(Stream stream))                                  \
  X(cuStreamSynchronize, "cuStreamSynchronize", Result(Stream stream))                             \
  X(cuStreamQuery, "cuStreamQuery", Result(Stream stream))                                         \
  X(cuStreamGetFlags, "cuStreamGetFlags", Result(Stream stream, unsigned* flags))                  \
  X(cuStreamGetPriority, "cuStreamGetPriority", Result(Stream stream, int* priority))              \
  X(cuStreamGetId, "cuStreamGetId", Result(Stream stream, unsigned long long* id))                 \
  X(cuStreamWaitEvent, "cuStreamWaitEvent", Result(Stream stream, Event event, unsigned flags))    \
  X(cuStreamBeginCapture, "cuStreamBeginCapture_v2", Result(Stream stream, CaptureMode mode))      \
  X(cuStreamEndCapture, "cuStreamEndCapture", Result(Stream stream, Graph* graph))                 \
  X(cuStreamIsCapturing, "cuStreamIsCapturing", Result(Stream stream, CaptureStatus* status))      \
  X(cuStreamGetCaptureInfo, "cuStreamGetCaptureInfo_v2",                                           \
    Result(Stream stream, CaptureStatus* status, std::uint64_t* id, Graph* graph,                  \
           const GraphNode** dependencies, std::size_t* count))                                    \
  X(cuThreadExchangeStreamCaptureMode, "cuThreadExchangeStreamCaptureMode",                        \
    Result(CaptureMode* mode))                                                                     \
  X(cuEventCreate, "cuEventCreate", Result(Event* event, unsigned flags))                          \
  X(cuEventRecord, "cuEventRecord", Result(Event event, Stream stream))                            \
  X(cuEventQuery, "cuEventQuery", Result(Event event))                                             \
  X(cuEventSynchronize, "cuEventSynchronize", Result(Event event))                                 \
  X(cuEventElapsedTime, "cuEventElapsedTime", Result(float* milliseconds, Event begin, Event end)) \
  X(cuEventDestroy, "cuEventDestroy_v2", Result(Event event))                                      \
  X(cuLaunchKernel, "cuLaunchKernel",                                                              \
    Result(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, \
           unsigned block_y, unsigned block_z, unsigned dynamic_shared_bytes, Stream stream,       \
           void** parameters, void** extra))                                                       \
  X(cuLaunchKernelEx, "cuLaunchKernelEx",                                                          \
    Result(const LaunchConfig* config, Function function, void** parameters, void** extra))        \
  X(cuLaunchCooperativeKernel, "cuLaunchCooperativeKernel",                                        \
    Result(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, \
           unsigned block_y, unsigned block_z, unsigned dynamic_shared_bytes, Stream stream,       \
           void** parameters))                                                                     \
  X(cuLaunchHostFunc, "cuLaunchHostFunc",                                                          \
    Result(Stream stream, HostFunction function, void* user_data))                                 \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor, "cuOccupancyMaxActiveBlocksPerMultiprocessor",    \
    Result(int* blocks, Function function, int block_size, std::size_t dynamic_shared_bytes))      \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,                                          \
    "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",                                        \
    Result(int* blocks, Function function, int block_size, std::size_t dynamic_shared_bytes,       \
           unsigned flags))                                                                        \
  X(cuOccupancyMaxPotentialBlockSize, "cuOccupancyMaxPotentialBlockSize",                          \
    Result(int* least_grid_size, int* block_size, Function function,                               \
           SharedBytesOfBlock shared_bytes_of_block, std::size_t dynamic_shared_bytes,             \
           int block_size_limit))                                                                  \
  X(cuTensorMapEncodeTiled, "cuTensorMapEncodeTiled",                                              \
    Result(TensorMap* map, TensorMapDataType type, unsigned rank, void* address,                   \
           const std::uint64_t* sizes, const std::uint64_t* strides, const std::uint32_t* box,     \
           const std::uint32_t* steps, TensorMapInterleave interleave, TensorMapSwizzle swizzle,   \
           TensorMapL2Promotion promotion, TensorMapFill fill))                                    \
  X(cuGraphInstantiate, "cuGraphInstantiateWithFlags",                                             \
    Result(GraphExec* exec, Graph graph, unsigned long long flags))                                \
  X(cuGraphLaunch, "cuGraphLaunch", Result(GraphExec exec, Stream stream))                         \
  X(cuGraphExecDestroy, "cuGraphExecDestroy", Result(GraphExec exec))                              \
  X(cuGraphDestroy, "cuGraphDestroy", Result(Graph graph))                                         \
  X(cuUserObjectCreate, "cuUserObjectCreate",                                                      \
    Result(UserObject* object, void* pointer, HostFunction destroy, unsigned references,           \
           unsigned flags))                                                                        \
  X(cuUserObjectRelease, "cuUserObjectRelease", Result(UserObject object, unsigned count))         \
  X(cuGraphRetainUserObject, "cuGraphRetainUserObject",                                            \
    Result(Graph graph, UserObject object, unsigned count, unsigned flags))

namespace rung::cuda {

template <class Signature>
using FunctionPointer = Signature*;

/// The table of functions. Every call returns a Result and sets its outputs only on success.
struct DriverApi {
#define RUNG_CUDA_DRIVER_MEMBER(member, symbol, ...) FunctionPointer<__VA_ARGS__> member = nullptr;
  RUNG_CUDA_DRIVER_FUNCTIONS(RUNG_CUDA_DRIVER_MEMBER)
#undef RUNG_CUDA_DRIVER_MEMBER
};

}  // namespace rung::cuda
