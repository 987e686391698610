// __reduce_*_sync, and masks of half a warp.
#include <cstdio>

__global__ void k(unsigned* out, int* signed_out) {
  const unsigned v = threadIdx.x + 1;
  const unsigned half = threadIdx.x < 16 ? 0xFFFFu : 0xFFFF0000u;
  unsigned all[] = {__reduce_add_sync(~0u, v), __reduce_min_sync(~0u, v),
                    __reduce_max_sync(~0u, v), __reduce_and_sync(~0u, v | 64),
                    __reduce_or_sync(~0u, v),  __reduce_xor_sync(~0u, v),
                    __reduce_add_sync(half, v)};
  const int s = 10 - (int)threadIdx.x;
  const int some[] = {__reduce_add_sync(~0u, s), __reduce_min_sync(~0u, s),
                      __reduce_max_sync(~0u, s)};
  if (threadIdx.x != 20) return;
  for (int i = 0; i < 7; ++i) out[i] = all[i];
  for (int i = 0; i < 3; ++i) signed_out[i] = some[i];
}

int main() {
  unsigned *out, found[7];
  int *signed_out, signed_found[3];
  cudaMalloc(&out, sizeof found);
  cudaMalloc(&signed_out, sizeof signed_found);
  k<<<1, 32>>>(out, signed_out);
  cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost);
  cudaMemcpy(signed_found, signed_out, sizeof signed_found, cudaMemcpyDeviceToHost);
  for (const unsigned value : found) std::printf("%u ", value);
  for (const int value : signed_found) std::printf("%d ", value);
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  cudaFree(out);
  cudaFree(signed_out);
}
