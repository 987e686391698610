#pragma once
/* The words that CUDA C++ adds to C++ (CUDA C++ Programming Guide, "C++ Language Extensions"). */

/* As in the header of the vendor: programs ask for it. */
#define __HOST_DEFINES_H__

#ifdef __CUDA__
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __global__ __attribute__((global))
#define __constant__ __attribute__((constant))
#define __shared__ __attribute__((shared))
/* The runtime library finds them by their section: rung_emu/managed.h. */
#define __managed__ __attribute__((device)) __attribute__((section("rung_managed")))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
/* clang 19 does not know these: rung emu reads the annotations. */
#define __cluster_dims__(...) __attribute__((annotate("rung.cluster", __VA_ARGS__)))
#define __grid_constant__ __attribute__((annotate("rung.grid_constant")))
/* CUTLASS has none with clang, unless this is defined. */
#define CUTLASS_GRID_CONSTANT __grid_constant__
#else /* a host compiler: only the host's part of a program can be meant */
#define __device__
#define __host__
#define __global__
#define __constant__
#define __shared__
#define __managed__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __grid_constant__
#endif

#define __maxnreg__(registers)
/* Launches with blocks of another size are not refused. Without a parameter for clusters: their
 * kernels would run without them. */
#define __block_size__(block)
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#define __cudart_builtin__

#define __forceinline__ inline __attribute__((always_inline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __builtin_align__(bytes) __align__(bytes)
#define __device_builtin__
#define CUDARTAPI
#define CUDART_CB
