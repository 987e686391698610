// Kernels whose shared accesses ptxas merges, or must not merge: merge_machine_code_test.cpp
// compares its machine code with the model. Inner loops are unrolled, so the accesses in the text
// are those that run.

#include <cuda_fp16.h>

// 32 x 32 tile, as in the ladder's second rung
extern "C" __global__ void tile32(int n, const float* A, const float* B, float* C) {
  __shared__ float As[32][32], Bs[32][32];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * 32 + ty, col = blockIdx.x * 32 + tx;
  float sum = 0;
  for (int k0 = 0; k0 < n; k0 += 32) {
    As[ty][tx] = A[row * n + k0 + tx];
    Bs[ty][tx] = B[(k0 + ty) * n + col];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 32; ++k) sum += As[ty][k] * Bs[k][tx];
    __syncthreads();
  }
  C[row * n + col] = sum;
}
// 1D register tile of 64 x 64 x 8, 8 results per thread
extern "C" __global__ void tile1d(int n, const float* A, const float* B, float* C) {
  constexpr int BM = 64, BN = 64, BK = 8, TM = 8;
  __shared__ float As[BM * BK], Bs[BK * BN];
  const int tcol = threadIdx.x % BN, trow = threadIdx.x / BN;
  const int ac = threadIdx.x % BK, ar = threadIdx.x / BK;
  A += blockIdx.y * BM * n;
  B += blockIdx.x * BN;
  C += blockIdx.y * BM * n + blockIdx.x * BN;
  float acc[TM] = {};
  for (int k0 = 0; k0 < n; k0 += BK) {
    As[ar * BK + ac] = A[ar * n + ac];
    Bs[trow * BN + tcol] = B[trow * n + tcol];
    __syncthreads();
    A += BK;
    B += BK * n;
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      const float b = Bs[k * BN + tcol];
#pragma unroll
      for (int i = 0; i < TM; ++i) acc[i] += As[(trow * TM + i) * BK + k] * b;
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < TM; ++i) C[(trow * TM + i) * n + tcol] = acc[i];
}
// 2D register tile of 128 x 128 x 8, 8 x 8 results per thread, scalar loads, As transposed
extern "C" __global__ void tile2d(int n, const float* A, const float* B, float* C) {
  constexpr int BM = 128, BN = 128, BK = 8, TM = 8, TN = 8;
  __shared__ float As[BK * BM], Bs[BK * BN];
  const int tcol = threadIdx.x % (BN / TN), trow = threadIdx.x / (BN / TN);
  A += blockIdx.y * BM * n;
  B += blockIdx.x * BN;
  C += blockIdx.y * BM * n + blockIdx.x * BN;
  const int ar = threadIdx.x / 2, ac = threadIdx.x % 2, br = threadIdx.x / 32,
            bc = threadIdx.x % 32;
  float acc[TM][TN] = {};
  for (int k0 = 0; k0 < n; k0 += BK) {
    float4 t = reinterpret_cast<const float4*>(&A[ar * n + ac * 4])[0];
    As[(ac * 4 + 0) * BM + ar] = t.x;
    As[(ac * 4 + 1) * BM + ar] = t.y;
    As[(ac * 4 + 2) * BM + ar] = t.z;
    As[(ac * 4 + 3) * BM + ar] = t.w;
    reinterpret_cast<float4*>(&Bs[br * BN + bc * 4])[0] =
        reinterpret_cast<const float4*>(&B[br * n + bc * 4])[0];
    __syncthreads();
    A += BK;
    B += BK * n;
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      float a[TM], b[TN];
#pragma unroll
      for (int i = 0; i < TM; ++i) a[i] = As[k * BM + trow * TM + i];
#pragma unroll
      for (int j = 0; j < TN; ++j) b[j] = Bs[k * BN + tcol * TN + j];
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) acc[i][j] += a[i] * b[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < TN; ++j) C[(trow * TM + i) * n + tcol * TN + j] = acc[i][j];
}
// explicit vector accesses
extern "C" __global__ void vectors(const float4* in, float4* out) {
  __shared__ float4 S[256];
  __shared__ float2 T[256];
  const int t = threadIdx.x;
  S[t] = in[t];
  T[t] = make_float2(in[t + 256].x, in[t + 256].y);
  __syncthreads();
  float4 a = S[255 - t], b = S[t ^ 1];
  float2 c = T[t ^ 2], d = T[(t ^ 2) + 1 & 255];
  out[t] = make_float4(a.x + b.x, a.y * c.x, a.z + c.y, b.w + d.x * d.y);
}
// neighbours read in descending order
extern "C" __global__ void reversed(const float* in, float* out) {
  __shared__ float S[1024 + 8];
  const int t = threadIdx.x;
  for (int i = t; i < 1032; i += blockDim.x) S[i] = in[i];
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int i = 7; i >= 0; --i) sum = sum * 3 + S[t * 8 + i];
  out[t] = sum;
}
// neighbours at a base that the compiler only knows to be aligned to 4 bytes
extern "C" __global__ void unaligned(const float* in, float* out, int shift) {
  __shared__ float S[1100];
  const int t = threadIdx.x;
  for (int i = t; i < 1100; i += blockDim.x) S[i] = in[i];
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) sum = sum * 3 + S[t + shift + i];
  out[t] = sum;
}
// neighbours at an offset of one float from a multiple of 8 floats
extern "C" __global__ void shifted(const float* in, float* out) {
  __shared__ float S[1100];
  const int t = threadIdx.x;
  for (int i = t; i < 1100; i += blockDim.x) S[i] = in[i];
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int i = 1; i < 9; ++i) sum = sum * 3 + S[t * 8 + i];
  out[t] = sum;
}
extern "C" __global__ void doubles(const double* in, double* out) {
  __shared__ double S[1100];
  const int t = threadIdx.x;
  for (int i = t; i < 1100; i += blockDim.x) S[i] = in[i];
  __syncthreads();
  double sum = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) sum = sum * 3 + S[t * 8 + i];
  out[t] = sum;
}
extern "C" __global__ void halves(const __half* in, float* out) {
  __shared__ __half S[2200];
  const int t = threadIdx.x;
  for (int i = t; i < 2200; i += blockDim.x) S[i] = in[i];
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) sum = sum * 3 + __half2float(S[t * 8 + i]);
  out[t] = sum;
}
// neighbouring stores
extern "C" __global__ void stores(const float* in, float* out) {
  __shared__ float S[2048];
  const int t = threadIdx.x;
#pragma unroll
  for (int i = 0; i < 8; ++i) S[t * 8 + i] = in[t + 256 * i];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 8; ++i) out[t + 256 * i] = S[t + 256 * i];
}
// dynamic shared memory
extern "C" __global__ void dynamic(const float* in, float* out) {
  extern __shared__ float D[];
  const int t = threadIdx.x;
  for (int i = t; i < 2048; i += blockDim.x) D[i] = in[i];
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) sum = sum * 3 + D[t * 8 + i];
  out[t] = sum;
}
// global neighbours
extern "C" __global__ void global_neighbours(const float* in, float* out) {
  const int t = threadIdx.x;
  float v[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) v[i] = in[t * 8 + i];
#pragma unroll
  for (int i = 0; i < 8; ++i) out[t * 8 + i] = v[i] * v[7 - i];
}
// module arrays, and a row length that is not a multiple of 16 bytes
template <int stride>
__device__ float padded_sum(const float* in) {
  __shared__ float S[64][stride];
  const int t = threadIdx.x;
  for (int i = 0; i < stride; ++i) S[t][i] = in[t * stride + i];
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) sum = sum * 3 + S[t ^ 1][i];
  return sum;
}
extern "C" __global__ void padded(const float* in, float* out) {
  out[threadIdx.x] = padded_sum<33>(in) + padded_sum<34>(in) + padded_sum<36>(in);
}
// 4 x 4 results per thread, with As padded, and a guarded edge
extern "C" __global__ void guarded_tile(int n, const float* A, const float* B, float* C) {
  constexpr int BM = 64, BN = 64, BK = 16, T = 4;
  __shared__ float As[BK][BM + 4], Bs[BK][BN];
  const int tcol = threadIdx.x % (BN / T), trow = threadIdx.x / (BN / T);
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  float acc[T][T] = {};
  for (int k0 = 0; k0 < n; k0 += BK) {
#pragma unroll
    for (int i = threadIdx.x; i < BM * BK; i += 256) {
      const int row = i / BK, k = i % BK;
      As[k][row] = row0 + row < n && k0 + k < n ? A[(row0 + row) * n + k0 + k] : 0;
      Bs[i / BN][i % BN] =
          k0 + i / BN < n && col0 + i % BN < n ? B[(k0 + i / BN) * n + col0 + i % BN] : 0;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BK; ++k) {
#pragma unroll
      for (int i = 0; i < T; ++i)
#pragma unroll
        for (int j = 0; j < T; ++j) acc[i][j] += As[k][trow * T + i] * Bs[k][tcol * T + j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < T; ++i)
#pragma unroll
    for (int j = 0; j < T; ++j)
      if (row0 + trow * T + i < n && col0 + tcol * T + j < n)
        C[(row0 + trow * T + i) * n + col0 + tcol * T + j] = acc[i][j];
}
