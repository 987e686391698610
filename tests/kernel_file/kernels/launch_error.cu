// Launches more threads per block than a block can have.
__global__ void fill(int n, float* result) {
  if (threadIdx.x == 0) *result = n;
}
void dot(int n, const float* x, const float* y, float* result) { fill<<<1, 2048>>>(n, result); }
