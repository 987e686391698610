// A histogram whose bins are shared out over the blocks of a cluster, and sums of neighbours: shared
// memory of other blocks by map_shared_rank.
#include <cooperative_groups.h>
#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

constexpr int blocks = 4, threads = 64, bins_of_block = 8, bins = blocks * bins_of_block;

__global__ void __cluster_dims__(blocks, 1, 1)
    histogram(const int* values, int count, int* result) {
  __shared__ int mine[bins_of_block];
  const cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x < bins_of_block) mine[threadIdx.x] = 0;
  cluster.sync();
  for (int i = cluster.thread_rank(); i < count; i += cluster.num_threads()) {
    const int bin = values[i];
    int* const place = cluster.map_shared_rank(mine, bin / bins_of_block);
    atomicAdd(place + bin % bins_of_block, 1);
  }
  cluster.sync();
  if (threadIdx.x < bins_of_block) {
    atomicAdd(&result[cluster.block_rank() * bins_of_block + threadIdx.x], mine[threadIdx.x]);
  }
}

__global__ void __cluster_dims__(blocks, 1, 1) neighbours(float4* sums, int* ranks) {
  __shared__ float4 mine[threads];
  const cg::cluster_group cluster = cg::this_cluster();
  const float own = cluster.thread_index().x;
  mine[threadIdx.x] = make_float4(own, 1, 2, 3);
  cluster.sync();
  const int next = (cluster.block_rank() + 1) % cluster.num_blocks();
  const float4* const theirs = cluster.map_shared_rank(mine, next);
  if (threadIdx.x == 0) ranks[cluster.block_rank()] = cluster.query_shared_rank(theirs);
  const float4 a = mine[threadIdx.x], b = theirs[threadIdx.x];
  sums[cluster.thread_rank()] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
  cluster.sync();
}

int main() {
  constexpr int count = 1000;
  int *values, *result, *ranks;
  float4* sums;
  cudaMallocManaged(&values, count * sizeof(int));
  cudaMallocManaged(&result, bins * sizeof(int));
  cudaMallocManaged(&ranks, blocks * sizeof(int));
  cudaMallocManaged(&sums, blocks * threads * sizeof(float4));
  std::vector<int> expected(bins);
  for (int i = 0; i < count; ++i) expected[values[i] = i * i % bins] += 2;
  for (int i = 0; i < bins; ++i) result[i] = 0;
  histogram<<<2 * blocks, threads>>>(values, count, result);
  neighbours<<<blocks, threads>>>(sums, ranks);
  cudaDeviceSynchronize();
  int wrong = 0;
  for (int i = 0; i < bins; ++i) wrong += result[i] != expected[i];
  for (int i = 0; i < blocks * threads; ++i) {
    wrong += sums[i].x != i + (i + threads) % (blocks * threads) || sums[i].w != 6;
  }
  printf("%d wrong, neighbours %d %d %d %d\n", wrong, ranks[0], ranks[1], ranks[2], ranks[3]);
  cudaFree(values), cudaFree(result), cudaFree(ranks), cudaFree(sums);
}
