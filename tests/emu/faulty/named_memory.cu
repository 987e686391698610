// Errors whose reports name the variable, by the program's argument.
#include <cstring>
#include <vector>

#include "cuda_runtime.h"

__constant__ float weights[9];

__global__ void copy(const float* from, float* to) { to[threadIdx.x] = from[threadIdx.x]; }
__global__ void scale(float* x) { x[threadIdx.x] *= weights[threadIdx.x % 9]; }

int main(int count, char** arguments) {
  const char* what = count > 1 ? arguments[1] : "";
  const auto is = [&](const char* name) { return std::strcmp(what, name) == 0; };
  std::vector<float> host(64);
  float *x = nullptr, *y = nullptr, *z = nullptr;
  // clang-format off
  cudaMalloc(&x, 256); cudaMalloc(&y, 128); cudaMalloc(&z, 256);
  // clang-format on
  cudaMemset(x, 0, 256);
  if (is("second")) copy<<<1, 64>>>(x, y);
  if (is("third")) copy<<<1, 65>>>(x, z);
  if (is("null")) copy<<<1, 64>>>(nullptr, z);
  if (is("host")) copy<<<1, 64>>>(x, host.data());
  if (is("symbol")) cudaMemcpyToSymbol(weights, host.data(), 100);
  if (is("pitch")) cudaMemcpy2D(x, 64, host.data(), 128, 128, 2, cudaMemcpyHostToDevice);
  scale<<<1, 32>>>(x);
  cudaDeviceSynchronize();
}
