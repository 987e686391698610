// Sums, by a tree in shared memory and by shuffles.
#include <cstdio>
#include <numeric>
#include <vector>

template <unsigned Block>
__global__ void tree(const int* in, int* out, int n) {
  __shared__ int partial[Block];
  const unsigned i = blockIdx.x * Block + threadIdx.x;
  partial[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned step = Block / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) partial[threadIdx.x] += partial[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(out, partial[0]);
}

__inline__ __device__ int warp_sum(int value) {
  for (int offset = warpSize / 2; offset > 0; offset /= 2) {
    value += __shfl_down_sync(0xffffffff, value, offset);
  }
  return value;
}

__global__ void shuffles(const int* __restrict__ in, int* out, int n) {
  __shared__ int of_warp[32];
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    sum += __ldg(in + i);
  }
  const int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
  sum = warp_sum(sum);
  if (lane == 0) of_warp[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    sum = lane < blockDim.x / warpSize ? of_warp[lane] : 0;
    sum = warp_sum(sum);
    if (lane == 0) atomicAdd(out, sum);
  }
}

int main() {
  const int n = 10007;
  std::vector<int> values(n);
  std::iota(values.begin(), values.end(), -5000);
  const int expected = std::accumulate(values.begin(), values.end(), 0);
  int *in, *out;
  cudaMalloc(&in, n * sizeof(int));
  cudaMalloc(&out, 2 * sizeof(int));
  cudaMemcpy(in, values.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(out, 0, 2 * sizeof(int));
  tree<256><<<(n + 255) / 256, 256>>>(in, out, n);
  shuffles<<<8, 128>>>(in, out + 1, n);
  int sums[2] = {};
  cudaMemcpy(sums, out, sizeof(sums), cudaMemcpyDeviceToHost);
  printf("%d %d %d\n", expected, sums[0], sums[1]);
  cudaFree(in);
  cudaFree(out);
  return sums[0] == expected && sums[1] == expected ? 0 : 1;
}
