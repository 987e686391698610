// Tiles of more than 32 threads: votes, shuffles, reductions, scans.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <cstdio>

namespace cg = cooperative_groups;

struct Pair {
  double a;
  int b;
};

template <unsigned Size>
__global__ void exchange(int* wrong) {
  __shared__ cg::block_tile_memory<256> memory;
  const cg::thread_block block = cg::this_thread_block(memory);
  const auto tile = cg::tiled_partition<Size>(block);
  const int rank = static_cast<int>(tile.thread_rank()), part = tile.meta_group_rank();
  const int value = 1000 * part + rank, last = Size - 1;
  const auto expect = [&](bool holds) {
    if (!holds) atomicAdd(wrong, 1);
  };
  expect(tile.shfl(value, 40) == 1000 * part + 40);
  expect(tile.shfl_up(value, 3) == (rank < 3 ? value : value - 3));
  expect(tile.shfl_down(value, 33) == (rank + 33 > last ? value : value + 33));
  expect(tile.shfl_xor(value, 32) == 1000 * part + (rank ^ 32));
  const Pair pair = tile.shfl(Pair{rank + 0.5, -rank}, last);
  expect(pair.a == last + 0.5 && pair.b == -last);
  expect(cg::reduce(tile, rank, cg::plus<int>()) == last * (last + 1) / 2);
  expect(cg::reduce(tile, rank * 0.5f, cg::greater<float>()) == last * 0.5f);
  expect(cg::inclusive_scan(tile, 2) == 2 * (rank + 1));
  expect(cg::exclusive_scan(tile, rank, cg::plus<int>()) == rank * (rank - 1) / 2);
  expect(tile.any(rank == last) && !tile.all(rank == last));
}

int main() {
  int* wrong;
  cudaMallocManaged(&wrong, sizeof(int));
  *wrong = 0;
  exchange<64><<<2, 256>>>(wrong);
  exchange<128><<<1, 256>>>(wrong);
  exchange<256><<<1, 256>>>(wrong);
  const cudaError_t error = cudaDeviceSynchronize();
  printf("%s %d\n", cudaGetErrorName(error), *wrong);
  cudaFree(wrong);
}
