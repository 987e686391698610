// Kernels that launch kernels by names which stand for several, and by macros.
#include <cstdio>

namespace work {

template <class T>
__global__ void fill(T* to, size_t count, T value = T());

template <class T>
__global__ void fill(T* to, size_t count, T value) {
  const size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) to[i] = value;
}

template <int N = 3, typename... Ts>
__global__ void add_all(float* __restrict__ to, const Ts... values) {
  to[threadIdx.x] += N + (static_cast<float>(values) + ... + 0.0f);
}

}  // namespace work

__global__ void add(int* to, int /* not a float */ value) { to[threadIdx.x] += value; }
__global__ void add(float* to, float value) { to[threadIdx.x] += value + 0.5f; }
__global__ void add(int* to) { *to += 100; }

/// Launches itself.
template <class T>
__global__ void halve(T* sum, unsigned left) {
  *sum += left;
  if (left > 1) halve<<<1, 1>>>(sum, left / 2);
}

/// Declared in other words than it is defined in.
__global__ void shift(unsigned by, int* to);
__global__ void shift(unsigned int by, int* __restrict__ to) { *to += by; }

/// LAUNCH has a parameter of this name.
template <class T>
__global__ void kernel(T* to) {
  *to += 2000;
}

#define LAUNCH(kernel, threads, ...) kernel<<<1, threads>>>(__VA_ARGS__)
#define FILL(to, count)                                 \
  do {                                                  \
    work::fill<<<dim3((count) / 4), 4>>>(to, count, 7); \
  } while (false)

__host__ __device__ void fill_by_either(int* to, int value) {
  work::fill<<<2, 4>>>(to, 8, value);
#ifndef __CUDA_ARCH__
  cudaDeviceSynchronize();
#endif
}

__global__ void parent(int* ints, float* floats) {
  work::fill<<<dim3(2), 4>>>(floats, 8, 1.5f);
  work::add_all<<<1, 4>>>(floats, 1, 2u);
  work::add_all<5><<<1, 4>>>(floats, 0.25);
  fill_by_either(ints, 20);
  add<<<1, 8>>>(ints, threadIdx.x + 1);
  add<<<1, 8>>>(floats, 2);
  add<<<1, 1>>>(ints);
  LAUNCH(halve<int>, 1, ints + 7, 8);
  shift<<<1, 1>>>(1000, ints + 1);
  kernel<<<1, 1>>>(ints + 1);
}

__global__ void by_macro(int* ints) { FILL(ints, 8); }

int main() {
  int* ints;
  float* floats;
  cudaMallocManaged(&ints, 8 * sizeof(int));
  cudaMallocManaged(&floats, 8 * sizeof(float));
  parent<<<1, 1>>>(ints, floats);
  cudaDeviceSynchronize();
  printf("%d %d %d %d\n", ints[0], ints[1], ints[7], __LINE__);
  printf("%g %g %g\n", floats[0], floats[3], floats[7]);
  by_macro<<<1, 1>>>(ints);
  cudaDeviceSynchronize();
  printf("%d %d\n", ints[0], ints[7]);
  fill_by_either(ints, 3);
  LAUNCH(halve<int>, 1, ints + 7, 2);
  cudaDeviceSynchronize();
  printf("%d %d %s\n", ints[0], ints[7], cudaGetErrorName(cudaGetLastError()));
  cudaFree(ints);
  cudaFree(floats);
}
