#pragma once

#include <cuda_runtime.h>

#include <cstdio>

#ifdef __CUDACC__
extern __device__ int shared_value;
__device__ int twice(int value);
#endif

int of_the_other_file();
const char* describe();
