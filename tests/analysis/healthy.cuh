#pragma once
// The healthy kernels of diseases.cu, which defines the sizes that they use.

__global__ void add__healthy(const float4* x, const float4* y, float4* z) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 a = x[i], b = y[i];
  z[i] = {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
}

__global__ void axpy__healthy(float alpha, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = alpha * x[i] + y[i];
}

__global__ void padded_transpose__healthy(const float* x, float* y) {
  __shared__ float tile[32][33];
  const int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8) tile[threadIdx.y + i][threadIdx.x] = x[(row + i) * side + col];
  __syncthreads();
  const int to_col = blockIdx.y * 32 + threadIdx.x, to_row = blockIdx.x * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8)
    y[(to_row + i) * height + to_col] = tile[threadIdx.x][threadIdx.y + i];
}

__global__ void reduce__healthy(const float4* x, float* sum) {
  float mine = 0;
  const int stride = gridDim.x * blockDim.x;
#pragma unroll 4
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += stride) {
    const float4 v = x[i];
    mine += v.x + v.y + v.z + v.w;
  }
  for (int offset = 16; offset > 0; offset /= 2) mine += __shfl_down_sync(~0u, mine, offset);
  __shared__ float part[8];
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x < 8) {
    mine = part[threadIdx.x];
    for (int offset = 4; offset > 0; offset /= 2) mine += __shfl_down_sync(0xFFu, mine, offset, 8);
    if (threadIdx.x == 0) atomicAdd(sum, mine);
  }
}

__global__ void polynomial__healthy(const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v[4];
  for (int j = 0; j < 4; ++j) v[j] = x[i + j * (n / 4)];
#pragma unroll 16
  for (int k = 0; k < 256; ++k) {
    for (int j = 0; j < 4; ++j) v[j] = v[j] * 1.0001f + 0.5f;
  }
  for (int j = 0; j < 4; ++j) y[i + j * (n / 4)] = v[j];
}

__global__ void stencil__healthy(const float* __restrict__ x, float* __restrict__ y) {
  const int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
  if (col == 0 || row == 0 || col == side - 1 || row == height - 1) return;
  const int i = row * side + col;
  y[i] = 0.25f * (x[i - 1] + x[i + 1] + x[i - side] + x[i + side]);
}

__global__ void copy__healthy(const float4* x, float4* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i];
}

__global__ void spread_histogram__healthy(const int* x, unsigned* bins) {
  __shared__ unsigned mine[256];
  mine[threadIdx.x] = 0;
  __syncthreads();
  for (int k = 0; k < 32; ++k) {
    atomicAdd(&mine[x[(blockIdx.x * 8192 + k * 256 + threadIdx.x) & (n - 1)] & 255], 1u);
  }
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

__global__ void gather_rows__healthy(const float* __restrict__ x, const int* __restrict__ row,
                                     float* y) {
  const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const float4* from = reinterpret_cast<const float4*>(x + row[warp] * 128);
  reinterpret_cast<float4*>(y + warp * 128)[threadIdx.x % 32] = from[threadIdx.x % 32];
}

// 128 x 128 tiles of C, steps of 8 along k, 8 x 8 results per thread as four 4 x 4 quarters.
__global__ void __launch_bounds__(256)
    register_tile__healthy(const float* __restrict__ a, const float* __restrict__ b,
                           float* __restrict__ c, int k_end) {
  __shared__ float4 as[8][32], bs[8][32];
  const int ld = gridDim.x * 128, tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  float sum[8][8] = {};
  const float4* from_a = reinterpret_cast<const float4*>(a + blockIdx.y * 128) + threadIdx.x % 32;
  const float4* from_b = reinterpret_cast<const float4*>(b + blockIdx.x * 128) + threadIdx.x % 32;
  const int k_row = threadIdx.x / 32;
  float4 next_a = from_a[k_row * (ld / 4)], next_b = from_b[k_row * (ld / 4)];
  for (int k = 0; k < k_end; k += 8) {
    as[k_row][threadIdx.x % 32] = next_a;
    bs[k_row][threadIdx.x % 32] = next_b;
    __syncthreads();
    if (k + 8 < k_end) {
      next_a = from_a[(k + 8 + k_row) * (ld / 4)];
      next_b = from_b[(k + 8 + k_row) * (ld / 4)];
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float4 p = as[i][ty], q = as[i][ty + 16], r = bs[i][tx], s = bs[i][tx + 16];
      const float rows[8] = {p.x, p.y, p.z, p.w, q.x, q.y, q.z, q.w};
      const float cols[8] = {r.x, r.y, r.z, r.w, s.x, s.y, s.z, s.w};
#pragma unroll
      for (int row = 0; row < 8; ++row) {
#pragma unroll
        for (int col = 0; col < 8; ++col) sum[row][col] += rows[row] * cols[col];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int row = 0; row < 8; ++row) {
    const int at = blockIdx.y * 128 + row / 4 * 64 + ty * 4 + row % 4;
    float4* to = reinterpret_cast<float4*>(c + at * ld + blockIdx.x * 128);
    to[tx] = {sum[row][0], sum[row][1], sum[row][2], sum[row][3]};
    to[tx + 16] = {sum[row][4], sum[row][5], sum[row][6], sum[row][7]};
  }
}
