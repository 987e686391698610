// A correct gemm with tiles in shared memory. Each mutant in this folder defines one of these
// macros differently.

#ifndef SYNC_AFTER
#define SYNC_AFTER __syncthreads()
#endif
#ifndef ROWS_GUARD
#define ROWS_GUARD row < m
#endif
#ifndef A_ROW
#define A_ROW lda
#endif
#ifndef OLD_C
#define OLD_C (beta == 0 ? 0 : beta * C[row * ldc + col])
#endif

constexpr int tile = 16;

__global__ void tiled(int m, int n, int k, float alpha, const float* A, int lda, const float* B,
                      int ldb, float beta, float* C, int ldc) {
  __shared__ float As[tile][tile], Bs[tile][tile];
  const int row = blockIdx.y * tile + threadIdx.y;
  const int col = blockIdx.x * tile + threadIdx.x;
  float sum = 0;
  for (int k0 = 0; k0 < k; k0 += tile) {
    const int a_col = k0 + threadIdx.x, b_row = k0 + threadIdx.y;
    As[threadIdx.y][threadIdx.x] = ROWS_GUARD && a_col < k ? A[row * A_ROW + a_col] : 0;
    Bs[threadIdx.y][threadIdx.x] = b_row < k && col < n ? B[b_row * ldb + col] : 0;
    __syncthreads();
    for (int i = 0; i < tile; ++i) sum += As[threadIdx.y][i] * Bs[i][threadIdx.x];
    SYNC_AFTER;
  }
  if (row < m && col < n) C[row * ldc + col] = alpha * sum + OLD_C;
}

inline void launch_tiled(int m, int n, int k, float alpha, const float* A, int lda, const float* B,
                         int ldb, float beta, float* C, int ldc) {
  tiled<<<dim3((n + tile - 1) / tile, (m + tile - 1) / tile), dim3(tile, tile)>>>(
      m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}
