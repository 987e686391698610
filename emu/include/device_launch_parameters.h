#pragma once
/* threadIdx and its like are part of cuda_runtime.h, which every program is compiled with. Files of
   C and C++ get declarations, for headers with device code that they do not call. */

#include "cuda_runtime.h"

#ifndef __CUDACC__
#ifdef __cplusplus
extern "C" {
#endif
extern const uint3 threadIdx, blockIdx;
extern const struct dim3 blockDim, gridDim;
extern const int warpSize;
#ifdef __cplusplus
}
#endif
#endif
