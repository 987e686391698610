// More output than the ring of printf holds: the newest is left (CUDA C++ Programming Guide, "Formatted
// Output").
#include <cstdio>

__global__ void count(int lines) {
  for (int i = 0; i < lines; ++i) printf("line %05d\n", i);
}

__global__ void wide() { printf("%1000000000d\n", 1); }

static void show_limit() {
  size_t bytes = 0;
  const cudaError_t error = cudaDeviceGetLimit(&bytes, cudaLimitPrintfFifoSize);
  std::printf("%s %zu\n", cudaGetErrorName(error), bytes);
}

int main() {
  show_limit();
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 35)));
  show_limit();
  count<<<1, 1>>>(20000);
  cudaDeviceSynchronize();
  wide<<<1, 1>>>();
  cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 20)));
  std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
  return 0;
}
