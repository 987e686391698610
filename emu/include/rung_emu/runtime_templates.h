#pragma once
// The C++ half of the runtime API: typed pointers, kernels and variables as they are named.

extern "C" {
// Tells where the next allocation of this thread is called from, for reports of what is not freed.
RUNG_EMU_API void rung_emu_locate(const char* file, int line);
}

#ifdef __clang__
// Overloads of an allocating CALL, for a typed pointer and for an untyped one, that know where they
// are called from. enable_if makes clang prefer the second to the call itself, which is reached by
// another name for the same symbol. An argument 0 of the program's cannot become a RungEmuCaller.
struct RungEmuCaller {
  const char* file;
  int line;
  static RungEmuCaller here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};
#define RUNG_EMU_UNPACK(...) __VA_ARGS__
#define RUNG_EMU_LOCATED(CALL, TYPES, PARAMETERS, ...)                                  \
  extern "C" cudaError_t rung_emu_##CALL(void**, RUNG_EMU_UNPACK TYPES) __asm__(#CALL); \
  inline cudaError_t CALL(void** pointer, RUNG_EMU_UNPACK PARAMETERS,                   \
                          RungEmuCaller caller = RungEmuCaller::here())                 \
      __attribute__((enable_if(true, ""))) {                                            \
    rung_emu_locate(caller.file, caller.line);                                          \
    return rung_emu_##CALL(pointer, __VA_ARGS__);                                       \
  }                                                                                     \
  template <class T>                                                                    \
  inline cudaError_t CALL(T** pointer, RUNG_EMU_UNPACK PARAMETERS,                      \
                          RungEmuCaller caller = RungEmuCaller::here()) {               \
    rung_emu_locate(caller.file, caller.line);                                          \
    return rung_emu_##CALL(reinterpret_cast<void**>(pointer), __VA_ARGS__);             \
  }
RUNG_EMU_LOCATED(cudaMalloc, (size_t), (size_t bytes), bytes)
RUNG_EMU_LOCATED(cudaMallocAsync, (size_t, cudaStream_t), (size_t bytes, cudaStream_t stream),
                 bytes, stream)
RUNG_EMU_LOCATED(cudaMallocManaged, (size_t, unsigned int),
                 (size_t bytes, unsigned int flags = cudaMemAttachGlobal), bytes, flags)
RUNG_EMU_LOCATED(cudaMallocPitch, (size_t*, size_t, size_t),
                 (size_t* pitch, size_t width, size_t height), pitch, width, height)
RUNG_EMU_LOCATED(cudaHostAlloc, (size_t, unsigned int), (size_t bytes, unsigned int flags), bytes,
                 flags)
RUNG_EMU_LOCATED(cudaMallocHost, (size_t), (size_t bytes), bytes)
template <class T>
inline cudaError_t cudaMallocHost(T** pointer, size_t bytes, unsigned int flags,
                                  RungEmuCaller caller = RungEmuCaller::here()) {
  return cudaHostAlloc(reinterpret_cast<void**>(pointer), bytes, flags, caller);
}
#undef RUNG_EMU_LOCATED
#undef RUNG_EMU_UNPACK
#else  // another compiler, for host code only
template <class T>
inline cudaError_t cudaMalloc(T** pointer, size_t bytes) {
  return cudaMalloc(reinterpret_cast<void**>(pointer), bytes);
}
template <class T>
inline cudaError_t cudaMallocAsync(T** pointer, size_t bytes, cudaStream_t stream) {
  return cudaMallocAsync(reinterpret_cast<void**>(pointer), bytes, stream);
}
template <class T>
inline cudaError_t cudaMallocManaged(T** pointer, size_t bytes,
                                     unsigned int flags = cudaMemAttachGlobal) {
  return cudaMallocManaged(reinterpret_cast<void**>(pointer), bytes, flags);
}
template <class T>
inline cudaError_t cudaMallocPitch(T** pointer, size_t* pitch, size_t width, size_t height) {
  return cudaMallocPitch(reinterpret_cast<void**>(pointer), pitch, width, height);
}
template <class T>
inline cudaError_t cudaHostAlloc(T** pointer, size_t bytes, unsigned int flags) {
  return cudaHostAlloc(reinterpret_cast<void**>(pointer), bytes, flags);
}
template <class T>
inline cudaError_t cudaMallocHost(T** pointer, size_t bytes) {
  return cudaMallocHost(reinterpret_cast<void**>(pointer), bytes);
}
template <class T>
inline cudaError_t cudaMallocHost(T** pointer, size_t bytes, unsigned int flags) {
  return cudaHostAlloc(reinterpret_cast<void**>(pointer), bytes, flags);
}
#endif

template <class T>
inline cudaError_t cudaMallocAsync(T** pointer, size_t bytes, cudaMemPool_t pool,
                                   cudaStream_t stream) {
  return cudaMallocFromPoolAsync(reinterpret_cast<void**>(pointer), bytes, pool, stream);
}
template <class T>
inline cudaError_t cudaMallocFromPoolAsync(T** pointer, size_t bytes, cudaMemPool_t pool,
                                           cudaStream_t stream) {
  return cudaMallocFromPoolAsync(reinterpret_cast<void**>(pointer), bytes, pool, stream);
}
template <class T>
inline cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, T* pointer, size_t bytes = 0,
                                            unsigned int flags = cudaMemAttachSingle) {
  return cudaStreamAttachMemAsync(stream, static_cast<void*>(pointer), bytes, flags);
}

template <class T>
inline cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned int flags) {
  return cudaHostGetDevicePointer(reinterpret_cast<void**>(device), host, flags);
}

template <class T>
inline cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, size_t bytes,
                                      size_t offset = 0,
                                      cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return cudaMemcpyToSymbol(static_cast<const void*>(&symbol), from, bytes, offset, kind);
}
template <class T>
inline cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from, size_t bytes,
                                           size_t offset = 0,
                                           cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                           cudaStream_t stream = 0) {
  return cudaMemcpyToSymbolAsync(static_cast<const void*>(&symbol), from, bytes, offset, kind,
                                 stream);
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t bytes, size_t offset = 0,
                                        cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return cudaMemcpyFromSymbol(to, static_cast<const void*>(&symbol), bytes, offset, kind);
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, size_t bytes,
                                             size_t offset = 0,
                                             cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                             cudaStream_t stream = 0) {
  return cudaMemcpyFromSymbolAsync(to, static_cast<const void*>(&symbol), bytes, offset, kind,
                                   stream);
}
template <class T>
inline cudaError_t cudaGetSymbolAddress(void** pointer, const T& symbol) {
  return cudaGetSymbolAddress(pointer, static_cast<const void*>(&symbol));
}
template <class U, class T>
inline cudaError_t cudaGetSymbolAddress(U** pointer, const T& symbol) {
  return cudaGetSymbolAddress(reinterpret_cast<void**>(pointer), static_cast<const void*>(&symbol));
}
template <class T>
inline cudaError_t cudaGetSymbolSize(size_t* bytes, const T& symbol) {
  return cudaGetSymbolSize(bytes, static_cast<const void*>(&symbol));
}

template <class T>
inline cudaError_t cudaLaunchKernel(T* function, dim3 grid, dim3 block, void** arguments,
                                    size_t shared_bytes = 0, cudaStream_t stream = 0) {
  return cudaLaunchKernel(reinterpret_cast<const void*>(function), grid, block, arguments,
                          shared_bytes, stream);
}
template <class T>
inline cudaError_t cudaLaunchCooperativeKernel(T* function, dim3 grid, dim3 block, void** arguments,
                                               size_t shared_bytes = 0, cudaStream_t stream = 0) {
  return cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(function), grid, block,
                                     arguments, shared_bytes, stream);
}
template <class T>
inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, T* function) {
  return cudaFuncGetAttributes(attributes, reinterpret_cast<const void*>(function));
}
template <class T>
inline cudaError_t cudaFuncSetAttribute(T* function, cudaFuncAttribute attribute, int value) {
  return cudaFuncSetAttribute(reinterpret_cast<const void*>(function), attribute, value);
}
template <class T>
inline cudaError_t cudaFuncSetCacheConfig(T* function, cudaFuncCache config) {
  return cudaFuncSetCacheConfig(reinterpret_cast<const void*>(function), config);
}
template <class T>
inline cudaError_t cudaFuncSetSharedMemConfig(T* function, cudaSharedMemConfig config) {
  return cudaFuncSetSharedMemConfig(reinterpret_cast<const void*>(function), config);
}
template <class T>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, T function,
                                                                 int block_threads,
                                                                 size_t shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      blocks, reinterpret_cast<const void*>(function), block_threads, shared_bytes);
}
template <class T>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, T function,
                                                                          int block_threads,
                                                                          size_t shared_bytes,
                                                                          unsigned int flags) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      blocks, reinterpret_cast<const void*>(function), block_threads, shared_bytes, flags);
}

/// The block size with the most threads resident on a multiprocessor, and the grid that fills the
/// device with it. shared_of(block) gives a block's dynamic shared memory. With limit 0 the block size is unlimited.
template <class SharedOf, class T>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* grid, int* block, T function,
                                                                  SharedOf shared_of,
                                                                  int limit = 0) {
  int device, multiprocessors, warp;
  cudaFuncAttributes attributes;
  cudaError_t error = cudaGetDevice(&device);
  if (!error) {
    error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  }
  if (!error) error = cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, device);
  if (!error) {
    error = cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(function));
  }
  if (error) return error;
  int most = attributes.maxThreadsPerBlock;
  if (limit > 0 && limit < most) most = limit;
  int best = 0;
  *grid = *block = 0;
  for (int threads = most; threads > 0; threads = (threads - 1) / warp * warp) {
    int blocks = 0;
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, reinterpret_cast<const void*>(function), threads, shared_of(threads));
    if (error) return error;
    if (blocks * threads > best) {
      best = blocks * threads;
      *block = threads;
      *grid = blocks * multiprocessors;
    }
  }
  return cudaSuccess;
}
template <class T>
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, T function,
                                                      size_t shared_bytes = 0, int limit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
      grid, block, function, [shared_bytes](int) { return shared_bytes; }, limit);
}

// As CUDA 13 declares them.
inline cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, cudaMemLocation location,
                                        unsigned int /*flags*/, cudaStream_t stream = nullptr) {
  const int device = location.type == cudaMemLocationTypeDevice ? location.id : cudaCpuDeviceId;
  return cudaMemPrefetchAsync(pointer, bytes, device, stream);
}
inline cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice,
                                 cudaMemLocation location) {
  const int device = location.type == cudaMemLocationTypeDevice ? location.id : cudaCpuDeviceId;
  return cudaMemAdvise(pointer, bytes, advice, device);
}
