// The dot product of x and y, as a starting point: the threads of a block add up their terms in
// shared memory, and each block adds its sum to the result.
//
// rung check calls dot() with pointers to device memory.

constexpr int threads = 256;

__global__ void dot_kernel(int n, const float* x, const float* y, float* result) {
  __shared__ float sums[threads];
  const int i = blockIdx.x * threads + threadIdx.x;
  sums[threadIdx.x] = i < n ? x[i] * y[i] : 0;
  __syncthreads();

  for (int stride = threads / 2; stride > 0; stride /= 2) {
    if (threadIdx.x < stride) sums[threadIdx.x] += sums[threadIdx.x + stride];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(result, sums[0]);
}

void dot(int n, const float* x, const float* y, float* result) {
  cudaMemset(result, 0, sizeof(float));
  dot_kernel<<<(n + threads - 1) / threads, threads>>>(n, x, y, result);
}
