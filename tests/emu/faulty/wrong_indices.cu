// Errors that need a remedy of their own, by the program's argument.
#include <cstring>

#include "cuda_runtime.h"

__global__ void overflow(float* x, int row) { x[row * 65536 + threadIdx.x] = 1; }

__global__ void early_return(const float* x, float* y, int n) {
  __shared__ float s[64];
  const int t = threadIdx.x;
  if (t >= n) return;
  s[t] = x[t];
  __syncthreads();
  y[t] = s[t] + s[63 - t];
}

__global__ void counter(int* count) {
  if (threadIdx.x == 0) *count = 0;
  atomicAdd(count, 1);
}

__device__ long depth(const long* parent, long at) {
  long seen[16];
  for (int i = 0; i < 16; ++i) seen[i] = parent[at] + i;
  if (at < 0) return seen[-at & 15];
  return depth(parent, parent[at]) + seen[at & 15];
}

__global__ void depths(const long* parent, long* out) { out[0] = depth(parent, 0); }

__global__ void sample(cudaTextureObject_t texture, float* y) {
  y[threadIdx.x] = tex1Dfetch<float>(texture, threadIdx.x);
}

cudaTextureObject_t destroyed_texture(float* x) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = x;
  resource.res.linear.sizeInBytes = 256;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  cudaTextureDesc description = {};
  cudaTextureObject_t texture;
  cudaCreateTextureObject(&texture, &resource, &description, nullptr);
  cudaDestroyTextureObject(texture);
  return texture;
}

__global__ void largest(const float* x, float* y, int n) {
  __shared__ float s[64];
  const int t = threadIdx.x;
  if (t >= n) return;
  s[t] = x[t];
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (t < half) s[t] = fmaxf(s[t], s[t + half]);
    __syncthreads();
  }
  if (t == 0) *y = s[0];
}

int main(int count, char** arguments) {
  const char* what = count > 1 ? arguments[1] : "";
  const auto is = [&](const char* name) { return std::strcmp(what, name) == 0; };
  float *x, *y;
  cudaMalloc(&x, 4096);
  cudaMalloc(&y, 4096);
  cudaMemset(x, 0, 4096);
  if (is("overflow")) overflow<<<1, 32>>>(x, 40000);
  if (is("return")) early_return<<<1, 64>>>(x, y, 40);
  if (is("largest")) largest<<<1, 64>>>(x, y, 40);
  if (is("counter")) counter<<<1, 64>>>(reinterpret_cast<int*>(x));
  if (is("recursion")) depths<<<1, 1>>>(reinterpret_cast<long*>(x), reinterpret_cast<long*>(y));
  if (is("texture")) sample<<<1, 32>>>(destroyed_texture(x), y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
}
