// For the host's compiler alone, with CUDA's types.
#include <cublas_v2.h>
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cufft.h>
#include <curand.h>
#include <cusparse.h>
#include <nvrtc.h>

#include "parts.h"

const char* describe() {
  float* memory = nullptr;
  const cudaError_t error = cudaMalloc(&memory, 16);
  cudaFree(memory);
  return cudaGetErrorName(error);
}
