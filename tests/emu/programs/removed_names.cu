// Names of CUB and Thrust that CCCL 3 has removed.

#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/system/cuda/experimental/pinned_allocator.h>
#include <cstdio>
#include <cub/cub.cuh>

struct Square {
  __host__ __device__ int operator()(int a) const { return a * a; }
};

struct IsOdd : thrust::unary_function<int, bool> {
  __host__ __device__ bool operator()(int a) const { return a % 2 != 0; }
};

__global__ void reduce(int* results) {
  using Reduce = cub::BlockReduce<int, 64>;
  __shared__ typename Reduce::TempStorage storage;
  const int most = Reduce(storage).Reduce(static_cast<int>(threadIdx.x), cub::Max());
  if (threadIdx.x == 0) results[0] = most;
}

int main() {
  thrust::host_vector<int, thrust::cuda::experimental::pinned_allocator<int>> threes(2, 3);
  thrust::device_vector<int> results(threes);
  reduce<<<1, 64>>>(thrust::raw_pointer_cast(results.data()));
  cub::CountingInputIterator<int> first(1);
  cub::TransformInputIterator<int, Square, cub::CountingInputIterator<int>> squares(first,
                                                                                    Square());
  size_t bytes = 0;
  int* const sum = thrust::raw_pointer_cast(results.data()) + 1;
  cub::DeviceReduce::Reduce(nullptr, bytes, squares, sum, 10, cub::Sum(), 0);
  thrust::device_vector<char> storage(bytes);
  cub::DeviceReduce::Reduce(thrust::raw_pointer_cast(storage.data()), bytes, squares, sum, 10,
                            cub::Sum(), 0);
  printf("%d %d %d\n", static_cast<int>(results[0]), static_cast<int>(results[1]),
         static_cast<int>(thrust::count_if(results.begin(), results.end(), thrust::not1(IsOdd()))));
}
