// Exercise 24: one launch, and the same bits every time.
//
// Atomic additions come in any order, and sums of floats depend on it; and the result must be zero
// before the launch. Let each block store its sum instead. The last block to finish adds them up in
// the order of blocks.
//
//   block 0: workspace[0] = sum ---+
//   block 1: workspace[1] = sum ---+--> count: who finds gridDim.x - 1 is the last
//   block 2: workspace[2] = sum ---+          |
//                                      adds workspace[0], [1], [2] in this order --> result
//
//   ptx::atom_add_acq_rel_gpu(counts, 1u)   adds 1 and returns what was there; releases what this
//                                           thread did before, and acquires what others released
//
// counts[0] is zero at the start; the result is not. Goals: at most 8 blocks, no barrier too many,
// one atomic addition a block.

#include "learn.cuh"

constexpr int THREADS = 256, WARPS = THREADS / 32;
constexpr unsigned all_lanes = 0xffffffff;

constexpr Launch launch(int n) {
  const unsigned blocks = min(ceil_div(n, THREADS), 2 * multiprocessors);
  return {.grid = {blocks}, .block = {THREADS}, .workspace_floats = blocks};
}

__global__ void dot(int n, const float* x, const float* y, float* result, float* workspace,
                    unsigned* counts) {
  __shared__ float sums[WARPS];
  const int t = threadIdx.x, warp = t / 32, lane = t % 32;
  float sum = 0;
  for (int i = blockIdx.x * THREADS + t; i < n; i += gridDim.x * THREADS) sum += x[i] * y[i];
  for (int by = 16; by > 0; by /= 2) sum += __shfl_down_sync(all_lanes, sum, by);
  if (lane == 0) sums[warp] = sum;
  __syncthreads();
  if (t != 0) return;
  sum = 0;
  for (int i = 0; i < WARPS; ++i) sum += sums[i];
  //@ todo: store the block's sum, count the block, and leave unless it is the last
  workspace[blockIdx.x] = sum;
  if (ptx::atom_add_acq_rel_gpu(counts, 1u) != gridDim.x - 1) return;
  //@ end
  //@ todo: add up the sums of all blocks, in their order
  float total = 0;
  for (int block = 0; block < gridDim.x; ++block) total += workspace[block];
  *result = total;
  //@ end
}
