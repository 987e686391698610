// Streams, events and stream capture: the driver's, under the runtime's names.

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "cuda_runtime_api.h"
#include "emu/runtime/graphs.hpp"
#include "emu/runtime/runtime.hpp"
#include "vgpu/driver/host_threads.hpp"
#include "vgpu/driver/virtual_driver.hpp"

using namespace rung::emu;
namespace cuda = rung::cuda;
using cuda::DriverApi;

namespace {

cuda::Stream* out(cudaStream_t* stream) { return reinterpret_cast<cuda::Stream*>(stream); }
cuda::Event* out(cudaEvent_t* event) { return reinterpret_cast<cuda::Event*>(event); }
cuda::Graph* out(cudaGraph_t* graph) { return reinterpret_cast<cuda::Graph*>(graph); }

/// Attributes of streams, which choose caches and ways to wait. They change no result; programs read them back.
class StreamAttributes {
 public:
  void set(cudaStream_t stream, cudaLaunchAttributeID id, const cudaLaunchAttributeValue& value) {
    const std::lock_guard lock(mutex_);
    values_[{stream, id}] = value;
  }
  cudaLaunchAttributeValue get(cudaStream_t stream, cudaLaunchAttributeID id) {
    const std::lock_guard lock(mutex_);
    const auto found = values_.find({stream, id});
    return found == values_.end() ? cudaLaunchAttributeValue{} : found->second;
  }
  void forget(cudaStream_t stream) {
    const std::lock_guard lock(mutex_);
    std::erase_if(values_, [&](const auto& each) { return each.first.first == stream; });
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<cudaStream_t, cudaLaunchAttributeID>, cudaLaunchAttributeValue> values_;
};

StreamAttributes& stream_attributes() {
  static StreamAttributes attributes;
  return attributes;
}

}  // namespace

extern "C" {

RUNG_EMU_API void rung_emu_use_per_thread_default_streams(void) {
  rung::vgpu::use_per_thread_default_streams();
}

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
  stream_attributes().forget(stream);
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
  cudaGraph_t captured = nullptr;
  cudaError_t error = with_context([&](const DriverApi& api) {
    return api.cuStreamEndCapture(to_driver(stream), out(&captured));
  });
  if (const cudaError_t added = end_capture_to_graph(stream, captured)) error = added;
  if (graph != nullptr) *graph = captured;
  return error;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  if (status == nullptr) return finish(cudaErrorInvalidValue);
  return with_context([&](const DriverApi& api) {
    cuda::CaptureStatus found{};
    const cuda::Result result = api.cuStreamIsCapturing(to_driver(stream), &found);
    if (result == cuda::Result::success) *status = static_cast<cudaStreamCaptureStatus>(found);
    return result;
  });
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  if (mode == nullptr) return finish(cudaErrorInvalidValue);
  return with_context([&](const DriverApi& api) {
    auto exchanged = static_cast<cuda::CaptureMode>(*mode);
    const cuda::Result result = api.cuThreadExchangeStreamCaptureMode(&exchanged);
    if (result == cuda::Result::success) *mode = static_cast<cudaStreamCaptureMode>(exchanged);
    return result;
  });
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags) {
  return with_context(
      [&](const DriverApi& api) { return api.cuStreamGetFlags(to_driver(stream), flags); });
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return with_context(
      [&](const DriverApi& api) { return api.cuStreamGetPriority(to_driver(stream), priority); });
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return with_context(
      [&](const DriverApi& api) { return api.cuStreamGetId(to_driver(stream), id); });
}

namespace {
struct Callback {
  cudaStreamCallback_t function;
  cudaStream_t stream;
  void* user_data;
};
}  // namespace

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                  void* user_data, unsigned int flags) {
  if (callback == nullptr || flags != 0) return finish(cudaErrorInvalidValue);
  auto* const call = new Callback{callback, stream, user_data};
  return cudaLaunchHostFunc(
      stream,
      [](void* given) {
        const std::unique_ptr<Callback> called(static_cast<Callback*>(given));
        called->function(called->stream, cudaSuccess, called->user_data);
      },
      call);
}

// Where managed memory is matters for its speed alone.
cudaError_t cudaStreamAttachMemAsync(cudaStream_t /*stream*/, void* /*pointer*/, size_t /*bytes*/,
                                     unsigned int /*flags*/) {
  return cudaSuccess;
}

cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID id,
                                   const cudaLaunchAttributeValue* value) {
  if (value == nullptr) return finish(cudaErrorInvalidValue);
  stream_attributes().set(stream, id, *value);
  return cudaSuccess;
}

cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID id,
                                   cudaLaunchAttributeValue* value) {
  if (value == nullptr) return finish(cudaErrorInvalidValue);
  *value = stream_attributes().get(stream, id);
  return cudaSuccess;
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
  if (flags != cudaEventRecordExternal) return cudaEventRecord(event, stream);
  return with_context([&](const DriverApi&) {
    return rung::vgpu::record_external(to_driver(event), to_driver(stream));
  });
}

}  // extern "C"
