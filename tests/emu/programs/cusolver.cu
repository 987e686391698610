// LU, Cholesky and QR, and what solves with them: the largest error of each solution.

#include <cublas_v2.h>
#include <cusolverDn.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

constexpr int n = 5, columns = 2, lda = 7;

template <class T>
T* on_device(const std::vector<T>& host) {
  T* device = nullptr;
  cudaMalloc(&device, host.size() * sizeof(T));
  cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
  return device;
}

double matrix(int i, int j, bool symmetric) {
  return (i == j ? 6.0 : 0.0) + (symmetric ? 1.0 / (1 + std::abs(i - j)) : (i * 3 + j * 5) % 7);
}
double solution(int i, int j) { return i - 2 * j + 0.5; }

// a, and the right sides that belong to the solution.
std::vector<double> make_a(bool symmetric) {
  std::vector<double> a(n * lda);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) a[j * lda + i] = matrix(i, j, symmetric);
  }
  return a;
}
std::vector<double> make_b(bool symmetric, bool transposed) {
  std::vector<double> b(n * columns);
  for (int j = 0; j < columns; ++j) {
    for (int i = 0; i < n; ++i) {
      for (int k = 0; k < n; ++k) {
        b[j * n + i] +=
            (transposed ? matrix(k, i, symmetric) : matrix(i, k, symmetric)) * solution(k, j);
      }
    }
  }
  return b;
}

bool is_solution(const double* b) {
  std::vector<double> x(n * columns);
  cudaMemcpy(x.data(), b, x.size() * sizeof(double), cudaMemcpyDeviceToHost);
  double error = 0;
  for (int j = 0; j < columns; ++j) {
    for (int i = 0; i < n; ++i) error = std::max(error, std::abs(x[j * n + i] - solution(i, j)));
  }
  return error < 1e-12;
}

int main() {
  cusolverDnHandle_t solver;
  cusolverDnCreate(&solver);
  cublasHandle_t blas;
  cublasCreate(&blas);
  double* work = on_device(std::vector<double>(64));
  double* tau = on_device(std::vector<double>(n));
  int* pivots = on_device(std::vector<int>(n));
  int* info = on_device(std::vector<int>(1));
  const auto value_of_info = [&] {
    int value = 0;
    cudaMemcpy(&value, info, sizeof value, cudaMemcpyDeviceToHost);
    return value;
  };
  const double one = 1;
  int size = 0;

  double* a = on_device(make_a(false));
  cusolverDnDgetrf_bufferSize(solver, n, n, a, lda, &size);
  cusolverDnDgetrf(solver, n, n, a, lda, work, pivots, info);
  for (const cublasOperation_t op : {CUBLAS_OP_N, CUBLAS_OP_T}) {
    double* b = on_device(make_b(false, op == CUBLAS_OP_T));
    cusolverDnDgetrs(solver, op, n, columns, a, lda, pivots, b, n, info);
    printf("%d ", is_solution(b));
  }
  for (const cublasFillMode_t part : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER}) {
    double* s = on_device(make_a(true));
    double* b = on_device(make_b(true, false));
    cusolverDnDpotrf(solver, part, n, s, lda, work, size, info);
    cusolverDnDpotrs(solver, part, n, columns, s, lda, b, n, info);
    printf("%d ", is_solution(b));
  }
  double* q = on_device(make_a(false));
  double* b = on_device(make_b(false, false));
  cusolverDnDgeqrf(solver, n, n, q, lda, tau, work, size, info);
  cusolverDnDormqr(solver, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, n, columns, n, q, lda, tau, b, n, work,
                   size, info);
  cublasDtrsm(blas, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, n,
              columns, &one, q, lda, b, n);
  printf("%d %d\n", is_solution(b), value_of_info());

  // x A = b, of one row; singular, indefinite and wrong arguments.
  double* row = on_device(std::vector<double>{3, 5});
  double* small = on_device(std::vector<double>{3, 9, 0, 2});
  cublasDtrsm(blas, CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_T, CUBLAS_DIAG_NON_UNIT, 1,
              2, &one, on_device(std::vector<double>{3, 9, 1, 2}), 2, row, 1);
  double x[2];
  cudaMemcpy(x, row, sizeof x, cudaMemcpyDeviceToHost);
  printf("%.3f %.3f ", x[0], x[1]);
  cusolverDnDgetrf(solver, 2, 2, on_device(std::vector<double>{1, 2, 2, 4}), 2, work, pivots, info);
  printf("%d ", value_of_info());
  cusolverDnDpotrf(solver, CUBLAS_FILL_MODE_LOWER, 2, on_device(std::vector<double>{1, 2, 2, 1}), 2,
                   work, size, info);
  printf("%d ", value_of_info());
  printf("%d %d\n", cusolverDnDgetrf(solver, 2, 2, small, 1, work, pivots, info),
         cusolverDnDgetrf(nullptr, 2, 2, small, 2, work, pivots, info));
}
