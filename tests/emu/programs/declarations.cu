// Declarations that nvcc accepts: cluster sizes, an object in dynamic shared memory, attributes
// after __device__, a dependent template without `template`, definitions that omit the specifiers
// of their declarations, a launch of a kernel template in a __host__ __device__ function.

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

struct Doubles {
  template <int N>
  __host__ __device__ static int value() {
    return 2 * N;
  }
};

template <class T, int N>
__host__ __device__ int value_of() {
  return T::value<N>();
}

__global__ void convert(volatile __half* half, int* result) {
  const __half copy = *half;
  *result =
      Count{static_cast<int>(static_cast<float>(copy))}.doubled() / 2 * value_of<Doubles, 1>();
}

class Line {
 public:
  __host__ __device__ Line(float slope, float offset = 1);
  __device__ float at(float x) const;

 private:
  float slope_, offset_;
};
__host__ __device__ float half_of(float x);

Line::Line(float slope, float offset) : slope_{slope}, offset_(offset) {}
float Line::at(float x) const { return half_of(slope_ * x) + offset_; }
float half_of(float x) { return x / 2; }

template <class T>
__global__ void evaluate(Line line, T* values) {
  values[threadIdx.x] = static_cast<T>(line.at(threadIdx.x));
}

template <class T>
__host__ __device__ void evaluate_all(T* values) {
#ifndef __CUDA_ARCH__
  evaluate<<<1, 32>>>(Line(half_of(8)), values);
#endif
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
  evaluate<<<1, 32>>>(Line(2), result);
  evaluate_all(result);
  cudaDeviceSynchronize();
  printf("%d %d\n", result[0], result[31]);
  cudaFree(half);
  cudaFree(result);
}
