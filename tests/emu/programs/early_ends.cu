// Shuffles after a trap that is never reached, and around a switch without a default.
#include <cstdio>

__global__ void trap_aside(int* o, int n) {
  const int v = threadIdx.x;
  if (v % 3 == 0) {
    o[v] = 1;
  } else {
    o[v] = 2;
    if (v > n) __trap();
  }
  o[v] += __shfl_xor_sync(~0u, v, 1);
}

__device__ int4 pick(const int4* t, unsigned i) {
  switch (i) {
    case 0: return t[0];
    case 1: return t[1];
    case 2: return t[2];
    case 3: return t[3];
  }
  return {};
}

__global__ void pick_between(int* o, const int4* t) {
  int v = __shfl_xor_sync(~0u, (int)threadIdx.x, 1);
  v += pick(t, threadIdx.x & 3).y;
  o[threadIdx.x] = __shfl_xor_sync(~0u, v, 2);
}

int main() {
  int *o, found[32], wrong = 0;
  int4 *t, table[4] = {{0, 10, 0, 0}, {0, 20, 0, 0}, {0, 30, 0, 0}, {0, 40, 0, 0}};
  cudaMalloc(&o, sizeof found);
  cudaMalloc(&t, sizeof table);
  cudaMemcpy(t, table, sizeof table, cudaMemcpyHostToDevice);
  trap_aside<<<1, 32>>>(o, 1000);
  cudaMemcpy(found, o, sizeof found, cudaMemcpyDeviceToHost);
  for (int v = 0; v < 32; ++v) wrong += found[v] != (v % 3 == 0 ? 1 : 2) + (v ^ 1);
  pick_between<<<1, 32>>>(o, t);
  cudaMemcpy(found, o, sizeof found, cudaMemcpyDeviceToHost);
  for (int v = 0; v < 32; ++v) {
    const int from = v ^ 2;
    wrong += found[v] != (from ^ 1) + 10 * (1 + from % 4);
  }
  std::printf("%d wrong\n", wrong);
  cudaFree(o);
  cudaFree(t);
}
