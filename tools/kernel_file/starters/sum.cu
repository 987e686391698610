// The sum of x, as a starting point: the threads of a block add up their elements in shared memory,
// and each block adds its sum to the result.
//
// rung check calls sum() with pointers to device memory.

constexpr int threads = 256;

__global__ void sum_kernel(int n, const float* x, float* result) {
  __shared__ float sums[threads];
  const int i = blockIdx.x * threads + threadIdx.x;
  sums[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();

  for (int stride = threads / 2; stride > 0; stride /= 2) {
    if (threadIdx.x < stride) sums[threadIdx.x] += sums[threadIdx.x + stride];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(result, sums[0]);
}

void sum(int n, const float* x, float* result) {
  cudaMemset(result, 0, sizeof(float));
  sum_kernel<<<(n + threads - 1) / threads, threads>>>(n, x, result);
}
