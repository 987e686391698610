// Declarations and calls that nvcc and GCC take: a block's size as an attribute, dynamic shared memory
// with a bound, flags of cudaMallocHost, the names of half types with two underscores, an object as an
// argument of printf, and zeros for an array whose size is a parameter beside a const one.
#include <cuda_fp16.h>

#include <cstdio>

struct Number {
  int value;
};
struct Pair {
  short first, second;
};

template <int warps>
__block_size__((warps * 32, 1, 1)) __global__ void count(int* out) {
  atomicAdd(out, 1);
}

__global__ void reverse(int* out) {
  extern __shared__ int tile[8];
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = tile[7 - threadIdx.x];
}

__global__ void print(__nv_half a, __nv_half2 b) {
  printf("%g %g %d %s %x %.1f\n", float(a), float(b.x + b.y), Number{7}, "text", Pair{1, 2}, 2.5);
}

__global__ void reverse_again(int* out) {
  __shared__ extern int same_tile[2][4];
  (&same_tile[0][0])[threadIdx.x] = out[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = same_tile[1 - threadIdx.x / 4][3 - threadIdx.x % 4];
}

int sum(const int* a, const int n) {
  int b[n] = {0};
  int s = 0;
  for (int i = 0; i < n; ++i) b[i] += a[i], s += b[i];
  return s;
}

int main() {
  int *host = nullptr, *other = nullptr, *device;
  cudaMallocHost(&host, 8 * sizeof(int), 0);
  cudaMallocHost(&other, sizeof(int), cudaHostAllocDefault);
  cudaMalloc(&device, 8 * sizeof(int));
  cudaMemset(device, 0, sizeof(int));
  count<2><<<1, 64>>>(device);
  cudaMemcpy(other, device, sizeof(int), cudaMemcpyDeviceToHost);
  reverse<<<1, 8, 8 * sizeof(int)>>>(device);
  reverse_again<<<1, 8, 8 * sizeof(int)>>>(device);
  cudaMemcpy(host, device, 8 * sizeof(int), cudaMemcpyDeviceToHost);
  printf("%d %d %d %d\n", *other, host[0], host[7], sum(host, 3));
  const __nv_half_raw raw{0x4200};
  print<<<1, 1>>>(__nv_half(raw), __nv_half2{2.0f, 3.0f});
  cudaDeviceSynchronize();
  cudaFree(device);
  cudaFreeHost(host);
  cudaFreeHost(other);
}
