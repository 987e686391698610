// A barrier is missing: `rung emu examples/race.cu` names the two lines. README.md shows its report.
#include <cstdio>

__global__ void reverse(float* data, int n) {
  __shared__ float tile[256];
  const int i = threadIdx.x;
  tile[i] = data[i];
  data[i] = tile[n - 1 - i];  // written by another thread
}

int main() {
  float* data = nullptr;
  cudaMallocManaged(&data, 256 * sizeof(float));
  for (int i = 0; i < 256; ++i) data[i] = i;
  reverse<<<1, 256>>>(data, 256);
  cudaDeviceSynchronize();
  std::printf("%g\n", data[0]);
  cudaFree(data);
}
