// Kernels that launch kernels: recursion, templates, parameters of several sizes, streams.
#include <cstdio>
#include <cstdlib>

struct Range {
  char tag;
  double first;
  short count;
};

namespace work {

template <class T>
__global__ void fill(char tag, Range range, T* to, T step) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < range.count && tag == range.tag) to[i] = static_cast<T>(range.first) + step * i;
}

}  // namespace work

__device__ int levels;

__global__ void count_levels(int left) {
  levels = levels + 1;
  if (left > 0) count_levels<<<1, 1>>>(left - 1);
}

/// Each launch takes the place of the one before, so that there may be any number.
__global__ void count_tails(int left) {
  levels = levels + 1;
  if (left > 0) count_tails<<<1, 1, 0, cudaStreamTailLaunch>>>(left - 1);
}

template <int N>
__global__ void twice(int* values) {
  if (threadIdx.x == 0 && N > 1) twice<(N > 1 ? N / 2 : 1)><<<1, N / 2>>>(values);
  values[threadIdx.x] += 1;
}

__device__ void launch_fill(float* to, int count) {
  const Range range = {'r', 2.5, static_cast<short>(count)};
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  work::fill<float><<<dim3((count + 31) / 32), 32, 0, stream>>>('r', range, to, 1 /* an int */);
  cudaStreamDestroy(stream);
}

/// Memory that one kernel allocates, the kernel that it launches reads, and that one frees.
__global__ void sum_and_free(int* numbers, int count, int* sum) {
  for (int i = 0; i < count; ++i) *sum += numbers[i];
  cudaFree(numbers);
}

__global__ void allocate(int count, int* sum) {
  int* numbers = nullptr;
  if (cudaMalloc(&numbers, count * sizeof(int)) != cudaSuccess) return;
  for (int i = 0; i < count; ++i) numbers[i] = i;
  *sum = 0;
  sum_and_free<<<1, 1>>>(numbers, count, sum);
}

__global__ void last(float* to, int* values) { to[0] += static_cast<float>(values[0]); }

__global__ void parent(float* to, int* values, int count) {
  if (threadIdx.x != 0) return;
  last<<<1, 1, 0, cudaStreamTailLaunch>>>(to, values);
  launch_fill(to, count);
  twice<8><<<1, 8>>>(values);
}

#define CHECK(condition)                           \
  if (!(condition)) {                              \
    printf("line %d: %s\n", __LINE__, #condition); \
    exit(1);                                       \
  }

int main() {
  constexpr int count = 70;
  float* to;
  int* values;
  cudaMallocManaged(&to, count * sizeof(float));
  cudaMallocManaged(&values, 8 * sizeof(int));
  cudaMemset(values, 0, 8 * sizeof(int));
  parent<<<1, 32>>>(to, values, count);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(to[0] == 2.5f + 4);
  for (int i = 1; i < count; ++i) CHECK(to[i] == 2.5f + i);
  for (int i = 0; i < 8; ++i) CHECK(values[i] == (i < 1 ? 4 : i < 2 ? 3 : i < 4 ? 2 : 1));

  count_levels<<<1, 1>>>(10);
  int found = 0;
  CHECK(cudaMemcpyFromSymbol(&found, levels, sizeof found) == cudaSuccess);
  CHECK(found == 11);
  count_tails<<<1, 1>>>(1000);
  CHECK(cudaMemcpyFromSymbol(&found, levels, sizeof found) == cudaSuccess);
  CHECK(found == 11 + 1001);

  allocate<<<1, 1>>>(10, values);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(values[0] == 45);
  cudaFree(to);
  cudaFree(values);
  printf("passed\n");
}
