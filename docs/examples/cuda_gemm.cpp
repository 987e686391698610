// A product on the GPU, in a program of the CUDA runtime. Compile with librung and -lcudart.

#include <cuda_runtime.h>

#include <cstdio>
#include <rung/rung.hpp>
#include <vector>

float* allocate(std::size_t elements) {
  void* memory = nullptr;
  cudaMalloc(&memory, elements * sizeof(float));
  return static_cast<float*>(memory);
}

int main() {
  const std::vector<float> a(300 * 200, 1.0f), b(200 * 100, 2.0f);
  std::vector<float> c(300 * 100);

  cudaStream_t stream;
  cudaStreamCreate(&stream);
  float* const device_a = allocate(a.size());
  float* const device_b = allocate(b.size());
  float* const device_c = allocate(c.size());
  cudaMemcpyAsync(device_a, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice, stream);
  cudaMemcpyAsync(device_b, b.data(), b.size() * sizeof(float), cudaMemcpyHostToDevice, stream);

  try {
    rung::gemm(rung::row_major(device_a, 300, 200), rung::row_major(device_b, 200, 100),
               rung::row_major(device_c, 300, 100), rung::CudaStream(stream));
  } catch (const rung::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }

  cudaMemcpyAsync(c.data(), device_c, c.size() * sizeof(float), cudaMemcpyDeviceToHost, stream);
  if (const cudaError_t error = cudaStreamSynchronize(stream); error != cudaSuccess) {
    std::fprintf(stderr, "the work failed: %s\n", cudaGetErrorString(error));
    return 1;
  }
  std::printf("%g, %g\n", c.front(), c.back());  // 400, 400

  rung::release_cuda_workspace(rung::CudaStream(stream));
  cudaStreamDestroy(stream);
  for (float* const memory : {device_a, device_b, device_c}) cudaFree(memory);
}
