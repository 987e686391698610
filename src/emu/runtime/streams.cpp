// Streams, events and graphs: the driver's, under the runtime's names.

#include "cuda_runtime_api.h"
#include "emu/runtime/runtime.hpp"

using namespace rung::emu;
namespace cuda = rung::cuda;
using cuda::DriverApi;

namespace {

cuda::Stream* out(cudaStream_t* stream) { return reinterpret_cast<cuda::Stream*>(stream); }
cuda::Event* out(cudaEvent_t* event) { return reinterpret_cast<cuda::Event*>(event); }
cuda::Graph* out(cudaGraph_t* graph) { return reinterpret_cast<cuda::Graph*>(graph); }
cuda::GraphExec* out(cudaGraphExec_t* graph) { return reinterpret_cast<cuda::GraphExec*>(graph); }

}  // namespace

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return with_context(
      [&](const DriverApi& api) { return api.cuStreamCreate(out(stream), cudaStreamDefault); });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  return with_context([&](const DriverApi& api) { return api.cuStreamCreate(out(stream), flags); });
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority) {
  return with_context([&](const DriverApi& api) {
    return api.cuStreamCreateWithPriority(out(stream), flags, priority);
  });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return with_context([&](const DriverApi& api) { return api.cuStreamDestroy(to_driver(stream)); });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return with_context(
      [&](const DriverApi& api) { return api.cuStreamSynchronize(to_driver(stream)); });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return with_context([&](const DriverApi& api) { return api.cuStreamQuery(to_driver(stream)); });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  return with_context([&](const DriverApi& api) {
    return api.cuStreamWaitEvent(to_driver(stream), to_driver(event), flags);
  });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  return with_context([&](const DriverApi& api) { return api.cuEventCreate(out(event), flags); });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return with_context(
      [&](const DriverApi& api) { return api.cuEventRecord(to_driver(event), to_driver(stream)); });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return with_context([&](const DriverApi& api) { return api.cuEventQuery(to_driver(event)); });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return with_context(
      [&](const DriverApi& api) { return api.cuEventSynchronize(to_driver(event)); });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return with_context([&](const DriverApi& api) { return api.cuEventDestroy(to_driver(event)); });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return with_context([&](const DriverApi& api) {
    return api.cuEventElapsedTime(milliseconds, to_driver(start), to_driver(end));
  });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* user_data) {
  return with_context([&](const DriverApi& api) {
    return api.cuLaunchHostFunc(to_driver(stream), function, user_data);
  });
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return with_context([&](const DriverApi& api) {
    return api.cuStreamBeginCapture(to_driver(stream), static_cast<cuda::CaptureMode>(mode));
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return with_context(
      [&](const DriverApi& api) { return api.cuStreamEndCapture(to_driver(stream), out(graph)); });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                 unsigned long long flags) {
  return with_context([&](const DriverApi& api) {
    return api.cuGraphInstantiate(out(executable), to_driver(graph), flags);
  });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  return with_context([&](const DriverApi& api) {
    return api.cuGraphLaunch(to_driver(executable), to_driver(stream));
  });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  return with_context(
      [&](const DriverApi& api) { return api.cuGraphExecDestroy(to_driver(executable)); });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return with_context([&](const DriverApi& api) { return api.cuGraphDestroy(to_driver(graph)); });
}

}  // extern "C"
