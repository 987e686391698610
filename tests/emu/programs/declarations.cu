// Declarations that nvcc takes: the size of clusters, an object in dynamic shared memory, attributes
// behind __device__, a dependent template without its word.

#include <cooperative_groups.h>
#include <cuda_fp16.h>

#include <cstdio>
#include <memory>

namespace cg = cooperative_groups;

template <int N>
struct Tile {
  alignas(128) int a[N];
  int b[N];
};

template <int N, int Blocks>
__global__ __launch_bounds__(N) void __cluster_dims__(Blocks, 1, 1) ranks(int* result) {
  extern __shared__ Tile<N> tile;
  tile.a[threadIdx.x] = threadIdx.x;
  tile.b[threadIdx.x] = threadIdx.x;
  const cg::cluster_group cluster = cg::this_cluster();
  cluster.sync();
  result[blockIdx.x * N + threadIdx.x] = 1000 * cluster.num_blocks() + 100 * cluster.block_rank() +
                                         tile.a[threadIdx.x] + tile.b[31 - threadIdx.x];
}

struct Count {
  int n;
  __host__ __device__ [[nodiscard]] int doubled() const { return 2 * n; }
};

template <class Allocator>
struct Bytes {
  using allocator = typename std::allocator_traits<Allocator>::rebind_alloc<char>;
};

__global__ void convert(volatile __half* half, int* result) {
  const __half copy = *half;
  *result = Count{static_cast<int>(static_cast<float>(copy))}.doubled();
}

int main() {
  int* result;
  __half* half;
  cudaMallocManaged(&result, 4 * 32 * sizeof(int));
  cudaMallocManaged(&half, sizeof(__half));
  ranks<32, 2><<<4, 32, sizeof(Tile<32>)>>>(result);
  cudaDeviceSynchronize();
  printf("%d %d %d %d\n", result[1], result[32 + 2], result[64 + 3], result[96 + 4]);
  ranks<32, 2><<<3, 32, sizeof(Tile<32>)>>>(result);
  printf("%s\n",
         cudaGetLastError() == cudaSuccess ? "launched" : "three blocks are no clusters of two");
  *half = __float2half(21);
  convert<<<1, 1>>>(half, result);
  cudaDeviceSynchronize();
  printf("%d %zu\n", *result, sizeof(Bytes<std::allocator<int>>::allocator::value_type));
  cudaFree(half);
  cudaFree(result);
}
