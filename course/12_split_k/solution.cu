// Exercise 12: split-K.
//
// If C is small and k is long, there are few tiles, and most SMs have no block. Let SPLITS blocks
// compute each tile of C, each with a part of k. Every block stores its partial sums to the
// workspace; the last one to finish adds them up, always in the same order, so that the result has
// the same bits every time.
//
//            k:  | part 0 | part 1 | part 2 | part 3 |
//   tile of C:    block 0  block 1  block 2  block 3      blockIdx.z
//                    \        \        /        /
//                     workspace: 4 tiles of sums     counts[tile]: blocks done
//                              |
//                     the last block adds in order 0, 1, 2, 3
//
//   ptx::atom_add_acq_rel_gpu(&count, 1u)   adds 1 and returns what was there; what this thread
//                                           has seen is seen by those that read the sum this way
//
// `counts` are zeros when the kernel begins. Goals: 16 blocks for four tiles; each element loaded
// once a tile.

#include "learn.cuh"

constexpr int BM = 32, BN = 32, BK = 32, SPLITS = 4;

constexpr Launch launch(int m, int n, int k) {
  const unsigned columns = ceil_div(n, BN), rows = ceil_div(m, BM);
  return {.grid = {columns, rows, SPLITS},
          .block = {BN, BM},
          .workspace_floats = columns * rows * SPLITS * BM * BN};
}

__global__ void gemm(int m, int n, int k, const float* a, const float* b, float* c,
                     float* workspace, unsigned* counts) {
  __shared__ float As[BM][BK];
  __shared__ float Bs[BK][BN];
  __shared__ bool is_last;
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * BM + ty, col = blockIdx.x * BN + tx;

  //@ todo: the part of k that belongs to this block
  //@ | const int k_begin = 0, k_end = k;
  const int length = ceil_div(ceil_div(k, SPLITS), BK) * BK;
  const int k_begin = blockIdx.z * length, k_end = min(k, k_begin + length);
  //@ end

  float sum = 0;
  for (int k0 = k_begin; k0 < k_end; k0 += BK) {
    As[ty][tx] = row < m && k0 + tx < k_end ? a[row * k + k0 + tx] : 0;
    Bs[ty][tx] = k0 + ty < k_end && col < n ? b[(k0 + ty) * n + col] : 0;
    __syncthreads();
    for (int i = 0; i < BK; ++i) sum += As[ty][i] * Bs[i][tx];
    __syncthreads();
  }

  const int tile = blockIdx.y * gridDim.x + blockIdx.x;
  float* const sums = workspace + tile * SPLITS * BM * BN + ty * BN + tx;  // of part 0
  //@ todo: store the partial sum, count this block, and leave unless it is the last of its tile
  sums[blockIdx.z * BM * BN] = sum;
  __syncthreads();  // all threads of the block have stored
  if (tx == 0 && ty == 0) {
    is_last = ptx::atom_add_acq_rel_gpu(&counts[tile], 1u) == SPLITS - 1;
  }
  __syncthreads();  // all threads know
  if (!is_last) return;
  //@ end

  //@ todo: add the partial sums in the order of their parts
  sum = 0;
  for (int part = 0; part < SPLITS; ++part) sum += sums[part * BM * BN];
  //@ end
  if (row < m && col < n) c[row * n + col] = sum;
}
