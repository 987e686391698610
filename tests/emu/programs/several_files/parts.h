#pragma once

#include <cuda_runtime.h>
#include <device_launch_parameters.h>

#include <cstdio>

#ifdef __CUDACC__
extern __device__ int shared_value;
__device__ int twice(int value);
#endif

// Host compilers read it, too, and have no use for it.
__device__ inline int lane() { return threadIdx.x % warpSize; }

int of_the_other_file();
const char* describe();
