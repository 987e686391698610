#include <cstdio>
#include <thread>

__global__ void spin(volatile int* started, volatile int* go) {
  *started = 1;
  while (*go == 0) {
  }
}

int main() {
  int *started = nullptr, *go = nullptr;
  cudaMallocHost(&started, sizeof(int));
  *started = 0;
  cudaMalloc(&go, sizeof(int));
  cudaMemset(go, 0, sizeof(int));
  std::thread watcher([started] {
    while (*static_cast<volatile int*>(started) == 0) std::this_thread::yield();
    std::printf("running\n");
    std::fflush(stdout);
  });
  spin<<<1, 1>>>(started, go);
  const bool is_well = cudaDeviceSynchronize() == cudaSuccess;
  watcher.join();
  return is_well ? 0 : 1;
}
