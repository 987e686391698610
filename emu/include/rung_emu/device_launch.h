#pragma once
// Launches in device code (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism"). clang has no
// syntax for them: rung-nvcc writes kernel<<<grid, block>>>(arguments) in a function of the device
// as a call of a DeviceLaunch.

#define cudaStreamTailLaunch ((cudaStream_t)0x3)
#define cudaStreamFireAndForget ((cudaStream_t)0x4)

#define RUNG_EMU_WITHOUT_PARENTHESES(...) __VA_ARGS__
#define RUNG_EMU_DEVICE_LAUNCH(kernel) \
  ::rung_emu::DeviceLaunch<            \
      decltype(::rung_emu::Kernel<decltype(&RUNG_EMU_WITHOUT_PARENTHESES kernel), kernel>{})>
// A function of rung-nvcc's beside the kernel, by which the compiler chooses among several.
#define RUNG_EMU_CALL_IN_DEVICE(function, shape, ...) \
  RUNG_EMU_WITHOUT_PARENTHESES function(::rung_emu::LaunchShape shape __VA_OPT__(, ) __VA_ARGS__)
#ifdef __CUDA_ARCH__
#define RUNG_EMU_LAUNCH_IN_BOTH(kernel, ...) RUNG_EMU_DEVICE_LAUNCH(kernel)(__VA_ARGS__)
#define RUNG_EMU_CALL_IN_BOTH(kernel, function, shape, ...) \
  RUNG_EMU_CALL_IN_DEVICE(function, shape __VA_OPT__(, ) __VA_ARGS__)
#else
#define RUNG_EMU_LAUNCH_IN_BOTH(kernel, ...) RUNG_EMU_WITHOUT_PARENTHESES kernel<<<__VA_ARGS__>>>
#define RUNG_EMU_CALL_IN_BOTH(kernel, function, shape, ...) \
  RUNG_EMU_WITHOUT_PARENTHESES kernel<<<RUNG_EMU_WITHOUT_PARENTHESES shape>>>(__VA_ARGS__)
#endif

extern "C" {
__device__ void* cudaGetParameterBufferV2(void* kernel, dim3 grid, dim3 block,
                                          unsigned shared_bytes);
__device__ cudaError_t cudaLaunchDeviceV2(void* parameters, cudaStream_t stream);
}

namespace rung_emu {

/// A kernel as a type: device code may name one only where nothing is evaluated.
template <class Pointer, Pointer callee>
struct Kernel {
  static __device__ void* const address;
};
template <class Pointer, Pointer callee>
__device__ void* const Kernel<Pointer, callee>::address = reinterpret_cast<void*>(callee);

/// Larger sizes become the largest number of 32 bits, which every launch refuses.
static __device__ inline unsigned in_32_bits(size_t bytes) {
  return bytes > 0xFFFFFFFFu ? 0xFFFFFFFFu : static_cast<unsigned>(bytes);
}

/// Copies arguments to where a parameter buffer has them, each aligned to its type.
static __device__ inline void write_parameters(char*, size_t) {}
template <class First, class... Rest>
static __device__ inline void write_parameters(char* buffer, size_t end, const First& first,
                                               const Rest&... rest) {
  const size_t at = (end + alignof(First) - 1) / alignof(First) * alignof(First);
  ::new (static_cast<void*>(buffer + at)) First(first);
  write_parameters(buffer, at + sizeof(First), rest...);
}

template <class Callee>
class DeviceLaunch;

template <class... Parameters, void (*callee)(Parameters...)>
class DeviceLaunch<Kernel<void (*)(Parameters...), callee>> {
 public:
  __device__ DeviceLaunch(dim3 grid, dim3 block, size_t shared_bytes = 0,
                          cudaStream_t stream = nullptr)
      : buffer_(cudaGetParameterBufferV2(Kernel<void (*)(Parameters...), callee>::address, grid,
                                         block, in_32_bits(shared_bytes))),
        stream_(stream) {}
  __device__ void operator()(Parameters... parameters) const {
    if (buffer_ == nullptr) return;
    write_parameters(static_cast<char*>(buffer_), 0, parameters...);
    cudaLaunchDeviceV2(buffer_, stream_);
  }

 private:
  void* buffer_;
  cudaStream_t stream_;
};

/// The arguments between <<< and >>>.
class LaunchShape {
 public:
  __device__ LaunchShape(dim3 grid, dim3 block, size_t shared_bytes = 0,
                         cudaStream_t stream = nullptr)
      : grid_(grid), block_(block), shared_bytes_(shared_bytes), stream_(stream) {}
  /// With arguments of the kernel's own types.
  template <class Callee, class... Arguments>
  __device__ void launch(const Arguments&... arguments) const {
    DeviceLaunch<Callee>(grid_, block_, shared_bytes_, stream_)(arguments...);
  }

 private:
  dim3 grid_, block_;
  size_t shared_bytes_;
  cudaStream_t stream_;
};

}  // namespace rung_emu
