// BLAS calls on symmetric, hermitian, triangular, banded and packed matrices, against the same
// products by dense matrices.

#include <cublas_v2.h>

#include <complex>
#include <cstdio>
#include <vector>

using Complex = std::complex<double>;
using Vector = std::vector<Complex>;
constexpr int n = 5, m = 4;

struct Matrix {
  int rows, cols;
  Vector at;
  Complex& operator()(int i, int j) { return at[j * rows + i]; }
  const Complex& operator()(int i, int j) const { return at[j * rows + i]; }
};

template <class At>
Matrix make(int rows, int cols, At at) {
  Matrix made{rows, cols, Vector(rows * cols)};
  for (int j = 0; j < cols; ++j)
    for (int i = 0; i < rows; ++i) made(i, j) = at(i, j);
  return made;
}

Matrix times(const Matrix& a, const Matrix& b) {
  return make(a.rows, b.cols, [&](int i, int j) {
    Complex sum = 0;
    for (int k = 0; k < a.cols; ++k) sum += a(i, k) * b(k, j);
    return sum;
  });
}

Matrix some(int rows, int cols, int seed) {
  return make(rows, cols, [&](int i, int j) {
    return Complex((i * 7 + j * 3 + seed) % 5 - 2, (i * 2 + j * 5 + seed) % 7 - 3);
  });
}

cuDoubleComplex* on_device(const Vector& values) {
  cuDoubleComplex* device;
  cudaMalloc(&device, values.size() * sizeof(Complex));
  cudaMemcpy(device, values.data(), values.size() * sizeof(Complex), cudaMemcpyHostToDevice);
  return device;
}

int wrong = 0;

void expect(const char* what, cublasStatus_t status, cuDoubleComplex* device, const Matrix& right) {
  Vector found(right.at.size());
  cudaMemcpy(found.data(), device, found.size() * sizeof(Complex), cudaMemcpyDeviceToHost);
  double most = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    most = std::max(most, std::abs(found[i] - right.at[i]));
  }
  if (status == CUBLAS_STATUS_SUCCESS && most < 1e-12) return;
  std::printf("%s: status %d, error %g\n", what, status, most);
  ++wrong;
}

int main() {
  cublasHandle_t blas;
  cublasCreate(&blas);
  const Complex two(2, 1), half(0.5, -1);
  const auto alpha = reinterpret_cast<const cuDoubleComplex*>(&two);
  const auto beta = reinterpret_cast<const cuDoubleComplex*>(&half);
  const double real = 3;
  const Matrix a = some(n, n, 1), x = some(n, 1, 2), y = some(n, 1, 3), b = some(n, m, 4);
  const auto scaled_sum = [&](const Matrix& p, const Matrix& q) {
    return make(p.rows, p.cols, [&](int i, int j) { return two * p(i, j) + half * q(i, j); });
  };
  const auto adjoint = [](const Matrix& p) {
    return make(p.cols, p.rows, [&](int i, int j) { return std::conj(p(j, i)); });
  };

  const Matrix hermitian = make(n, n, [&](int i, int j) {
    return i == j ? Complex(a(i, i).real()) : i > j ? a(i, j) : std::conj(a(j, i));
  });
  const Matrix lower = make(n, n, [&](int i, int j) {
    return i == j ? a(i, i) + Complex(9) : i > j ? a(i, j) : Complex(0);
  });
  const Matrix narrow =
      make(n, n, [&](int i, int j) { return i - j <= 2 && j - i <= 1 ? a(i, j) : Complex(0); });

  auto to = on_device(y.at);
  expect("Zhemv",
         cublasZhemv(blas, CUBLAS_FILL_MODE_LOWER, n, alpha, on_device(a.at), n, on_device(x.at), 1,
                     beta, to, 1),
         to, scaled_sum(times(hermitian, x), y));

  Vector packed;
  for (int j = 0; j < n; ++j)
    for (int i = j; i < n; ++i) packed.push_back(a(i, j));
  to = on_device(y.at);
  expect("Zhpmv",
         cublasZhpmv(blas, CUBLAS_FILL_MODE_LOWER, n, alpha, on_device(packed), on_device(x.at), 1,
                     beta, to, 1),
         to, scaled_sum(times(hermitian, x), y));

  Vector bands(4 * n);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i)
      if (i - j <= 2 && j - i <= 1) bands[1 + i - j + j * 4] = a(i, j);
  to = on_device(y.at);
  expect("Zgbmv",
         cublasZgbmv(blas, CUBLAS_OP_C, n, n, 2, 1, alpha, on_device(bands), 4, on_device(x.at), 1,
                     beta, to, 1),
         to, scaled_sum(times(adjoint(narrow), x), y));

  to = on_device(x.at);
  expect("Ztrmv",
         cublasZtrmv(blas, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_C, CUBLAS_DIAG_NON_UNIT, n,
                     on_device(lower.at), n, to, 1),
         to, times(adjoint(lower), x));
  expect("Ztrsv",
         cublasZtrsv(blas, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_C, CUBLAS_DIAG_NON_UNIT, n,
                     on_device(lower.at), n, to, 1),
         to, x);

  to = on_device(hermitian.at);
  const Matrix outer = times(x, adjoint(x)), mixed = times(x, adjoint(y));
  expect("Zher", cublasZher(blas, CUBLAS_FILL_MODE_UPPER, n, &real, on_device(x.at), 1, to, n), to,
         make(n, n, [&](int i, int j) {
           return hermitian(i, j) + (i <= j ? real * outer(i, j) : Complex(0));
         }));
  to = on_device(hermitian.at);
  expect("Zher2",
         cublasZher2(blas, CUBLAS_FILL_MODE_UPPER, n, alpha, on_device(x.at), 1, on_device(y.at), 1,
                     to, n),
         to, make(n, n, [&](int i, int j) {
           return hermitian(i, j) +
                  (i <= j ? two * mixed(i, j) + std::conj(two * mixed(j, i)) : Complex(0));
         }));

  to = on_device(b.at);
  expect("Zhemm",
         cublasZhemm(blas, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, n, m, alpha, on_device(a.at),
                     n, on_device(b.at), n, beta, to, n),
         to, scaled_sum(times(hermitian, b), b));
  to = on_device(hermitian.at);
  const Matrix gram = times(b, adjoint(b));
  expect("Zherk",
         cublasZherk(blas, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, n, m, &real, on_device(b.at), n,
                     &real, to, n),
         to, make(n, n, [&](int i, int j) {
           return i >= j ? real * (gram(i, j) + hermitian(i, j)) : hermitian(i, j);
         }));
  to = on_device(b.at);
  const cublasStatus_t solved =
      cublasZtrsm(blas, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT,
                  n, m, alpha, on_device(lower.at), n, to, n);
  auto back = on_device(b.at);
  cublasZtrmm(blas, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, n,
              m, beta, on_device(lower.at), n, to, n, back, n);
  expect("Ztrsm, Ztrmm", solved, back,
         make(n, m, [&](int i, int j) { return two * half * b(i, j); }));
  to = on_device(b.at);
  expect("Zgemm",
         cublasZgemm(blas, CUBLAS_OP_C, CUBLAS_OP_N, n, m, n, alpha, on_device(a.at), n,
                     on_device(b.at), n, beta, to, n),
         to, scaled_sum(times(adjoint(a), b), b));
  to = on_device(b.at);
  expect("Zdgmm",
         cublasZdgmm(blas, CUBLAS_SIDE_LEFT, n, m, on_device(b.at), n, on_device(x.at), 1, to, n),
         to, make(n, m, [&](int i, int j) { return x(i, 0) * b(i, j); }));

  cuDoubleComplex dot;
  cublasZdotc(blas, n, on_device(x.at), 1, on_device(y.at), 1, &dot);
  double norm = 0, sum = 0;
  int largest = 0;
  cublasDznrm2(blas, n, on_device(x.at), 1, &norm);
  cublasDzasum(blas, n, on_device(x.at), 1, &sum);
  cublasIzamax(blas, n, on_device(x.at), 1, &largest);
  std::printf("%g %g, %.4f, %g, %d\n", dot.x, dot.y, norm, sum, largest);

  float p = 3, q = 4, c, s;
  cublasSrotg(blas, &p, &q, &c, &s);
  float d1 = 2, d2 = 3, x1 = 4, y1 = 5, five[5];
  cublasSrotmg(blas, &d1, &d2, &x1, &y1, five);
  std::printf("%g %.2f %.2f, %g: %.4f %.4f\n", p, c, s, five[0], five[1], five[4]);
  const float diagonal[] = {2, 0, 0, 4}, rows[] = {1, 3, 2, 4}, one = 1, nothing = 0;
  float *list[3], inverse[4], product[4], **lists;
  for (float*& matrix : list) cudaMalloc(&matrix, sizeof(inverse));
  cudaMalloc(&lists, sizeof(list));
  cudaMemcpy(list[0], diagonal, sizeof(diagonal), cudaMemcpyHostToDevice);
  cudaMemcpy(list[1], rows, sizeof(rows), cudaMemcpyHostToDevice);
  cudaMemcpy(lists, list, sizeof(list), cudaMemcpyHostToDevice);
  int* info;
  cudaMalloc(&info, sizeof(int));
  cublasGemmBatchedEx(blas, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, (void**)lists, CUDA_R_32F, 2,
                      (void**)(lists + 1), CUDA_R_32F, 2, &nothing, (void**)(lists + 2), CUDA_R_32F,
                      2, 1, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
  cudaMemcpy(product, list[2], sizeof(product), cudaMemcpyDeviceToHost);
  cublasSmatinvBatched(blas, 2, lists, 2, lists + 2, 2, info, 1);
  cudaMemcpy(inverse, list[2], sizeof(inverse), cudaMemcpyDeviceToHost);
  std::printf("%g %g %g %g, %g %g\n", product[0], product[1], product[2], product[3], inverse[0],
              inverse[3]);
  std::printf("%d wrong, %d\n", wrong,
              cublasSgemv(blas, CUBLAS_OP_N, 4, 4, &p, nullptr, 2, nullptr, 1, &p, nullptr, 1));
}
