// Sizes that an int or 32 bits cannot hold, or whose products exceed 64 bits: refused, never cut.
#include <cstdio>

__global__ void k() {}
__global__ void parent(size_t bytes) { k<<<1, 32, bytes>>>(); }

int main() {
  constexpr size_t huge = size_t{1} << 40, cut = (size_t{1} << 32) + 16, half = size_t{1} << 33;
  k<<<1, 32, huge>>>();
  std::printf("%d", cudaGetLastError());
  k<<<1, 32, cut>>>();
  std::printf(" %d", cudaGetLastError());
  std::printf(" %d", cudaLaunchKernel((const void*)k, 1, 32, nullptr, cut, nullptr));
  std::printf(" %d", cudaLaunchCooperativeKernel((const void*)k, 1, 32, nullptr, cut, nullptr));
  cudaLaunchConfig_t config = {};
  config.gridDim = config.blockDim = 1;
  config.dynamicSmemBytes = cut;
  std::printf(" %d\n", cudaLaunchKernelExC(&config, (const void*)k, nullptr));

  // Allocations.
  void* pointer = nullptr;
  size_t pitch = 0;
  std::printf("%d", cudaMallocPitch(&pointer, &pitch, half, half));
  cudaPitchedPtr box = {};
  std::printf(" %d", cudaMalloc3D(&box, {16, half, half}));
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  std::printf(" %d", cudaMallocArray(&array, &format, huge, 0));
  std::printf(" %d", cudaMallocArray(&array, &format, half, half));
  std::printf(" %d\n", cudaMalloc3DArray(&array, &format, {1 << 16, 1 << 24, 1 << 24}, 0));

  // Rows whose last one is 2^64 bytes from the first: not even the first is written.
  unsigned char *rows = nullptr, source = 7, found = 1;
  cudaMalloc(&rows, 64);
  cudaMemset(rows, 0, 64);
  constexpr size_t far = size_t{1} << 24, count = huge + 1;
  std::printf("%d", cudaMemcpy2D(rows, far, &source, far, 1, count, cudaMemcpyHostToDevice));
  std::printf(" %d", cudaMemset2D(rows, far, 7, 1, count));
  cudaMemcpy(&found, rows, 1, cudaMemcpyDeviceToHost);
  std::printf(" %d\n", found);

  // Textures of more elements than one may have.
  cudaResourceDesc linear = {};
  linear.resType = cudaResourceTypeLinear;
  linear.res.linear.devPtr = rows;
  linear.res.linear.desc = format;
  linear.res.linear.sizeInBytes = huge;
  cudaTextureDesc description = {};
  cudaTextureObject_t texture = 0;
  std::printf("%d", cudaCreateTextureObject(&texture, &linear, &description, nullptr));
  cudaResourceDesc pitched = {};
  pitched.resType = cudaResourceTypePitch2D;
  pitched.res.pitch2D.devPtr = rows;
  pitched.res.pitch2D.desc = format;
  pitched.res.pitch2D.width = cut;
  pitched.res.pitch2D.height = 1;
  pitched.res.pitch2D.pitchInBytes = 32;
  std::printf(" %d\n", cudaCreateTextureObject(&texture, &pitched, &description, nullptr));

  int blocks = 1;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, k, 0x7FFFFFFF, 0);
  std::printf("%d", blocks);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, k, 32, cut);
  std::printf(" %d\n", blocks);
  cudaFree(rows);

  parent<<<1, 1>>>(cut);
  std::printf("%d\n", cudaDeviceSynchronize());
}
