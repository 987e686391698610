// Adds to a result without setting it to 0 first.
__global__ void add(int n, const float* x, float* result) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) atomicAdd(result, x[i]);
}
void sum(int n, const float* x, float* result) { add<<<(n + 127) / 128, 128>>>(n, x, result); }
