// Quantised dot products and conversions.
#include "arrays.cuh"

__global__ void dp4a_gemv(const int4* a, const int4* x, float* y, int vectors) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32, sum = 0;
  for (int j = lane; j < vectors; j += 32) {
    int4 u = a[row * vectors + j], v = x[j];
    sum = __dp4a(u.x, v.x, __dp4a(u.y, v.y, __dp4a(u.z, v.z, __dp4a(u.w, v.w, sum))));
  }
  for (int o = 16; o > 0; o /= 2) sum += __shfl_down_sync(~0u, sum, o);
  if (lane == 0) y[row] = sum * 0.01f;
}

__global__ void dp4a_tiles(const int* a, const int* b, int* c, int words, int columns) {
  __shared__ int as[32][33], bs[32][33];
  int x = threadIdx.x, y = threadIdx.y, sum[4] = {};
  for (int k = 0; k < words; k += 32) {
    for (int r = y; r < 32; r += 8) {
      as[r][x] = a[(blockIdx.y * 32 + r) * words + k + x];
      bs[r][x] = b[(blockIdx.x * 32 + r) * words + k + x];
    }
    __syncthreads();
    for (int i = 0; i < 32; ++i) {
      for (int r = 0; r < 4; ++r) sum[r] = __dp4a(as[y + 8 * r][i], bs[x][i], sum[r]);
    }
    __syncthreads();
  }
  for (int r = 0; r < 4; ++r)
    c[(blockIdx.y * 32 + y + 8 * r) * columns + blockIdx.x * 32 + x] = sum[r];
}

__global__ void q4_gemv(const uint4* w, const __half* scale, const float* x, float* y, int blocks) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  float sum = 0;
  for (int j = lane; j < blocks; j += 32) {
    uint4 v = w[row * blocks + j];
    float part = 0;
    for (int k = 0; k < 4; ++k) {
      unsigned word = (&v.x)[k];
      for (int e = 0; e < 8; ++e)
        part += ((int)(word >> (4 * e) & 15) - 8) * x[(j * 4 + k) * 8 + e];
    }
    sum += part * __half2float(scale[row * blocks + j]);
  }
  for (int o = 16; o > 0; o /= 2) sum += __shfl_down_sync(~0u, sum, o);
  if (lane == 0) y[row] = sum;
}

__global__ void q4_dequantize(const unsigned* w, const __half* scale, __half2* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned word = w[i];
  __half2 s = __half2half2(scale[i / 4]);
  for (int e = 0; e < 4; ++e) {
    out[i * 4 + e] = __hmul2(s, __halves2half2(__int2half_rn((int)(word >> (8 * e) & 15) - 8),
                                               __int2half_rn((int)(word >> (8 * e + 4) & 15) - 8)));
  }
}

__global__ void quantize_rows(const float* x, signed char* q, float* scale, int columns) {
  __shared__ float s[8];
  int t = threadIdx.x;
  float most = 0;
  for (int j = t; j < columns; j += 256) most = fmaxf(most, fabsf(x[blockIdx.x * columns + j]));
  for (int o = 16; o > 0; o /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, o));
  if (t % 32 == 0) s[t / 32] = most;
  __syncthreads();
  for (int w = 0; w < 8; ++w) most = fmaxf(most, s[w]);
  for (int j = t; j < columns; j += 256)
    q[blockIdx.x * columns + j] = __float2int_rn(x[blockIdx.x * columns + j] / most * 127);
  if (t == 0) scale[blockIdx.x] = most / 127;
}

__global__ void binary_products(const unsigned* a, const unsigned* b, int* c, int words, int n) {
  int j = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y, sum = 0;
  for (int k = 0; k < words; ++k) sum += __popc(a[i * words + k] ^ b[k * n + j]);
  c[i * n + j] = 32 * words - 2 * sum;
}

int main() {
  const int n = 1 << 22;
  int *a = integers(n, 1u << 31), *b = integers(n, 1u << 31);
  float* y = zeros<float>(2 * n);
  dp4a_gemv<<<512, 256>>>((int4*)a, (int4*)b, y, 256);
  dp4a_tiles<<<dim3(32, 32), dim3(32, 8)>>>(a, b, (int*)y, 256, 1024);
  auto* scale = filled<__half>(n, [](unsigned i) { return __float2half(mixed(i) * 0x1p-32f); });
  float* x = floats(n);
  q4_gemv<<<1024, 128>>>((uint4*)a, scale, x, y, 128);
  q4_dequantize<<<n / 4 / 256, 256>>>((unsigned*)a, scale, (__half2*)y, n / 4);
  quantize_rows<<<1024, 256>>>(x, (signed char*)a, y, 4096);
  binary_products<<<dim3(32, 128), dim3(32, 8)>>>((unsigned*)b, (unsigned*)b, (int*)y, 64, 1024);
  return cudaDeviceSynchronize();
}
