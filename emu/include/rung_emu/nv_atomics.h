#pragma once
/* The atomic functions that nvcc has built in since CUDA 12.8 (CUDA C++ Programming Guide, "Built-in Atomic Functions"),
 * by clang's. Their scope is always the system. */

#define __NV_ATOMIC_RELAXED __ATOMIC_RELAXED
#define __NV_ATOMIC_CONSUME __ATOMIC_CONSUME
#define __NV_ATOMIC_ACQUIRE __ATOMIC_ACQUIRE
#define __NV_ATOMIC_RELEASE __ATOMIC_RELEASE
#define __NV_ATOMIC_ACQ_REL __ATOMIC_ACQ_REL
#define __NV_ATOMIC_SEQ_CST __ATOMIC_SEQ_CST

#define __NV_THREAD_SCOPE_THREAD 0
#define __NV_THREAD_SCOPE_BLOCK 1
#define __NV_THREAD_SCOPE_CLUSTER 2
#define __NV_THREAD_SCOPE_DEVICE 3
#define __NV_THREAD_SCOPE_SYSTEM 4

/* clang 19 has no acquiring loads and no releasing stores for NVIDIA GPUs. */
template <class T>
__device__ __forceinline__ T __nv_atomic_load_n(T* p, int order, int = __NV_THREAD_SCOPE_SYSTEM) {
  const T value = *const_cast<const volatile T*>(p);
  if (order != __NV_ATOMIC_RELAXED) __threadfence_system();
  return value;
}
template <class T>
__device__ __forceinline__ void __nv_atomic_store_n(T* p, T value, int order,
                                                    int = __NV_THREAD_SCOPE_SYSTEM) {
  if (order != __NV_ATOMIC_RELAXED) __threadfence_system();
  *const_cast<volatile T*>(p) = value;
}

#define RUNG_NV_ATOMIC(NAME)                                                        \
  template <class T>                                                                \
  __device__ __forceinline__ T __nv_atomic_##NAME(T* p, T value, int order,         \
                                                  int = __NV_THREAD_SCOPE_SYSTEM) { \
    return __atomic_##NAME(p, value, order);                                        \
  }
RUNG_NV_ATOMIC(exchange_n)
RUNG_NV_ATOMIC(fetch_add)
RUNG_NV_ATOMIC(fetch_sub)
RUNG_NV_ATOMIC(fetch_and)
RUNG_NV_ATOMIC(fetch_or)
RUNG_NV_ATOMIC(fetch_xor)
RUNG_NV_ATOMIC(fetch_min)
RUNG_NV_ATOMIC(fetch_max)
#undef RUNG_NV_ATOMIC
