// cuBLAS reads no operand that does not affect the result: A and B if alpha is 0, k is 0, or the result is empty.
#include <cublasLt.h>
#include <cublasXt.h>
#include <cublas_v2.h>

#include <cmath>
#include <cstdio>

constexpr int n = 2;
cublasHandle_t handle;
float* c;
cuComplex* complex_c;
float** list;  // of one matrix
cuComplex** complex_list;
int wrong = 0;

// Fills c with numbers, makes the call, and compares c with `factor` times its old values.
template <class Call>
void expect(const char* name, float factor, const Call& call) {
  float before[4] = {1, 2, 3, 4}, after[4];
  cuComplex complex_before[4] = {{1, 0}, {2, 0}, {3, 0}, {4, 0}}, complex_after[4];
  cudaMemcpy(c, before, sizeof before, cudaMemcpyHostToDevice);
  cudaMemcpy(complex_c, complex_before, sizeof complex_before, cudaMemcpyHostToDevice);
  const cublasStatus_t status = call();
  cudaMemcpy(after, c, sizeof after, cudaMemcpyDeviceToHost);
  cudaMemcpy(complex_after, complex_c, sizeof complex_after, cudaMemcpyDeviceToHost);
  bool is_right = status == CUBLAS_STATUS_SUCCESS;
  const bool is_complex = name[0] == 'C';
  for (int i = 0; i < 4; ++i) {
    is_right = is_right && (is_complex ? complex_after[i].x : after[i]) == factor * before[i];
  }
  if (is_right) return;
  ++wrong;
  printf("%s: %s, %g %g %g %g\n", name, cublasGetStatusString(status), after[0], after[1], after[2],
         after[3]);
}

void real_calls(int k, float alpha_value) {
  const float alpha = alpha_value, beta = 2, *null = nullptr;
  const float* const* nulls = nullptr;
  const auto op = CUBLAS_OP_T;
  const int ld = 4;
  expect("Sgemm", 2, [&] {
    return cublasSgemm(handle, op, op, n, n, k, &alpha, null, ld, null, ld, &beta, c, n);
  });
  expect("SgemmBatched", 2, [&] {
    return cublasSgemmBatched(handle, op, op, n, n, k, &alpha, nulls, ld, nulls, ld, &beta, list, n,
                              1);
  });
  expect("SgemmStridedBatched", 2, [&] {
    return cublasSgemmStridedBatched(handle, op, op, n, n, k, &alpha, null, ld, 4, null, ld, 4,
                                     &beta, c, n, 4, 1);
  });
  expect("GemmEx", 2, [&] {
    return cublasGemmEx(handle, op, op, n, n, k, &alpha, null, CUDA_R_32F, ld, null, CUDA_R_32F, ld,
                        &beta, c, CUDA_R_32F, n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
  });
  expect("GemmBatchedEx", 2, [&] {
    return cublasGemmBatchedEx(handle, op, op, n, n, k, &alpha, (const void* const*)nulls,
                               CUDA_R_32F, ld, (const void* const*)nulls, CUDA_R_32F, ld, &beta,
                               (void* const*)list, CUDA_R_32F, n, 1, CUBLAS_COMPUTE_32F,
                               CUBLAS_GEMM_DEFAULT);
  });
  expect("Ssyrk", 2, [&] {
    cublasSsyrk(handle, CUBLAS_FILL_MODE_UPPER, op, n, k, &alpha, null, ld, &beta, c, n);
    const float one = 1;  // the element of the other part
    return cublasSgeam(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, &one, c + 1, n, &one, c + 1, n,
                       c + 1, n);
  });
  expect("Ssyr2k", 2, [&] {
    cublasSsyr2k(handle, CUBLAS_FILL_MODE_UPPER, op, n, k, &alpha, null, ld, null, ld, &beta, c, n);
    const float two = 2;
    return cublasSscal(handle, 1, &two, c + 1, 1);
  });
  expect("Cgemm", 2, [&] {
    const cuComplex a = {alpha, 0}, b = {beta, 0}, *none = nullptr;
    return cublasCgemm(handle, op, op, n, n, k, &a, none, ld, none, ld, &b, complex_c, n);
  });
  expect("CgemmBatched", 2, [&] {
    const cuComplex a = {alpha, 0}, b = {beta, 0};
    const cuComplex* const* none = nullptr;
    return cublasCgemmBatched(handle, op, op, n, n, k, &a, none, ld, none, ld, &b, complex_list, n,
                              1);
  });
  expect("XtSgemm", 2, [&] {
    cublasXtHandle_t xt;
    cublasXtCreate(&xt);
    const cublasStatus_t status =
        cublasXtSgemm(xt, op, op, n, n, k, &alpha, null, ld, null, ld, &beta, c, n);
    cublasXtDestroy(xt);
    return status;
  });
}

void calls_with_matrices() {
  const float zero = 0, beta = 2, *null = nullptr;
  const float* const* nulls = nullptr;
  const auto left = CUBLAS_SIDE_LEFT;
  const auto upper = CUBLAS_FILL_MODE_UPPER;
  const auto op = CUBLAS_OP_N;
  const auto unit = CUBLAS_DIAG_NON_UNIT;
  expect("Ssymm", 2, [&] {
    return cublasSsymm(handle, left, upper, n, n, &zero, null, n, null, n, &beta, c, n);
  });
  expect("Strmm", 0, [&] {
    return cublasStrmm(handle, left, upper, op, unit, n, n, &zero, null, n, null, n, c, n);
  });
  expect("Strsm", 0,
         [&] { return cublasStrsm(handle, left, upper, op, unit, n, n, &zero, null, n, c, n); });
  expect("StrsmBatched", 0, [&] {
    return cublasStrsmBatched(handle, left, upper, op, unit, n, n, &zero, nulls, n, list, n, 1);
  });
  expect("Sgemv", 2,
         [&] { return cublasSgemv(handle, op, 4, n, &zero, null, 4, null, 1, &beta, c, 1); });
  expect("SgemvStridedBatched", 2, [&] {
    return cublasSgemvStridedBatched(handle, op, 4, n, &zero, null, 4, 0, null, 1, 0, &beta, c, 1,
                                     0, 1);
  });
  expect("Ssymv", 2,
         [&] { return cublasSsymv(handle, upper, 4, &zero, null, 4, null, 1, &beta, c, 1); });
  expect("Sspmv", 2,
         [&] { return cublasSspmv(handle, upper, 4, &zero, null, null, 1, &beta, c, 1); });
  expect("Sger", 1, [&] { return cublasSger(handle, n, n, &zero, null, 1, null, 1, c, n); });
  expect("Ssyr", 1, [&] { return cublasSsyr(handle, upper, n, &zero, null, 1, c, n); });
  expect("Ssyr2", 1, [&] { return cublasSsyr2(handle, upper, n, &zero, null, 1, null, 1, c, n); });
  expect("Saxpy", 1, [&] { return cublasSaxpy(handle, 4, &zero, null, 1, c, 1); });
}

// Results of 0 rows or columns.
void calls_without_results(int m, int n) {
  const float one = 1, *null = nullptr;
  float* none = nullptr;
  const auto left = CUBLAS_SIDE_LEFT, right = CUBLAS_SIDE_RIGHT;
  const auto upper = CUBLAS_FILL_MODE_UPPER;
  const auto op = CUBLAS_OP_N;
  const auto unit = CUBLAS_DIAG_NON_UNIT;
  const int ld = 4;
  expect("Sgemm", 1, [&] {
    return cublasSgemm(handle, op, op, m, n, 4, &one, null, ld, null, ld, &one, none, ld);
  });
  expect("SgemmStridedBatched", 1, [&] {
    return cublasSgemmStridedBatched(handle, op, op, m, n, 4, &one, null, ld, 4, null, ld, 4, &one,
                                     none, ld, 4, 3);
  });
  expect("Cgemm", 1, [&] {
    const cuComplex a = {1, 0}, *no_complex = nullptr;
    return cublasCgemm(handle, op, op, m, n, 4, &a, no_complex, ld, no_complex, ld, &a,
                       (cuComplex*)none, ld);
  });
  for (const auto side : {left, right}) {
    expect("Ssymm", 1, [&] {
      return cublasSsymm(handle, side, upper, m, n, &one, null, ld, null, ld, &one, none, ld);
    });
    expect("Strmm", 1, [&] {
      return cublasStrmm(handle, side, upper, op, unit, m, n, &one, null, ld, null, ld, none, ld);
    });
    expect("Strsm", 1, [&] {
      return cublasStrsm(handle, side, upper, op, unit, m, n, &one, null, ld, none, ld);
    });
  }
  if (m == 0) {
    expect("Sgemv", 1,
           [&] { return cublasSgemv(handle, op, m, n, &one, null, ld, null, 1, &one, none, 1); });
    expect("Sgemv transposed", 1, [&] {
      return cublasSgemv(handle, CUBLAS_OP_T, n, m, &one, null, ld, null, 1, &one, none, 1);
    });
  }
  expect("Sger", 1, [&] { return cublasSger(handle, m, n, &one, null, 1, null, 1, none, ld); });
}

int main() {
  cublasCreate(&handle);
  cudaMalloc(&c, 4 * sizeof(float));
  cudaMalloc(&complex_c, 4 * sizeof(cuComplex));
  cudaMalloc(&list, sizeof(float*));
  cudaMalloc(&complex_list, sizeof(cuComplex*));
  cudaMemcpy(list, &c, sizeof c, cudaMemcpyHostToDevice);
  cudaMemcpy(complex_list, &complex_c, sizeof complex_c, cudaMemcpyHostToDevice);
  real_calls(3, 0);
  real_calls(0, 1);
  calls_with_matrices();
  calls_without_results(0, 3);
  calls_without_results(3, 0);
  // An operand that is read must exist. NaN in an operand that is not read leaves the result alone.
  const float zero = 0, one = 1, *null = nullptr;
  float not_a_number[4] = {NAN, NAN, NAN, NAN}, *a;
  cudaMalloc(&a, sizeof not_a_number);
  cudaMemcpy(a, not_a_number, sizeof not_a_number, cudaMemcpyHostToDevice);
  expect("Sgemm of NaN", 1, [&] {
    return cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &zero, a, n, a, n, &one, c, n);
  });
  expect("Sgemv of NaN", 1,
         [&] { return cublasSgemv(handle, CUBLAS_OP_N, n, n, &zero, a, n, a, 1, &one, c, 1); });
  printf("%d wrong, %d\n", wrong,
         cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, null, n, a, n, &one, c, n) !=
             CUBLAS_STATUS_SUCCESS);
  cudaFree(a);
  cudaFree(c);
  cudaFree(complex_c);
  cudaFree(list);
  cudaFree(complex_list);
  cublasDestroy(handle);
}
