// Compilers load s[…] for all threads here, though odd ones, which others write, are not used.
#include <cstdio>

__global__ void k(unsigned* out) {
  __shared__ unsigned s[64];
  const unsigned t = threadIdx.x;
  s[t] = t;
  __syncthreads();
  if (t & 1) s[t] = 1000;
  out[t] = t & 1 ? 7u : s[(t + 34) & 63];
}

int main() {
  unsigned *out, found[64], sum = 0;
  cudaMalloc(&out, sizeof found);
  k<<<1, 64>>>(out);
  cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost);
  for (const unsigned value : found) sum += value;
  std::printf("%u\n", sum);
  cudaFree(out);
}
