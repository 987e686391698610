#pragma once
/* Profiling is always on; these are here so that programs that mark a part of themselves compile.
 */

#include "cuda_runtime_api.h"

static inline cudaError_t cudaProfilerStart(void) { return cudaSuccess; }
static inline cudaError_t cudaProfilerStop(void) { return cudaSuccess; }
