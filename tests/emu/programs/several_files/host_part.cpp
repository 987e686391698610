// For the host's compiler alone, with CUDA's types.
#include "parts.h"

const char* describe() {
  float* memory = nullptr;
  const cudaError_t error = cudaMalloc(&memory, 16);
  cudaFree(memory);
  return cudaGetErrorName(error);
}
