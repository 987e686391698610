#pragma once
// Copies from global to shared memory that a thread does not wait for (CUDA C++ Programming Guide,
// "Pipeline Primitives Interface"). Needs compute capability 8.0.

/* As in the header of the vendor: programs ask for it. */
#define _CUDA_PIPELINE_H_

#include "cuda_runtime.h"

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

// 4, 8 or 16 bytes; the last `zero_bytes` of them are not read, and become zero.
static __device__ __forceinline__ void __pipeline_memcpy_async(void* shared, const void* global,
                                                               size_t bytes,
                                                               size_t zero_bytes = 0) {
  const unsigned int read = static_cast<unsigned int>(bytes - zero_bytes);
  if (bytes == 16) {
    __nv_memcpy_async_shared_global_16(shared, global, read);
  } else if (bytes == 8) {
    __nv_memcpy_async_shared_global_8(shared, global, read);
  } else {
    __nv_memcpy_async_shared_global_4(shared, global, read);
  }
}
static __device__ __forceinline__ void __pipeline_commit() { __nvvm_cp_async_commit_group(); }
// Waits for all but the last `groups` that were committed: 0 to 8 of them, a constant.
static __device__ __forceinline__ void __pipeline_wait_prior(size_t groups) {
  switch (groups) {
    case 0: __nvvm_cp_async_wait_group(0); break;
    case 1: __nvvm_cp_async_wait_group(1); break;
    case 2: __nvvm_cp_async_wait_group(2); break;
    case 3: __nvvm_cp_async_wait_group(3); break;
    case 4: __nvvm_cp_async_wait_group(4); break;
    case 5: __nvvm_cp_async_wait_group(5); break;
    case 6: __nvvm_cp_async_wait_group(6); break;
    case 7: __nvvm_cp_async_wait_group(7); break;
    default: __nvvm_cp_async_wait_group(8); break;
  }
}

#endif
