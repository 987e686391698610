// Macros with names that occur in the code that rung appends to the file.
#define T 16
#define device 0
#define call nothing
#define lda row_length

__global__ void product(int m, int n, int k, const float* A, const float* B, float* C) {
  const int row = blockIdx.y * T + threadIdx.y, column = blockIdx.x * T + threadIdx.x;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += A[row * k + i] * B[i * n + column];
  C[row * n + column] = sum;
}

void gemm(int m, int n, int k, const float* A, const float* B, float* C) {
  product<<<dim3((n + T - 1) / T, (m + T - 1) / T), dim3(T, T)>>>(m, n, k, A, B, C);
}
