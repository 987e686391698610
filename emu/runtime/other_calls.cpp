// Handles for other processes, which a virtual GPU does not have; user objects; variants of copies.

#include "cuda_runtime_api.h"
#include "emu/runtime/runtime.hpp"

using namespace rung::emu;
namespace cuda = rung::cuda;

namespace {

cudaMemcpy3DParms without_devices(const cudaMemcpy3DPeerParms& copy) {
  return {copy.srcArray, copy.srcPos, copy.srcPtr, copy.dstArray,
          copy.dstPos,   copy.dstPtr, copy.extent, cudaMemcpyDefault};
}

}  // namespace

extern "C" {

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* /*handle*/, void* /*pointer*/) {
  return finish(cudaErrorNotSupported);
}
cudaError_t cudaIpcOpenMemHandle(void** /*pointer*/, cudaIpcMemHandle_t /*handle*/,
                                 unsigned int /*flags*/) {
  return finish(cudaErrorNotSupported);
}
cudaError_t cudaIpcCloseMemHandle(void* /*pointer*/) { return finish(cudaErrorNotSupported); }
cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* /*handle*/, cudaEvent_t /*event*/) {
  return finish(cudaErrorNotSupported);
}
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* /*event*/, cudaIpcEventHandle_t /*handle*/) {
  return finish(cudaErrorNotSupported);
}

cudaError_t cudaUserObjectCreate(cudaUserObject_t* object, void* pointer, cudaHostFn_t destroy,
                                 unsigned int references, unsigned int flags) {
  return with_context([&](const cuda::DriverApi& api) {
    return api.cuUserObjectCreate(reinterpret_cast<cuda::UserObject*>(object), pointer, destroy,
                                  references, flags);
  });
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned int count) {
  return with_context([&](const cuda::DriverApi& api) {
    return api.cuUserObjectRelease(reinterpret_cast<cuda::UserObject>(object), count);
  });
}

cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                        unsigned long long* id, cudaGraph_t* graph,
                                        const cudaGraphNode_t** dependencies, size_t* count) {
  if (status == nullptr) return finish(cudaErrorInvalidValue);
  if (dependencies != nullptr || count != nullptr) return finish(cudaErrorNotSupported);
  return with_context([&](const cuda::DriverApi& api) {
    auto found = cuda::CaptureStatus::none;
    cuda::Graph of = nullptr;
    std::uint64_t number = 0;
    const cuda::Result result =
        api.cuStreamGetCaptureInfo(to_driver(stream), &found, &number, &of, nullptr, nullptr);
    if (result != cuda::Result::success) return result;
    *status = static_cast<cudaStreamCaptureStatus>(found);
    if (id != nullptr) *id = number;
    if (graph != nullptr) *graph = reinterpret_cast<cudaGraph_t>(of);
    return result;
  });
}

cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* copy) {
  if (copy == nullptr) return finish(cudaErrorInvalidValue);
  const cudaMemcpy3DParms one = without_devices(*copy);
  return cudaMemcpy3D(&one);
}

cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* copy, cudaStream_t stream) {
  if (copy == nullptr) return finish(cudaErrorInvalidValue);
  const cudaMemcpy3DParms one = without_devices(*copy);
  return cudaMemcpy3DAsync(&one, stream);
}

// Work runs when it is put into a stream, in order.
cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from,
                                   size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  if (const cudaError_t error = cudaStreamSynchronize(stream)) return error;
  return cudaMemcpyToArray(to, x, y, from, bytes, kind);
}

cudaError_t cudaMemcpyFromArrayAsync(void* to, cudaArray_const_t from, size_t x, size_t y,
                                     size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  if (const cudaError_t error = cudaStreamSynchronize(stream)) return error;
  return cudaMemcpyFromArray(to, from, x, y, bytes, kind);
}

cudaError_t cudaMemRangeGetAttributes(void** data, size_t* bytes, cudaMemRangeAttribute* attributes,
                                      size_t attribute_count, const void* pointer, size_t count) {
  if (data == nullptr || bytes == nullptr || attributes == nullptr) {
    return finish(cudaErrorInvalidValue);
  }
  for (size_t i = 0; i < attribute_count; ++i) {
    const cudaError_t error =
        cudaMemRangeGetAttribute(data[i], bytes[i], attributes[i], pointer, count);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

}  // extern "C"
