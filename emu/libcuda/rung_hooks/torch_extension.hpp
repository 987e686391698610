#pragma once
// Extensions of PyTorch include this file first under `rung python`. Their tensors of the device "cuda" are those of the
// CPU: is_cuda(), kCUDA, DeviceType::CUDA and TORCH_LIBRARY_IMPL(name, CUDA, m) mean the CPU. PyTorch's allocator makes
// all its memory accessible to the virtual GPU, and the names of c10/cuda and ATen/cuda that extensions use are those of
// the CUDA runtime, without PyTorch's libraries for NVIDIA's GPUs.

#ifdef Py_LIMITED_API  // pybind11 needs all of Python's API
#include <torch/all.h>
#include <torch/library.h>
#else
#include <torch/extension.h>
#endif

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstddef>

namespace rung_extension {

/// PyTorch's allocator of the CPU, whose memory the virtual GPU knows with its exact bounds. It is registered as I/O
/// memory, which the host may access at any time: PyTorch's functions on a tensor stand for work in its stream's order.
class Allocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    c10::DataPtr memory = inner()->allocate(bytes);
    void* const data = memory.get();
    // Callers of raw_allocate() free memory by its address alone.
    if (bytes == 0 || inner()->raw_deleter() == nullptr || memory.get_context() != data ||
        cuMemHostRegister(data, bytes, CU_MEMHOSTREGISTER_IOMEMORY) != CUDA_SUCCESS)
      return memory;
    memory.release_context();
    return {data, data, release, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override {
    return inner()->raw_deleter() == nullptr ? nullptr : release;
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    inner()->copy_data(to, from, bytes);
  }

  /// The allocator that was PyTorch's before.
  static c10::Allocator*& inner() {
    static c10::Allocator* allocator = nullptr;
    return allocator;
  }

 private:
  static void release(void* data) {
    cuMemHostUnregister(data);
    inner()->raw_deleter()(data);
  }
};

/// The allocator takes the place of PyTorch's until the process ends: tensors outlive the extension's own variables.
inline const bool has_allocator = [] {
  if (Allocator::inner() != nullptr) return true;      // of another library with the same symbols
  if (cudaFree(nullptr) != cudaSuccess) return false;  // makes the device's context current
  Allocator::inner() = c10::GetAllocator(c10::DeviceType::CPU);
  c10::SetAllocator(c10::DeviceType::CPU, new Allocator, 255);
  return true;
}();

inline void check(cudaError_t result) {
  TORCH_CHECK(result == cudaSuccess, "CUDA error: ", cudaGetErrorString(result));
}

}  // namespace rung_extension

namespace c10::cuda {

/// A stream of the runtime.
class CUDAStream {
 public:
  explicit CUDAStream(cudaStream_t stream = nullptr) : stream_(stream) {}
  operator cudaStream_t() const { return stream_; }
  cudaStream_t stream() const { return stream_; }
  void synchronize() const { rung_extension::check(cudaStreamSynchronize(stream_)); }
  DeviceIndex device_index() const { return 0; }

 private:
  cudaStream_t stream_;
};

inline CUDAStream getCurrentCUDAStream(DeviceIndex = -1) { return CUDAStream(); }
inline CUDAStream getDefaultCUDAStream(DeviceIndex = -1) { return CUDAStream(); }
inline CUDAStream getStreamFromPool(bool = false, DeviceIndex = -1) {
  cudaStream_t stream = nullptr;
  rung_extension::check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return CUDAStream(stream);
}
inline DeviceIndex device_count() { return 1; }
inline DeviceIndex current_device() { return 0; }
inline void device_synchronize() { rung_extension::check(cudaDeviceSynchronize()); }

/// There is one device, so nothing is to be restored.
struct CUDAGuard {
  explicit CUDAGuard(DeviceIndex) {}
  explicit CUDAGuard(Device) {}
};
struct OptionalCUDAGuard {
  OptionalCUDAGuard() = default;
  explicit OptionalCUDAGuard(DeviceIndex) {}
  explicit OptionalCUDAGuard(std::optional<Device>) {}
};

}  // namespace c10::cuda

namespace at::cuda {

using c10::cuda::CUDAGuard;
using c10::cuda::CUDAStream;
using c10::cuda::current_device;
using c10::cuda::device_count;
using c10::cuda::getCurrentCUDAStream;
using c10::cuda::getDefaultCUDAStream;
using c10::cuda::getStreamFromPool;
using c10::cuda::OptionalCUDAGuard;

inline cudaDeviceProp* getDeviceProperties(c10::DeviceIndex device) {
  static cudaDeviceProp properties = [&] {
    cudaDeviceProp read;
    rung_extension::check(cudaGetDeviceProperties(&read, device));
    return read;
  }();
  return &properties;
}
inline cudaDeviceProp* getCurrentDeviceProperties() { return getDeviceProperties(0); }
inline int warp_size() { return 32; }

}  // namespace at::cuda

#define C10_CUDA_CHECK(expression) rung_extension::check(expression)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() rung_extension::check(cudaGetLastError())
#define AT_CUDA_CHECK(expression) rung_extension::check(expression)
#define TORCH_CUDA_CHECK(expression) rung_extension::check(expression)

#define is_cuda is_cpu
#define kCUDA kCPU
#define CUDA CPU
#define AutogradCUDA AutogradCPU
