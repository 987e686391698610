#pragma once
// Calls of the runtime API that device code makes (CUDA C++ Programming Guide, "Programmatic
// Dependent Launch" and "CUDA Dynamic Parallelism").

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
/// Waits for what the launches ahead have written.
static __device__ __forceinline__ void cudaGridDependencySynchronize() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}
/// Lets the next launch begin.
static __device__ __forceinline__ void cudaTriggerProgrammaticLaunchCompletion() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
#else
static __device__ __forceinline__ void cudaGridDependencySynchronize() {}
static __device__ __forceinline__ void cudaTriggerProgrammaticLaunchCompletion() {}
#endif

/// A condition is four bytes of device memory, whose address is its handle.
static __device__ __forceinline__ void cudaGraphSetConditional(cudaGraphConditionalHandle handle,
                                                               unsigned value) {
  *reinterpret_cast<unsigned*>(handle) = value;
}

static __device__ __forceinline__ cudaError_t cudaGetLastError() { return cudaSuccess; }
static __device__ __forceinline__ cudaError_t cudaPeekAtLastError() { return cudaSuccess; }
static __device__ __forceinline__ const char* cudaGetErrorString(cudaError_t) { return "error"; }
static __device__ __forceinline__ const char* cudaGetErrorName(cudaError_t) { return "error"; }
static __device__ __forceinline__ cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}

// Memory of a kernel's own comes from the heap of device code.
template <class T>
static __device__ __forceinline__ cudaError_t cudaMalloc(T** pointer, size_t bytes) {
  *pointer = static_cast<T*>(malloc(bytes));
  return *pointer != nullptr ? cudaSuccess : cudaErrorMemoryAllocation;
}
static __device__ __forceinline__ cudaError_t cudaFree(void* pointer) {
  free(pointer);
  return cudaSuccess;
}

// A stream of a block orders the launches of that block, and so does the order in which they run.
static __device__ __forceinline__ cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream,
                                                                        unsigned) {
  *stream = nullptr;
  return cudaSuccess;
}
static __device__ __forceinline__ cudaError_t cudaStreamDestroy(cudaStream_t) {
  return cudaSuccess;
}
