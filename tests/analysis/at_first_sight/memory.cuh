#pragma once
// Kernels that use memory badly, one disease each.

// uncoalesced: one thread per row of a row-major matrix, so a warp's load touches 32 rows (192 B apart) = 32 lines.
__global__ void matvec__uncoalesced_accesses(const float* __restrict__ A,
                                             const float* __restrict__ x, float* __restrict__ y,
                                             int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  const float* row = A + (size_t)r * cols;
  float acc = 0.0f;
  for (int c = 0; c < cols; ++c) acc += row[c] * x[c];
  y[r] = acc;
}

struct Particle {  // 64 bytes
  float x, y, z, mass;
  float ax, ay, az, charge;
  float vx, vy, vz, radius;
  float u0, u1, u2, u3;
};

// uncoalesced: array of 64-byte structs, 2 floats used of each: 32 sectors per request, 1/8 used.
__global__ void particle_aos__uncoalesced_accesses(Particle* p, float dt, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i].x += dt * p[i].vx;
}

// misaligned: a 16-byte header shifts all 32-byte records by half a sector: each record costs two sectors, not one.
__global__ void record_gather__misaligned_accesses(const float* __restrict__ table,
                                                   const int* __restrict__ idx,
                                                   float4* __restrict__ out, int half_count) {
  const float* rec0 = table + 4;  // skip the header
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int r = t >> 1, half = t & 1;
  int ia = idx[r], ib = idx[r + half_count];
  float4 a = *reinterpret_cast<const float4*>(rec0 + 8 * (size_t)ia + 4 * half);
  float4 b = *reinterpret_cast<const float4*>(rec0 + 8 * (size_t)ib + 4 * half);
  out[t] = a;
  out[t + 2 * half_count] = b;
}

// narrow: one byte per thread; a warp moves 32 bytes per request, so far too few bytes are in flight.
__global__ void threshold__narrow_accesses(const unsigned char* __restrict__ src,
                                           unsigned char* __restrict__ dst, unsigned char level,
                                           int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) dst[i] = src[i] > level ? 255 : 0;
}

// repeated loads: textbook GEMM without tiles, every element of A and B is loaded 16 times per block (2 loads per FMA).
__global__ void gemm_naive__repeated_loads(const float* __restrict__ A, const float* __restrict__ B,
                                           float* __restrict__ C, int M, int N, int K) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || col >= N) return;
  float sum = 0.f;
  for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
  C[row * N + col] = sum;
}

struct Taps33 {
  float w[33];
};

// repeated loads: each block fetches every input sample 33 times from L2 (.cg loads are not kept in L1).
__global__ void fir33__repeated_loads(const float* __restrict__ x, float* __restrict__ y,
                                      Taps33 taps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float acc = 0.f;
#pragma unroll
  for (int k = 0; k < 33; ++k) acc = fmaf(taps.w[k], __ldcg(x + i + k), acc);
  y[i] = acc;
}

// repeated stores: accumulates in y[i]; as y may alias a and w, each of the 16 steps stores and orders the next load.
__global__ void weighted_planes__repeated_stores(float* y, const float* a, const float* w, int n,
                                                 int planes) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (int p = 0; p < planes; ++p) y[i] += w[p] * a[p * n + i];
}

// bank conflicts: columns of an unpadded 32x32 tile are read: 32-way conflict for each shared load.
__global__ void transpose_tile__bank_conflicts(float* __restrict__ out,
                                               const float* __restrict__ in, int n, int height) {
  __shared__ float tile[32][32];
  int x = blockIdx.x * 32 + threadIdx.x;
  int y = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
#pragma unroll
  for (int j = 0; j < 32; j += 8) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

// shared loads: 64-tap correlation, one output per thread: 1.25 conflict-free shared loads for each FMA.
__global__ void correlation64__shared_loads(const float* __restrict__ x,
                                            const float* __restrict__ w, float* __restrict__ y) {
  __shared__ float sx[256 + 64];
  __shared__ __align__(16) float sw[64];
  int t = threadIdx.x, base = blockIdx.x * 256;
  sx[t] = x[base + t];
  if (t < 64) {
    sx[256 + t] = x[base + 256 + t];
    sw[t] = w[t];
  }
  __syncthreads();
  float acc = 0.f;
#pragma unroll
  for (int k = 0; k < 64; ++k) acc += sw[k] * sx[t + k];
  y[base + t] = acc;
}
