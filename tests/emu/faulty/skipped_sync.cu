// Barriers and warp-wide instructions that some threads skip, by the macro WHICH; 10 and up are correct.
#include <cstdio>

__global__ void skipped(float* out, int n) {
  __shared__ float s[256];
  const int t = threadIdx.x;
  float v = t;
  s[t] = v;
#if WHICH == 1  // lanes of a warp
  if (t < n) {
    __syncthreads();
    v = s[0];
  }
#elif WHICH == 2  // whole warps, which exit
  if (t < 128) {
    __syncthreads();
    out[t] = s[0];
  }
  return;
#elif WHICH == 3  // whole warps, which wait at the next barrier
  if (t < 128) __syncthreads();
  __syncthreads();
#elif WHICH == 4
  if (t < 20) {
    for (int o = 16; o > 0; o /= 2) v += __shfl_down_sync(0xffffffffu, v, o);
  } else {
    out[t] = 2;
  }
#elif WHICH == 5
  if (t < 20) v = __ballot_sync(0xffffffffu, v > 3);
#elif WHICH == 6
  if (t < 20) v = __reduce_add_sync(0xffffffffu, t);
#elif WHICH == 7
  if (t < 20) v = __match_any_sync(0xffffffffu, t);
#elif WHICH == 8
  if (t < 20) {
    out[t] = 1;
    __syncwarp();
    v = out[0];
  }
#elif WHICH == 9
  for (int i = t; i < n; i += 100) __syncthreads();
#elif WHICH == 10  // threads that have returned need not come
  if (t >= n) return;
  __syncthreads();
  v = __shfl_down_sync(0xffffffffu, v, 1);
  __syncwarp();
#elif WHICH == 11  // all threads of a block decide alike
  if (n > 100) __syncthreads();
  if (t >= n) return;
  if (n > 50) __syncthreads();
#elif WHICH == 12  // exactly the lanes that come are named
  const unsigned lanes = __ballot_sync(0xffffffffu, t < 20);
  if (t < 20) v = __shfl_sync(lanes, v, 0);
#elif WHICH == 13  // a whole warp
  if (t < 32) v += __shfl_down_sync(0xffffffffu, v, 1);
  __syncthreads();
#elif WHICH == 14  // each warp waits at one of two barriers
  if (t < 128) {
    __syncthreads();
  } else {
    v += 1;
    __syncthreads();
  }
#elif WHICH == 15  // threads return from a loop or a block of code that all enter
  for (int i = 0; i < n; ++i) {
    __syncthreads();
    if (t >= 64) return;
  }
#elif WHICH == 16
  if (n > 100) {
    if (t >= 64) return;
    __syncthreads();
  }
#endif
  out[t] = v;
}

int main() {
  float* out;
  cudaMalloc(&out, 256 * sizeof(float));
  skipped<<<1, 256>>>(out, 200);
  printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaFree(out);
}
