// Two devices: each has its own variables, and can access the memory of both.
#include <cstdio>

__constant__ int factor;

__global__ void scale(int* to, const int* from) { to[threadIdx.x] = factor * from[threadIdx.x]; }

int main() {
  int count = 0, access = 0, own_access = 1, current = -1;
  cudaGetDeviceCount(&count);
  cudaDeviceCanAccessPeer(&access, 0, 1);
  cudaDeviceCanAccessPeer(&own_access, 1, 1);
  cudaDeviceProp first{}, second{};
  cudaGetDeviceProperties(&first, 0);
  cudaGetDeviceProperties(&second, count - 1);
  printf("%d %d %d %d\n", count, access, own_access, second.pciBusID - first.pciBusID);

  int* data[2] = {};
  for (int device = 0; device < 2; ++device) {
    const int value = 10 * (device + 1);
    cudaSetDevice(device);
    cudaMemcpyToSymbol(factor, &value, sizeof(value));
    cudaMalloc(&data[device], 4 * sizeof(int));
  }
  cudaGetDevice(&current);
  cudaPointerAttributes where{};
  cudaPointerGetAttributes(&where, data[1] + 2);
  printf("%d %d %s %s %s\n", current, where.device,
         cudaGetErrorName(cudaDeviceEnablePeerAccess(0, 0)),
         cudaGetErrorName(cudaDeviceEnablePeerAccess(0, 0)), cudaGetErrorName(cudaSetDevice(2)));

  const int start[4] = {1, 2, 3, 4};
  int result[4] = {};
  cudaSetDevice(0);
  cudaMemcpy(data[0], start, sizeof(start), cudaMemcpyHostToDevice);
  scale<<<1, 4>>>(data[1], data[0]);  // times 10, into device 1's memory
  cudaSetDevice(1);
  scale<<<1, 4>>>(data[1], data[1]);  // times 20
  cudaMemcpyPeer(data[0], 0, data[1], 1, sizeof(start));
  cudaMemcpy(result, data[0], sizeof(result), cudaMemcpyDeviceToHost);
  printf("%d %d %d %d\n", result[0], result[1], result[2], result[3]);
  for (int* pointer : data) cudaFree(pointer);
}
