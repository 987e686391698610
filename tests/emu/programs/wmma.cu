// D = A B + C on tensor cores, as tutorials write it: a 16x16 tile of D for each warp, first with
// fragments loaded from global memory, then from tiles that the block keeps in shared memory.
#include <mma.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

using namespace nvcuda;

const int TILE = 16;

__global__ void multiply(const half* a, const half* b, const float* c, float* d, int M, int N,
                         int K) {
  int warpM = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize;
  int warpN = blockIdx.y * blockDim.y + threadIdx.y;
  if (warpM * TILE >= M || warpN * TILE >= N) return;

  wmma::fragment<wmma::matrix_a, TILE, TILE, TILE, half, wmma::row_major> a_frag;
  wmma::fragment<wmma::matrix_b, TILE, TILE, TILE, half, wmma::col_major> b_frag;
  wmma::fragment<wmma::accumulator, TILE, TILE, TILE, float> acc_frag, c_frag;
  wmma::fill_fragment(acc_frag, 0.0f);
  for (int k = 0; k < K; k += TILE) {
    wmma::load_matrix_sync(a_frag, a + warpM * TILE * K + k, K);
    wmma::load_matrix_sync(b_frag, b + warpN * TILE * K + k, K);
    wmma::mma_sync(acc_frag, a_frag, b_frag, acc_frag);
  }
  float* tile = d + warpM * TILE * N + warpN * TILE;
  wmma::load_matrix_sync(c_frag, c + warpM * TILE * N + warpN * TILE, N, wmma::mem_row_major);
  for (int i = 0; i < c_frag.num_elements; i++) c_frag.x[i] = acc_frag.x[i] + 0.5f * c_frag.x[i];
  wmma::store_matrix_sync(tile, c_frag, N, wmma::mem_row_major);
}

// A block of 4 warps has 32x32 of D; B is row-major in shared memory.
__global__ void multiply_shared(const half* a, const half* b, const float* c, float* d, int M,
                                int N, int K) {
  const int PAD = 8;
  __shared__ half As[2 * TILE][TILE + PAD], Bs[TILE][2 * TILE + PAD];
  int warp = threadIdx.x / 32, warp_row = warp / 2 * TILE, warp_col = warp % 2 * TILE;
  int row0 = blockIdx.y * 2 * TILE, col0 = blockIdx.x * 2 * TILE;
  wmma::fragment<wmma::accumulator, TILE, TILE, TILE, float> acc;
  wmma::fill_fragment(acc, 0.0f);
  for (int k0 = 0; k0 < K; k0 += TILE) {
    for (int i = threadIdx.x; i < 2 * TILE * TILE; i += blockDim.x) {
      As[i / TILE][i % TILE] = a[(row0 + i / TILE) * K + k0 + i % TILE];
      Bs[i % TILE][i / TILE] = b[(col0 + i / TILE) * K + k0 + i % TILE];
    }
    __syncthreads();
    wmma::fragment<wmma::matrix_a, TILE, TILE, TILE, half, wmma::row_major> a_frag;
    wmma::fragment<wmma::matrix_b, TILE, TILE, TILE, half, wmma::row_major> b_frag;
    wmma::load_matrix_sync(a_frag, &As[warp_row][0], TILE + PAD);
    wmma::load_matrix_sync(b_frag, &Bs[0][warp_col], 2 * TILE + PAD);
    wmma::mma_sync(acc, a_frag, b_frag, acc);
    __syncthreads();
  }
  long at = (long)(row0 + warp_row) * N + col0 + warp_col;
  wmma::fragment<wmma::accumulator, TILE, TILE, TILE, float> c_frag;
  wmma::load_matrix_sync(c_frag, c + at, N, wmma::mem_row_major);
  for (int i = 0; i < acc.num_elements; i++) acc.x[i] += 0.5f * c_frag.x[i];
  wmma::store_matrix_sync(d + at, acc, N, wmma::mem_row_major);
}

int main() {
  const int M = 64, N = 96, K = 80;
  std::vector<half> a(M * K), b(K * N);
  std::vector<float> c(M * N), d(M * N);
  for (int i = 0; i < M * K; ++i) a[i] = __float2half((i * 7 % 11) - 5.0f);
  for (int i = 0; i < K * N; ++i) b[i] = __float2half((i * 5 % 13) - 6.0f);
  for (int i = 0; i < M * N; ++i) c[i] = (i % 17) - 8.0f;
  half *da, *db;
  float *dc, *dd;
  cudaMalloc(&da, a.size() * sizeof(half));
  cudaMalloc(&db, b.size() * sizeof(half));
  cudaMalloc(&dc, c.size() * sizeof(float));
  cudaMalloc(&dd, d.size() * sizeof(float));
  cudaMemcpy(da, a.data(), a.size() * sizeof(half), cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), b.size() * sizeof(half), cudaMemcpyHostToDevice);
  cudaMemcpy(dc, c.data(), c.size() * sizeof(float), cudaMemcpyHostToDevice);
  int wrong[2] = {0, 0};
  for (int shared = 0; shared < 2; ++shared) {
    if (shared) {
      multiply_shared<<<dim3(N / 32, M / 32), 128>>>(da, db, dc, dd, M, N, K);
    } else {
      dim3 block(64, 2), grid((M + 31) / 32, (N + 31) / 32);
      multiply<<<grid, block>>>(da, db, dc, dd, M, N, K);
    }
    cudaMemcpy(d.data(), dd, d.size() * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < M; ++i) {
      for (int j = 0; j < N; ++j) {
        float sum = 0.5f * c[i * N + j];
        for (int k = 0; k < K; ++k) sum += __half2float(a[i * K + k]) * __half2float(b[j * K + k]);
        wrong[shared] += d[i * N + j] != sum;
      }
    }
  }
  printf("%d and %d of %d elements wrong\n", wrong[0], wrong[1], M * N);
  cudaFree(da);
  cudaFree(db);
  cudaFree(dc);
  cudaFree(dd);
  return wrong[0] + wrong[1] != 0;
}
