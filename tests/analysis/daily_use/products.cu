// Dense products: tiles, registers, tensor cores, spills, vectors, small batches.
#include "arrays.cuh"

#include <mma.h>

__global__ void gemm_naive(const float* a, const float* b, float* c, int n) {
  int j = blockIdx.x * 16 + threadIdx.x, i = blockIdx.y * 16 + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
  c[i * n + j] = sum;
}

__global__ void gemm_tiles_32(const float* a, const float* b, float* c, int n) {
  __shared__ float as[32][32], bs[32][32];
  int x = threadIdx.x, y = threadIdx.y, i = blockIdx.y * 32 + y, j = blockIdx.x * 32 + x;
  float sum = 0;
  for (int k0 = 0; k0 < n; k0 += 32) {
    as[y][x] = a[i * n + k0 + x];
    bs[y][x] = b[(k0 + y) * n + j];
    __syncthreads();
    for (int k = 0; k < 32; ++k) sum += as[y][k] * bs[k][x];
    __syncthreads();
  }
  c[i * n + j] = sum;
}

template <int rows, int columns>
__device__ void gemm_registers(const float* a, const float* b, float* c, int n) {
  __shared__ float as[8][16 * rows], bs[8][16 * columns];
  int t = threadIdx.x, x = t % 16, y = t / 16;
  int i0 = blockIdx.y * 16 * rows, j0 = blockIdx.x * 16 * columns;
  float sum[rows][columns] = {};
  for (int k0 = 0; k0 < n; k0 += 8) {
    for (int e = t; e < 8 * 16 * rows; e += 256)
      as[e % 8][e / 8] = a[(i0 + e / 8) * n + k0 + e % 8];
    for (int e = t; e < 8 * 16 * columns; e += 256) {
      bs[e / (16 * columns)][e % (16 * columns)] =
          b[(k0 + e / (16 * columns)) * n + j0 + e % (16 * columns)];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; ++k) {
#pragma unroll
      for (int r = 0; r < rows; ++r) {
#pragma unroll
        for (int q = 0; q < columns; ++q) sum[r][q] += as[k][y + 16 * r] * bs[k][x + 16 * q];
      }
    }
    __syncthreads();
  }
  for (int r = 0; r < rows; ++r) {
    for (int q = 0; q < columns; ++q) c[(i0 + y + 16 * r) * n + j0 + x + 16 * q] = sum[r][q];
  }
}

__global__ void gemm_tiles_64(const float* a, const float* b, float* c, int n) {
  gemm_registers<4, 4>(a, b, c, n);
}

__global__ void __launch_bounds__(256, 4)
    gemm_tiles_128_spilled(const float* a, const float* b, float* c, int n) {
  gemm_registers<8, 8>(a, b, c, n);
}

__global__ void gemm_wmma_half(const __half* a, const __half* b, float* c, int n) {
  using namespace nvcuda::wmma;
  int w = threadIdx.x / 32, i = blockIdx.y * 64 + w / 2 * 32, j = blockIdx.x * 64 + w % 2 * 32;
  fragment<accumulator, 16, 16, 16, float> sum[2][2];
  for (auto& row : sum)
    for (auto& one : row) fill_fragment(one, 0);
  for (int k = 0; k < n; k += 16) {
    fragment<matrix_a, 16, 16, 16, __half, row_major> x[2];
    fragment<matrix_b, 16, 16, 16, __half, row_major> y[2];
    for (int r = 0; r < 2; ++r) {
      load_matrix_sync(x[r], a + (i + 16 * r) * n + k, n);
      load_matrix_sync(y[r], b + k * n + j + 16 * r, n);
    }
    for (int r = 0; r < 2; ++r) {
      for (int q = 0; q < 2; ++q) mma_sync(sum[r][q], x[r], y[q], sum[r][q]);
    }
  }
  for (int r = 0; r < 2; ++r) {
    for (int q = 0; q < 2; ++q)
      store_matrix_sync(c + (i + 16 * r) * n + j + 16 * q, sum[r][q], n, mem_row_major);
  }
}

__global__ void gemv_warp_per_row(const float4* a, const float4* x, float* y, int vectors) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  float sum = 0;
  for (int j = lane; j < vectors; j += 32) {
    float4 u = a[row * vectors + j], v = x[j];
    sum += u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;
  }
  for (int o = 16; o > 0; o /= 2) sum += __shfl_down_sync(~0u, sum, o);
  if (lane == 0) y[row] = sum;
}

__global__ void gemv_transposed(const float* a, const float* x, float* y, int rows, int columns) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * 64;
  float sum = 0;
  for (int i = first; i < first + 64; ++i) sum += a[i * columns + j] * x[i];
  atomicAdd(&y[j], sum);
}

__global__ void batch_of_8x8(const float* a, const float* b, float* c) {
  __shared__ float s[4][2][64];
  int t = threadIdx.x, w = threadIdx.y, m = (blockIdx.x * 4 + w) * 64;
  s[w][0][t] = a[m + t], s[w][1][t] = b[m + t];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 8; ++k) sum += s[w][0][t / 8 * 8 + k] * s[w][1][k * 8 + t % 8];
  c[m + t] = sum;
}

int main() {
  const int n = 1 << 22;
  float *a = floats(n), *b = floats(n), *c = zeros<float>(n);
  gemm_naive<<<dim3(32, 32), dim3(16, 16)>>>(a, b, c, 512);
  gemm_tiles_32<<<dim3(16, 16), dim3(32, 32)>>>(a, b, c, 512);
  gemm_tiles_64<<<dim3(12, 12), 256>>>(a, b, c, 768);
  gemm_tiles_128_spilled<<<dim3(8, 8), 256>>>(a, b, c, 1024);
  auto* h = filled<__half>(1 << 20, [](unsigned i) { return __float2half(mixed(i) * 0x1p-32f); });
  gemm_wmma_half<<<dim3(16, 16), 128>>>(h, h, c, 1024);
  gemv_warp_per_row<<<512, 128>>>((float4*)a, (float4*)b, c, 512);
  gemv_transposed<<<dim3(16, 16), 256>>>(a, b, c, 1024, 4096);
  batch_of_8x8<<<n / 256, dim3(64, 4)>>>(a, b, c);
  return cudaDeviceSynchronize();
}
