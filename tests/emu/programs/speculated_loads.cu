// clang loads s[40] for all threads here, though only thread 40, which writes it, uses the value.
#include <cstdio>

__global__ void k(unsigned* out) {
  __shared__ unsigned s[64];
  const unsigned t = threadIdx.x;
  s[t] = t;
  __syncthreads();
  if (t >= 32) s[t] = 1000 + t;
  out[t] = t == 40 ? s[40] : 7u;
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
