// Each thread takes 19 bytes of shared memory, which begin anywhere: a load of 16 of them at once, as LLVM's
// SLP vectoriser makes it for NVPTX, is misaligned.
#include <cstdio>

constexpr int threads = 64, bytes = 19, all = threads * bytes;

/// Transposes a matrix of bytes x threads, `times` over, through shared memory.
__global__ void transpose(const unsigned char* in, unsigned char* out, int count, int times) {
  __shared__ unsigned char buffer[all];
  unsigned char mine[bytes];
#pragma unroll
  for (int i = 0; i < bytes; ++i) {
    const int at = threadIdx.x * bytes + i;
    mine[i] = at < count ? in[at] : 0xff;
  }
#pragma unroll
  for (int i = 0; i < bytes; ++i) mine[i] ^= 0x80;
  while (true) {
#pragma unroll
    for (int i = 0; i < bytes; ++i) buffer[i * threads + threadIdx.x] = mine[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < bytes; ++i) mine[i] = buffer[threadIdx.x * bytes + i];
    if (--times == 0) break;
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < bytes; ++i) mine[i] ^= 0x80;
#pragma unroll
  for (int i = 0; i < bytes; ++i) {
    const int at = threadIdx.x * bytes + i;
    if (at < count) out[at] = mine[i];
  }
}

int main() {
  unsigned char *in, *out;
  cudaMallocManaged(&in, all);
  cudaMallocManaged(&out, all);
  for (int i = 0; i < all; ++i) in[i] = i * 7;
  transpose<<<1, threads>>>(in, out, all, 1);
  cudaDeviceSynchronize();
  int wrong = 0;
  for (int i = 0; i < all; ++i) wrong += out[i] != in[i % threads * bytes + i / threads];
  printf("%d wrong\n", wrong);
  cudaFree(in);
  cudaFree(out);
}
