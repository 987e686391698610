// The 64-bit interface of cuSOLVER, with the sizes of a small system whose solution is known.
#include <cusolverDn.h>

#include <cmath>
#include <cstdio>
#include <vector>

template <class T>
T* on_device(const std::vector<T>& host) {
  T* device = nullptr;
  cudaMallocManaged(&device, host.size() * sizeof(T));
  cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyDefault);
  return device;
}

bool is(double value, double wanted) { return std::abs(value - wanted) < 1e-5; }

template <class T>
void solve(cusolverDnHandle_t handle, cusolverDnParams_t params, cudaDataType type) {
  int* const info = on_device(std::vector<int>{7});
  int64_t* const pivots = on_device(std::vector<int64_t>(2));
  size_t on_gpu = 0, on_host = 0;
  // Rows 1 2 and 3 4; the solution of the right side 5, 11 is 1, 2.
  T* a = on_device(std::vector<T>{1, 3, 2, 4});
  T* b = on_device(std::vector<T>{5, 11});
  cusolverDnXgetrf_bufferSize(handle, params, 2, 2, type, a, 2, type, &on_gpu, &on_host);
  void* const work = on_device(std::vector<char>(on_gpu));
  std::vector<char> host(on_host);
  cusolverDnXgetrf(handle, params, 2, 2, type, a, 2, pivots, type, work, on_gpu, host.data(),
                   on_host, info);
  cusolverDnXgetrs(handle, params, CUBLAS_OP_N, 2, 1, type, a, 2, pivots, type, b, 2, info);
  cudaDeviceSynchronize();
  printf("%d %d %d%d%d\n", is(b[0], 1), is(b[1], 2), int(pivots[0]), int(pivots[1]), *info);

  // Rows 4 2 and 2 3; the same solution of 8, 8. The eigenvalues of rows 2 1 and 1 2 are 1 and 3.
  a = on_device(std::vector<T>{4, 2, 2, 3});
  b = on_device(std::vector<T>{8, 8});
  cusolverDnXpotrf_bufferSize(handle, params, CUBLAS_FILL_MODE_LOWER, 2, type, a, 2, type, &on_gpu,
                              &on_host);
  cusolverDnXpotrf(handle, params, CUBLAS_FILL_MODE_LOWER, 2, type, a, 2, type, work, on_gpu,
                   host.data(), on_host, info);
  cusolverDnXpotrs(handle, params, CUBLAS_FILL_MODE_LOWER, 2, 1, type, a, 2, type, b, 2, info);
  T* const values = on_device(std::vector<T>(2));
  a = on_device(std::vector<T>{2, 1, 1, 2});
  cusolverDnXsyevd(handle, params, CUSOLVER_EIG_MODE_NOVECTOR, CUBLAS_FILL_MODE_LOWER, 2, type, a,
                   2, type, values, type, work, on_gpu, host.data(), on_host, info);
  cudaDeviceSynchronize();
  printf("%d %d %d %d %d\n", is(b[0], 1), is(b[1], 2), is(values[0], 1), is(values[1], 3), *info);

  // The first reflection turns the column 3, 4 into one of length 5.
  a = on_device(std::vector<T>{3, 4, 1, 1});
  cusolverDnXgeqrf(handle, params, 2, 2, type, a, 2, type, values, type, work, on_gpu, host.data(),
                   on_host, info);
  cudaDeviceSynchronize();
  printf("%d %d\n", is(std::abs(a[0]), 5), *info);
}

int main() {
  cusolverDnHandle_t handle;
  cusolverDnParams_t params;
  cusolverDnCreate(&handle);
  cusolverDnCreateParams(&params);
  cusolverDnSetAdvOptions(params, CUSOLVERDN_GETRF, CUSOLVER_ALG_0);
  solve<float>(handle, params, CUDA_R_32F);
  solve<double>(handle, params, CUDA_R_64F);
  // Halves, sizes of more than 31 bits, no handle, and eigenvalues of another type.
  printf("%d %d %d %d\n",
         cusolverDnXgetrf(handle, params, 1, 1, CUDA_R_16F, nullptr, 1, nullptr, CUDA_R_16F,
                          nullptr, 0, nullptr, 0, nullptr),
         cusolverDnXgetrf(handle, params, int64_t{1} << 32, 1, CUDA_R_32F, nullptr, 1, nullptr,
                          CUDA_R_32F, nullptr, 0, nullptr, 0, nullptr),
         cusolverDnXgetrf(nullptr, params, 1, 1, CUDA_R_32F, nullptr, 1, nullptr, CUDA_R_32F,
                          nullptr, 0, nullptr, 0, nullptr),
         cusolverDnXsyevd(handle, params, CUSOLVER_EIG_MODE_NOVECTOR, CUBLAS_FILL_MODE_LOWER, 0,
                          CUDA_R_64F, nullptr, 1, CUDA_R_32F, nullptr, CUDA_R_64F, nullptr, 0,
                          nullptr, 0, nullptr));
  cusolverDnDestroyParams(params);
  cusolverDnDestroy(handle);
}
