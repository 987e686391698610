#pragma once
// The keywords of CUDA C++ for the three compilers that read a rung: nvcc, which defines them;
// clang, which compiles kernels without a CUDA toolkit; and the host compiler, which reads the same
// file for the launch and never instantiates a kernel.

#if defined(__CUDACC__) && !defined(__clang__)  // nvcc

#elif defined(__CUDA__)  // clang

#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#include <__clang_cuda_builtin_vars.h>  // threadIdx, blockIdx, …

#else  // the host

#define RUNG_HOST
#define __device__
#define __global__
#define __shared__
#define __forceinline__ inline
#define __launch_bounds__(...)

// Only declared for kernel templates; the host never uses them.
struct CudaIndex {
  unsigned x, y, z;
};
extern const CudaIndex threadIdx, blockIdx, blockDim, gridDim;
void __syncthreads();

#endif

// Place before a loop whose counter indexes registers: it must be a constant in each copy of the
// body.
#ifdef RUNG_HOST
#define RUNG_UNROLL
#define RUNG_NO_UNROLL
#define RUNG_UNROLL_4
#define RUNG_NO_INLINE
#else
#define RUNG_UNROLL _Pragma("unroll")
#define RUNG_NO_UNROLL _Pragma("unroll 1")        // for a long body that rarely runs
#define RUNG_UNROLL_4 _Pragma("unroll 4")         // for many iterations with one load each
#define RUNG_NO_INLINE __attribute__((noinline))  // for a long function that rarely runs
#endif

namespace rung::cuda {

#ifdef RUNG_HOST
template <class Tiles>
Tiles& dynamic_shared();
#else
/// The block's dynamic shared memory as a struct of arrays. Launch::shared_bytes is its size, which
/// may exceed the 48 KiB of static shared memory.
template <class Tiles>
__device__ __forceinline__ Tiles& dynamic_shared() {
  // Alignment for swizzled tiles.
  alignas(1024) extern __shared__ unsigned char dynamic_shared_memory[];
  return *reinterpret_cast<Tiles*>(dynamic_shared_memory);
}
#endif

}  // namespace rung::cuda
