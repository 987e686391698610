// Templates, dynamic shared memory, variables of the device, structs as arguments, printf.
#include <cstdio>

struct Affine {
  double scale;
  int offset;
  __host__ __device__ double operator()(int x) const { return scale * x + offset; }
};

__constant__ float weights[4];
__device__ int counter = 40;

template <class T, class F>
__global__ void apply(T* out, int n, F f) {
  const int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n) out[i] = static_cast<T>(f(i));
}

__global__ void reverse(int* data) {
  extern __shared__ int buffer[];
  buffer[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = buffer[blockDim.x - 1 - threadIdx.x];
}

__global__ void weighted(float* out) {
  float sum = 0;
  for (int i = 0; i < 4; ++i) sum += weights[i] * (i + 1);
  *out = sum;
  counter += 2;
}

__global__ void greet() {
  if (threadIdx.x < 2)
    printf("hello from block %d, thread %d: %.2f %s\n", blockIdx.x, threadIdx.x, 0.5, "ok");
}

int main() {
  const int n = 64;
  int host[n];
  int* data;
  cudaMalloc(&data, n * sizeof(int));
  apply<<<2, 32>>>(data, n, Affine{2.0, 1});
  reverse<<<1, n, n * sizeof(int)>>>(data);
  cudaMemcpy(host, data, sizeof(host), cudaMemcpyDeviceToHost);
  printf("%d %d\n", host[0], host[63]);

  const int step = 3;
  apply<<<1, 64>>>(data, n, [=] __device__(int i) { return i * step; });
  cudaMemcpy(host, data, sizeof(host), cudaMemcpyDeviceToHost);
  printf("%d\n", host[10]);

  const float values[4] = {1, 10, 100, 1000};
  cudaMemcpyToSymbol(weights, values, sizeof(values));
  weighted<<<1, 1>>>(reinterpret_cast<float*>(data));
  float sum;
  cudaMemcpy(&sum, data, sizeof(sum), cudaMemcpyDeviceToHost);
  int count;
  cudaMemcpyFromSymbol(&count, counter, sizeof(count));
  void* address;
  size_t bytes;
  cudaGetSymbolAddress(&address, weights);
  cudaGetSymbolSize(&bytes, weights);
  printf("%g %d %zu %d\n", sum, count, bytes, address != nullptr);

  greet<<<2, 32>>>();
  cudaDeviceSynchronize();
  cudaFree(data);
  printf("%s\n", cudaGetErrorName(cudaGetLastError()));
}
