#pragma once
// Arrays in device memory for the kernels of daily use.

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <vector>

/// A hash, so that the elements of each array are the same in every run.
__host__ __device__ inline unsigned mixed(unsigned x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

/// n elements value(i).
template <class T, class Value>
T* filled(size_t n, Value value) {
  std::vector<T> host(n);
  for (size_t i = 0; i < n; ++i) host[i] = static_cast<T>(value(static_cast<unsigned>(i)));
  T* data;
  cudaMalloc(&data, n * sizeof(T));
  cudaMemcpy(data, host.data(), n * sizeof(T), cudaMemcpyHostToDevice);
  return data;
}

template <class T>
T* zeros(size_t n) {
  T* data;
  cudaMalloc(&data, n * sizeof(T));
  cudaMemset(data, 0, n * sizeof(T));
  return data;
}

/// n floats in [0, 1).
inline float* floats(size_t n) {
  return filled<float>(n, [](unsigned i) { return mixed(i) * 0x1p-32f; });
}

/// n random integers below `end`.
inline int* integers(size_t n, unsigned end) {
  return filled<int>(n, [=](unsigned i) { return mixed(i) % end; });
}
