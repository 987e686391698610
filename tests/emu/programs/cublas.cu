// cuBLAS beside a kernel, as a program does that compares the two.
#include <cublas_v2.h>

#include <cstdio>
#include <vector>

__global__ void scale(float* x, int n, float by) {
  const int i = threadIdx.x;
  if (i < n) x[i] *= by;
}

int main() {
  // Column-major: A is 2 x 3, B is 3 x 2.
  const std::vector<float> A = {1, 2, 3, 4, 5, 6}, B = {1, 0, 2, 0, 1, 3};
  float *dA, *dB, *dC, C[4];
  cudaMalloc(&dA, 24);
  cudaMalloc(&dB, 24);
  cudaMalloc(&dC, 16);
  cudaMemcpy(dA, A.data(), 24, cudaMemcpyHostToDevice);
  cudaMemcpy(dB, B.data(), 24, cudaMemcpyHostToDevice);
  cudaMemset(dC, 0, 16);
  scale<<<1, 32>>>(dA, 6, 2.0f);
  cublasHandle_t handle;
  cublasCreate(&handle);
  const float alpha = 1, beta = 0;
  cublasStatus_t status =
      cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 3, &alpha, dA, 2, dB, 3, &beta, dC, 2);
  cudaMemcpy(C, dC, 16, cudaMemcpyDeviceToHost);
  float dot = 0;
  cublasSdot(handle, 6, dA, 1, dB, 1, &dot);
  printf("%s %g %g %g %g %g\n", cublasGetStatusString(status), C[0], C[1], C[2], C[3], dot);
  status =
      cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, 2, 2, 3, &alpha, dA, 2, dB, 3, &beta, dC, 2);
  printf("%s\n", cublasGetStatusString(status));
  cublasDestroy(handle);
  cudaFree(dA);
  cudaFree(dB);
  cudaFree(dC);
}
