// Cooperative groups: groups of a size known when the program runs, tiles, labels, shuffles of
// structures, scans, and the barrier of the grid.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <cstdio>

namespace cg = cooperative_groups;

struct Triple {
  int a;
  double b;
  short c;
};

__device__ int tree_sum(cg::thread_group group, int* scratch, int value) {
  const int rank = group.thread_rank();
  for (int i = group.size() / 2; i > 0; i /= 2) {
    scratch[rank] = value;
    group.sync();
    if (rank < i) value += scratch[rank + i];
    group.sync();
  }
  return value;
}

__global__ void partitions(int* out) {
  __shared__ int scratch[64];
  const cg::thread_block block = cg::this_thread_block();
  const int rank = block.thread_rank();
  int sum = tree_sum(block, scratch, rank);
  if (rank == 0) out[0] = sum;
  const cg::thread_group part = cg::tiled_partition(block, 16);
  sum = tree_sum(part, scratch + rank / 16 * 16, part.thread_rank());
  if (rank == 0) out[1] = sum;

  const cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  const int lane = warp.thread_rank();
  const Triple other = warp.shfl_xor(Triple{lane, 2.5 * lane, static_cast<short>(lane)}, 3);
  if (rank == 5) out[2] = other.a + static_cast<int>(other.b) + other.c;
  const auto same = cg::labeled_partition(warp, lane % 3);
  const int members = cg::reduce(same, 1, cg::plus<int>());
  if (rank == 1) out[3] = members * 100 + same.meta_group_rank() * 10 + same.meta_group_size();
  const int upto = cg::inclusive_scan(warp, 2), before = cg::exclusive_scan(warp, 2);
  if (rank == 31) out[4] = upto * 100 + before;
  const auto half = cg::binary_partition(warp, lane < 5);
  if (rank == 31) out[5] = half.size();
}

__global__ void rounds(int* count) {
  const cg::grid_group grid = cg::this_grid();
  for (int round = 0; round < 3; ++round) {
    if (threadIdx.x == 0) atomicAdd(&count[round], 1);
    grid.sync();
    if (threadIdx.x == 0 && count[round] != static_cast<int>(grid.num_blocks())) count[7] = -1;
  }
}

int main() {
  int* out = nullptr;
  cudaMallocManaged(&out, 8 * sizeof(int));
  partitions<<<1, 64>>>(out);
  cudaDeviceSynchronize();
  for (int i = 0; i < 6; ++i) std::printf("%d ", out[i]);
  cudaMemset(out, 0, 8 * sizeof(int));
  void* arguments[] = {&out};
  cudaLaunchCooperativeKernel(rounds, dim3(8), dim3(64), arguments);
  std::printf("%s ", cudaGetErrorName(cudaDeviceSynchronize()));
  std::printf("%d %d\n", out[2], out[7]);
  cudaFree(out);
}
