// ldmatrix and stmatrix with generic addresses: only the low 32 bits count.
#include <cstdint>
#include <cstdio>

__global__ void transpose(std::uint32_t* out) {
  __shared__ alignas(16) std::uint16_t tile[8][8];
  for (int i = threadIdx.x; i < 64; i += 32) tile[i / 8][i % 8] = i;
  __syncwarp();
  std::uint32_t pair;
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
               : "=r"(pair)
               : "l"(tile[threadIdx.x % 8])
               : "memory");
  asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"l"(tile[threadIdx.x % 8]),
               "r"(pair)
               : "memory");
  __syncwarp();
  for (int i = threadIdx.x; i < 64; i += 32) out[i] = tile[i / 8][i % 8];
}

int main() {
  std::uint32_t* out;
  cudaMallocManaged(&out, 64 * sizeof(*out));
  transpose<<<1, 32>>>(out);
  cudaDeviceSynchronize();
  int wrong = 0;
  for (unsigned i = 0; i < 64; ++i) wrong += out[i] != i % 8 * 8 + i / 8;
  printf("%d wrong\n", wrong);
  cudaFree(out);
}
