#include <cuda.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <thread>

// Host code that accesses device memory: HOW names the memory, and the access.
__device__ int variable[64];

__global__ void fill(int* to) { to[threadIdx.x] = static_cast<int>(threadIdx.x); }

int* allocated(const char* memory) {
  void* pointer = nullptr;
  std::size_t pitch = 0;
  cudaPitchedPtr cube{};
  CUdeviceptr address = 0;
  if (std::strcmp(memory, "cudaMalloc") == 0) cudaMalloc(&pointer, 256);
  if (std::strcmp(memory, "cudaMallocAsync") == 0) cudaMallocAsync(&pointer, 256, nullptr);
  if (std::strcmp(memory, "cudaMallocPitch") == 0) cudaMallocPitch(&pointer, &pitch, 256, 4);
  if (std::strcmp(memory, "variable") == 0) cudaGetSymbolAddress(&pointer, variable);
  if (std::strcmp(memory, "cudaMalloc3D") == 0) {
    cudaMalloc3D(&cube, cudaExtent{256, 2, 2});
    pointer = cube.ptr;
  }
  if (std::strcmp(memory, "cuMemAlloc") == 0) {
    cudaFree(nullptr);
    cuMemAlloc(&address, 256);
    pointer = reinterpret_cast<void*>(address);
  }
  if (std::strcmp(memory, "cudaMallocManaged") == 0) cudaMallocManaged(&pointer, 256);
  if (std::strcmp(memory, "cudaMallocHost") == 0) cudaMallocHost(&pointer, 256);
  if (std::strcmp(memory, "cudaHostRegister") == 0) {
    pointer = std::aligned_alloc(4096, 4096);
    cudaHostRegister(pointer, 4096, cudaHostRegisterMapped);
  }
  return static_cast<int*>(pointer);
}

int access(int* at, const char* how) {
  int sum = 0, host[64] = {};
  if (std::strcmp(how, "read") == 0) sum = at[3];
  if (std::strcmp(how, "write") == 0) at[3] = 3;
  if (std::strcmp(how, "memcpy") == 0) {
    std::memcpy(host, at, sizeof host);
    sum = host[3];
  }
  if (std::strcmp(how, "accumulate") == 0) sum = std::accumulate(at, at + 3, 0);
  if (std::strcmp(how, "thread") == 0) std::thread([&] { sum = at[3]; }).join();
  return sum;
}

void handler(int) {
  std::puts("the program's handler");
  std::fflush(stdout);
  std::_Exit(7);
}

int main(int, char** arguments) {
  if (std::strcmp(arguments[3], "early") == 0) std::signal(SIGSEGV, handler);
  int* const memory = allocated(arguments[1]);
  if (std::strcmp(arguments[3], "late") == 0) std::signal(SIGSEGV, handler);
  fill<<<1, 64>>>(memory);
  cudaDeviceSynchronize();
  std::printf("%d\n", access(memory, arguments[2]));
}
