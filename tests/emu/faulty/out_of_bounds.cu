// The last thread reads past the end.
#include <cstdio>

__global__ void shift(const int* in, int* out) { out[threadIdx.x] = in[threadIdx.x + 1]; }

int main() {
  int *in, *out;
  cudaMalloc(&in, 32 * sizeof(int));
  cudaMalloc(&out, 32 * sizeof(int));
  cudaMemset(in, 0, 32 * sizeof(int));
  shift<<<1, 32>>>(in, out);
  printf("launch: %s\n", cudaGetErrorName(cudaGetLastError()));
  printf("then: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  printf("copy: %s\n", cudaGetErrorName(cudaMemcpy(out, in, 4, cudaMemcpyDeviceToDevice)));
}
