// LU of a batch of small matrices, products of matrices in host memory, and increments of 0.

#include <cublasXt.h>

#include <cstdio>
#include <vector>

template <class T>
T* on_device(const std::vector<T>& host) {
  T* device = nullptr;
  cudaMalloc(&device, host.size() * sizeof(T));
  cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
  return device;
}

template <class T>
std::vector<T> on_host(const T* device, int count) {
  std::vector<T> host(count);
  cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost);
  return host;
}

int main() {
  cublasHandle_t blas;
  cublasCreate(&blas);
  // By columns: (0 2; 4 1) and a singular one.
  double* a[] = {on_device<double>({0, 4, 2, 1}), on_device<double>({1, 2, 2, 4})};
  double* c[] = {on_device<double>({0, 0, 0, 0}), on_device<double>({0, 0, 0, 0})};
  double* b[] = {on_device<double>({2, 9}), on_device<double>({1, 1})};
  double** const all_a = on_device<double*>({a[0], a[1]});
  double** const all_c = on_device<double*>({c[0], c[1]});
  double** const all_b = on_device<double*>({b[0], b[1]});
  int* const pivots = on_device<int>({0, 0, 0, 0});
  int* const info = on_device<int>({9, 9});
  cublasDgetrfBatched(blas, 2, all_a, 2, pivots, info, 2);
  std::printf("%d %d ", on_host(info, 2)[0], on_host(info, 2)[1]);
  cublasDgetriBatched(blas, 2, all_a, 2, pivots, all_c, 2, info, 1);
  for (const double x : on_host(c[0], 4)) std::printf("%g ", x);
  int wrong = 9;
  cublasDgetrsBatched(blas, CUBLAS_OP_N, 2, 1, all_a, 2, pivots, all_b, 2, &wrong, 1);
  std::printf("%g %g %d\n", on_host(b[0], 2)[0], on_host(b[0], 2)[1], wrong);

  cublasXtHandle_t many;
  cublasXtCreate(&many);
  int devices[] = {0}, none[] = {7};
  const float left[] = {1, 2, 3, 4, 5, 6}, right[] = {1, 0, 2};  // 3 x 2 by columns, transposed
  float product[] = {1, 1}, alpha = 2, beta = 10;
  std::printf("%d %d ", cublasXtDeviceSelect(many, 1, devices),
              cublasXtDeviceSelect(many, 1, none));
  const cublasStatus_t status = cublasXtSgemm(many, CUBLAS_OP_T, CUBLAS_OP_N, 2, 1, 3, &alpha, left,
                                              3, right, 3, &beta, product, 2);
  std::printf("%g %g %d\n", product[0], product[1], status);

  double* const three = on_device<double>({3});
  double* const ends = on_device<double>({1, 2});
  const double factor = 2, none_at_all = 0;
  cublasDaxpy(blas, 2, &factor, three, 0, ends, 1);
  std::printf(
      "%g %g %d\n", on_host(ends, 2)[0], on_host(ends, 2)[1],
      cublasDgemv(blas, CUBLAS_OP_N, 2, 2, &factor, a[0], 2, three, 0, &none_at_all, ends, 1));
}
