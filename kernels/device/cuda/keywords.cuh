#pragma once
// The words of CUDA C++ for each of the three compilers that read a rung: nvcc, which brings its
// own; clang, which compiles kernels without a CUDA toolkit; and the host's compiler, which reads
// the same file for the launch and never instantiates a kernel.

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

// Declared for kernel templates to name, defined nowhere.
struct CudaIndex {
  unsigned x, y, z;
};
extern const CudaIndex threadIdx, blockIdx, blockDim, gridDim;
void __syncthreads();

#endif

// Before a loop whose counter indexes registers: it must be known in each copy of the body.
// The other one is for loops that take more registers than they save time.
#ifdef RUNG_HOST
#define RUNG_UNROLL
#define RUNG_NO_UNROLL
#define RUNG_NO_INLINE
#else
#define RUNG_UNROLL _Pragma("unroll")
#define RUNG_NO_UNROLL _Pragma("unroll 1")        // a long body, seldom run
#define RUNG_NO_INLINE __attribute__((noinline))  // likewise
#endif
