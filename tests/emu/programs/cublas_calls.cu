// cuBLAS beyond gemm and dot: vectors, matrices times vectors, batches, mixed types, cublasLt.
#include <cublasLt.h>
#include <cublas_v2.h>

#include <cstdio>

int main() {
  cublasHandle_t handle;
  cublasCreate(&handle);
  float host[8] = {1, 2, 3, 4, 5, 6, 7, 8}, back[8];
  float *a, *b, *c;
  cudaMalloc(&a, sizeof(host));
  cudaMalloc(&b, sizeof(host));
  cudaMalloc(&c, sizeof(host));
  cublasSetVector(8, sizeof(float), host, 1, a, 1);
  cublasSetMatrix(2, 4, sizeof(float), host, 2, b, 2);
  const float two = 2, one = 1, none = 0;
  cublasSaxpy(handle, 8, &two, a, 1, b, 1);  // b = 3, 6, ... 24
  cublasSscal(handle, 4, &two, b, 2);        // every second: 6, 6, 18, 12, 30, 18, 42, 24
  cublasGetVector(8, sizeof(float), b, 1, back, 1);
  std::printf("%g %g %g %g\n", back[0], back[1], back[6], back[7]);
  float norm = 0, sum = 0;
  int largest = 0;
  cublasSnrm2(handle, 2, a + 2, 1, &norm);  // 3, 4
  cublasSasum(handle, 8, a, 1, &sum);
  cublasIsamax(handle, 8, b, 1, &largest);
  std::printf("%g %g %d\n", norm, sum, largest);
  // [1 3; 2 4] times (5, 6), and its transpose.
  cublasSgemv(handle, CUBLAS_OP_N, 2, 2, &one, a, 2, a + 4, 1, &none, c, 1);
  cublasSgemv(handle, CUBLAS_OP_T, 2, 2, &one, a, 2, a + 4, 1, &none, c + 2, 1);
  // Two products of 2 x 2: each matrix of a squared.
  cublasGetVector(4, sizeof(float), c, 1, back, 1);
  std::printf("%g %g %g %g\n", back[0], back[1], back[2], back[3]);
  cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, a, 2, 4, a, 2, 4,
                            &none, c, 2, 4, 2);
  cublasGetVector(8, sizeof(float), c, 1, back, 1);
  std::printf("%g %g %g %g\n", back[0], back[3], back[4], back[7]);

  // The same product by cublasLt, with a bias for each row and rectified.
  const float bias[2] = {-8, 100};
  cublasSetVector(2, sizeof(float), bias, 1, b, 1);
  cublasLtHandle_t lt;
  cublasLtCreate(&lt);
  cublasLtMatmulDesc_t product;
  cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  const cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_RELU_BIAS;
  cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue,
                                 sizeof(epilogue));
  cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &b, sizeof(b));
  cublasLtMatrixLayout_t layout;
  cublasLtMatrixLayoutCreate(&layout, CUDA_R_32F, 2, 2, 2);
  std::printf("%s ", cublasGetStatusString(cublasLtMatmul(lt, product, &one, a, layout, a, layout,
                                                          &none, c, layout, c, layout, nullptr,
                                                          nullptr, 0, nullptr)));
  cublasGetVector(4, sizeof(float), c, 1, back, 1);
  std::printf("%g %g %g %g\n", back[0], back[1], back[2], back[3]);
  cublasLtMatrixLayoutDestroy(layout);
  cublasLtMatmulDescDestroy(product);
  cublasLtDestroy(lt);
  cublasDestroy(handle);
  cudaFree(a);
  cudaFree(b);
  cudaFree(c);
}
