// More kernels like those of diseases.cu, in forms common in programs: softmax, layer
// normalization, scan, histogram, stencils, sparse and dense products. Each is named after the
// disease that its author expected to be reported first, before any was explained or timed.

#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#ifndef SCALE
#define SCALE 1
#endif
constexpr int factor = SCALE;

// One thread computes the softmax of one row.
__global__ void softmax_rows__uncoalesced_accesses(const float* x, float* y, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float m = -INFINITY;
  for (int j = 0; j < cols; j++) m = fmaxf(m, x[row * cols + j]);
  float s = 0.f;
  for (int j = 0; j < cols; j++) s += expf(x[row * cols + j] - m);
  for (int j = 0; j < cols; j++) y[row * cols + j] = expf(x[row * cols + j] - m) / s;
}

// One block per row, with two tree reductions in shared memory.
__global__ void layernorm_tree__barriers(const float* x, const float* g, float* y, int cols) {
  __shared__ float red[1024];
  int row = blockIdx.x, t = threadIdx.x;
  float v = x[row * cols + t];
  red[t] = v;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (t < s) red[t] += red[t + s];
    __syncthreads();
  }
  float mean = red[0] / cols;
  __syncthreads();
  red[t] = (v - mean) * (v - mean);
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (t < s) red[t] += red[t + s];
    __syncthreads();
  }
  float inv = rsqrtf(red[0] / cols + 1e-5f);
  y[row * cols + t] = (v - mean) * inv * g[t];
}

__global__ void layernorm_warp__healthy(const float4* x, const float4* g, float4* y, int rows) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float4 v[8];
  float s = 0;
#pragma unroll
  for (int i = 0; i < 8; i++) {
    v[i] = x[row * 256 + i * 32 + lane];
    s += v[i].x + v[i].y + v[i].z + v[i].w;
  }
  for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
  float mean = s / 1024, q = 0;
#pragma unroll
  for (int i = 0; i < 8; i++) {
    v[i].x -= mean;
    v[i].y -= mean;
    v[i].z -= mean;
    v[i].w -= mean;
    q += v[i].x * v[i].x + v[i].y * v[i].y + v[i].z * v[i].z + v[i].w * v[i].w;
  }
  for (int o = 16; o; o >>= 1) q += __shfl_xor_sync(~0u, q, o);
  float inv = rsqrtf(q / 1024 + 1e-5f);
#pragma unroll
  for (int i = 0; i < 8; i++) {
    float4 w = g[i * 32 + lane];
    y[row * 256 + i * 32 + lane] =
        make_float4(v[i].x * inv * w.x, v[i].y * inv * w.y, v[i].z * inv * w.z, v[i].w * inv * w.w);
  }
}

// Histogram with bins in global memory; most pixels are dark.
__global__ void histogram_global__atomics_at_one_address(const unsigned char* img, unsigned* bins,
                                                         int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&bins[img[i]], 1u);
}

// threadIdx.x indexes the slowest dimension.
__global__ void stencil3d_zyx__uncoalesced_accesses(const float* in, float* out, int nx, int ny,
                                                    int nz) {
  int z = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
  if (z >= nz - 1 || y >= ny - 1) return;
  for (int x = 1; x < nx - 1; x++) {
    int i = (z * ny + y) * nx + x;
    out[i] = 0.4f * in[i] + 0.1f * (in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] +
                                    in[i - nx * ny] + in[i + nx * ny]);
  }
}

__global__ void stencil3d__healthy(const float* __restrict__ in, float* __restrict__ out, int nx,
                                   int ny, int nz) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
      z = blockIdx.z + 1;
  if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
  int i = (z * ny + y) * nx + x;
  out[i] = 0.4f * in[i] + 0.1f * (in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] +
                                  in[i - nx * ny] + in[i + nx * ny]);
}

// Blelloch's scan without padding against bank conflicts.
__global__ void blelloch_scan__bank_conflicts(const float* x, float* y) {
  __shared__ float t[2048];
  int i = threadIdx.x, n = 2048, base = blockIdx.x * 2048, offset = 1;
  t[2 * i] = x[base + 2 * i];
  t[2 * i + 1] = x[base + 2 * i + 1];
  for (int d = n >> 1; d > 0; d >>= 1) {
    __syncthreads();
    if (i < d) {
      int a = offset * (2 * i + 1) - 1, b = offset * (2 * i + 2) - 1;
      t[b] += t[a];
    }
    offset *= 2;
  }
  if (i == 0) t[n - 1] = 0;
  for (int d = 1; d < n; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (i < d) {
      int a = offset * (2 * i + 1) - 1, b = offset * (2 * i + 2) - 1;
      float v = t[a];
      t[a] = t[b];
      t[b] += v;
    }
  }
  __syncthreads();
  y[base + 2 * i] = t[2 * i];
  y[base + 2 * i + 1] = t[2 * i + 1];
}

// The tile of A is read with the wrong index: 32 lanes, one bank.
__global__ void gemm_tile_wrong_index__bank_conflicts(const float* A, const float* B, float* C,
                                                      int n, int k) {
  __shared__ float As[32][32], Bs[32][32];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * 32 + tx, col = blockIdx.x * 32 + ty;  // swapped
  float acc = 0;
  for (int t = 0; t < k; t += 32) {
    As[ty][tx] = A[(blockIdx.y * 32 + ty) * k + t + tx];
    Bs[ty][tx] = B[(t + ty) * n + blockIdx.x * 32 + tx];
    __syncthreads();
    for (int i = 0; i < 32; i++) acc += As[tx][i] * Bs[i][ty];
    __syncthreads();
  }
  C[row * n + col] = acc;
}

__global__ void gemm_tile__shared_loads(const float* A, const float* B, float* C, int n, int k) {
  __shared__ float As[16][16], Bs[16][16];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
  float acc = 0;
  for (int t = 0; t < k; t += 16) {
    As[ty][tx] = A[row * k + t + tx];
    Bs[ty][tx] = B[(t + ty) * n + col];
    __syncthreads();
    for (int i = 0; i < 16; i++) acc += As[ty][i] * Bs[i][tx];
    __syncthreads();
  }
  C[row * n + col] = acc;
}

__global__ void spmv_csr_scalar__uncoalesced_accesses(const int* ptr, const int* col,
                                                      const float* val, const float* x, float* y,
                                                      int rows) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float s = 0;
  for (int j = ptr[r]; j < ptr[r + 1]; j++) s += val[j] * x[col[j]];
  y[r] = s;
}

__global__ void transpose_naive__uncoalesced_accesses(const float* in, float* out, int w, int h) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[x * h + y + j] = in[(y + j) * w + x];
}

__global__ void conv7x7__repeated_loads(const float* in, const float* w, float* out, int width,
                                        int height) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= width - 6 || y >= height - 6) return;
  float s = 0;
  for (int i = 0; i < 7; i++)
    for (int j = 0; j < 7; j++) s += w[i * 7 + j] * in[(y + i) * width + x + j];
  out[y * width + x] = s;
}

// Harris's first reduction, with interleaved addressing and a modulo.
__global__ void reduce_modulo__divergence(const float* x, float* out) {
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * 256 + t];
  __syncthreads();
  for (int d = 1; d < 256; d *= 2) {
    if (t % (2 * d) == 0) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

// Channels last: one thread per channel loops over all pixels.
__global__ void batchnorm_stats__too_few_blocks(const float* x, float* mean, float* var, int pixels,
                                                int channels) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  float s = 0, q = 0;
  for (int p = 0; p < pixels; p++) {
    float v = x[p * channels + c];
    s += v;
    q += v * v;
  }
  mean[c] = s / pixels;
  var[c] = q / pixels - (s / pixels) * (s / pixels);
}

__global__ void argmax_rows__work_of_single_threads(const float* x, int* out, int cols) {
  __shared__ float best[256];
  __shared__ int where[256];
  int t = threadIdx.x;
  const float* row = x + blockIdx.x * cols;
  float b = -INFINITY;
  int w = 0;
  for (int i = t; i < cols; i += 256)
    if (row[i] > b) b = row[i], w = i;
  best[t] = b;
  where[t] = w;
  __syncthreads();
  if (t == 0) {
    for (int i = 1; i < 256; i++)
      if (best[i] > best[0]) best[0] = best[i], where[0] = where[i];
    out[blockIdx.x] = where[0];
  }
}

__global__ void gelu__double_precision_by_accident(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = 0.5 * x[i] * (1.0 + tanh(0.7978845608 * (x[i] + 0.044715 * x[i] * x[i] * x[i])));
}

__global__ void gelu__healthy(const float4* x, float4* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 v = x[i];
  auto f = [](float a) { return a / (1.f + __expf(-1.702f * a)); };
  y[i] = make_float4(f(v.x), f(v.y), f(v.z), f(v.w));
}

__global__ void gray__narrow_accesses(const unsigned char* rgb, unsigned char* gray, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) gray[i] = (77 * rgb[3 * i] + 150 * rgb[3 * i + 1] + 29 * rgb[3 * i + 2]) >> 8;
}

__global__ void im2col__divisions(const float* in, float* out, int c, int h, int w, int k, int oh,
                                  int ow) {
  int n = c * k * k * oh * ow;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    int x = i % ow, y = i / ow % oh, kx = i / (ow * oh) % k, ky = i / (ow * oh * k) % k,
        ch = i / (ow * oh * k * k);
    out[i] = in[(ch * h + y + ky) * w + x + kx];
  }
}

__global__ void kmeans_assign__local_memory(const float4* points, const float4* centres,
                                            const int* order, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float d[32];
  float4 p = points[i];
  for (int j = 0; j < 32; j++) {
    float4 c = centres[j];
    d[order[j]] = (p.x - c.x) * (p.x - c.x) + (p.y - c.y) * (p.y - c.y) +
                  (p.z - c.z) * (p.z - c.z) + (p.w - c.w) * (p.w - c.w);
  }
  int best = 0;
  for (int pass = 0; pass < 4; pass++)
    for (int j = 0; j < 32; j++)
      if (d[order[j]] * (1 + pass) < d[best]) best = order[j];
  out[i] = best;
}

__global__ void gemv_row_thread__uncoalesced_accesses(const float* A, const float* x, float* y,
                                                      int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float s = 0;
  for (int j = 0; j < cols; j++) s += A[(size_t)r * cols + j] * x[j];
  y[r] = s;
}

__global__ void rank_one__healthy(float* A, const float* x, const float* y, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, r0 = blockIdx.y * 8;
  float b = y[c];
#pragma unroll
  for (int r = 0; r < 8; r++) A[(r0 + r) * cols + c] += x[r0 + r] * b;
}

__global__ void dot_atomic__atomics_at_one_address(const float* x, const float* y, float* out,
                                                   int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(out, x[i] * y[i]);
}

__global__ void copy__healthy(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}

// One thread per vertex; degrees differ by a factor of a hundred.
__global__ void page_rank__divergence(const int* ptr, const float* rank, float* out, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  int degree = ptr[v];
  float s = rank[v];
  for (int j = 0; j < degree; j++) s = s * 0.999f + 0.1f / (s * s + j + 1.f);
  out[v] = s;
}

__global__ void binary_search__exposed_latency(const float* keys, const float* sorted, int* out,
                                               int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float key = keys[i];
  int lo = 0, hi = m;
  while (lo < hi) {
    int mid = (lo + hi) / 2;
    if (sorted[mid] < key)
      lo = mid + 1;
    else
      hi = mid;
  }
  out[i] = lo;
}

// Tiles of 40 KB in shared memory, with blocks of 64 threads.
__global__ void big_window__low_occupancy(const float* x, float* y, int n) {
  __shared__ float win[10240];
  int base = blockIdx.x * 8192;
  for (int i = threadIdx.x; i < 10240; i += 64) win[i] = base + i < n ? x[base + i] : 0.f;
  __syncthreads();
  for (int i = threadIdx.x; i < 8192; i += 64) y[base + i] = win[i] + win[i + 1024] + win[i + 2048];
}

static float* floats(size_t n, float scale = 1.f) {
  float *h = (float*)malloc(n * 4), *d;
  unsigned s = 7;
  for (size_t i = 0; i < n; i++) {
    s = s * 1664525u + 1013904223u;
    h[i] = scale * (s >> 8) / 16777216.f;
  }
  cudaMalloc(&d, n * 4);
  cudaMemcpy(d, h, n * 4, cudaMemcpyHostToDevice);
  free(h);
  return d;
}
template <class F>
static int* ints(size_t n, F f) {
  int *h = (int*)malloc(n * 4), *d;
  for (size_t i = 0; i < n; i++) h[i] = f(i);
  cudaMalloc(&d, n * 4);
  cudaMemcpy(d, h, n * 4, cudaMemcpyHostToDevice);
  free(h);
  return d;
}

int main() {
  const size_t N = ((size_t)1 << 22) * factor;
  float *A = floats(N + 4096), *B = floats(N + 4096), *Y = floats(N + 4096);
  float* sorted = floats(1 << 20);
  unsigned s = 3;
  auto rnd = [&] {
    s = s * 1664525u + 1013904223u;
    return (int)(s >> 8);
  };
  int rows = 65536 * factor;
  int* ptr = ints(rows + 1, [](size_t i) { return (int)i * 32; });
  int* col = ints((size_t)rows * 32, [&](size_t) { return rnd() % 65536; });
  int* degree = ints(135168 * factor, [&](size_t) {
    int r = rnd() % 32;
    return r == 0 ? 300 : 3;
  });
  int* order = ints(32, [](size_t i) { return (int)(i * 7 % 32); });
  unsigned char* img;
  {
    unsigned char* h = (unsigned char*)malloc(N);
    for (size_t i = 0; i < N; i++) h[i] = rnd() % 4 ? 3 : rnd() % 256;
    cudaMalloc(&img, N);
    cudaMemcpy(img, h, N, cudaMemcpyHostToDevice);
    free(h);
  }
  unsigned char* gray;
  cudaMalloc(&gray, N);
  unsigned* bins;
  cudaMalloc(&bins, 4096);
  cudaMemset(bins, 0, 4096);
  int* oi = ints(N, [](size_t) { return 0; });
  {
    float* h = (float*)malloc(4 << 20);
    for (int i = 0; i < 1 << 20; i++) h[i] = i / 1048576.f;
    cudaMemcpy(sorted, h, 4 << 20, cudaMemcpyHostToDevice);
    free(h);
  }

  softmax_rows__uncoalesced_accesses<<<64 * factor, 128>>>(A, Y, 8192 * factor, 512);
  layernorm_tree__barriers<<<4096 * factor, 1024>>>(A, B, Y, 1024);
  layernorm_warp__healthy<<<512 * factor, 256>>>((float4*)A, (float4*)B, (float4*)Y, 4096 * factor);
  histogram_global__atomics_at_one_address<<<1056, 256>>>(img, bins, N);
  stencil3d_zyx__uncoalesced_accesses<<<dim3(4 * factor, 128), dim3(32, 1)>>>(A, Y, 256, 128,
                                                                              128 * factor);
  stencil3d__healthy<<<dim3(4, 32, 128 * factor - 2), dim3(64, 4)>>>(A, Y, 256, 128, 128 * factor);
  blelloch_scan__bank_conflicts<<<1056 * factor, 1024>>>(A, Y);
  gemm_tile_wrong_index__bank_conflicts<<<dim3(32, 32 * factor), dim3(32, 32)>>>(A, B, Y, 1024,
                                                                                 128);
  gemm_tile__shared_loads<<<dim3(64, 64 * factor), dim3(16, 16)>>>(A, B, Y, 1024, 128);
  spmv_csr_scalar__uncoalesced_accesses<<<256 * factor, 256>>>(ptr, col, A, B, Y, rows);
  transpose_naive__uncoalesced_accesses<<<dim3(64, 64 * factor), dim3(32, 8)>>>(A, Y, 2048,
                                                                                2048 * factor);
  conv7x7__repeated_loads<<<dim3(64, 128 * factor), dim3(32, 8)>>>(A, B, Y, 2048, 1024 * factor);
  reduce_modulo__divergence<<<16384 * factor, 256>>>(A, Y);
  batchnorm_stats__too_few_blocks<<<4, 64>>>(A, Y, Y + 256, 4096 * factor, 256);
  argmax_rows__work_of_single_threads<<<4096 * factor, 256>>>(A, oi, 1024);
  gelu__double_precision_by_accident<<<16384 * factor, 256>>>(A, Y, N);
  gelu__healthy<<<4096 * factor, 256>>>((float4*)A, (float4*)Y, N / 4);
  gray__narrow_accesses<<<5120 * factor, 256>>>(img, gray, 1310720 * factor);
  im2col__divisions<<<1056 * factor, 256>>>(A, Y, 8 * factor, 200, 200, 3, 198, 198);
  kmeans_assign__local_memory<<<1056 * factor, 256>>>((float4*)A, (float4*)B, order, oi,
                                                      270336 * factor);
  gemv_row_thread__uncoalesced_accesses<<<64 * factor, 128>>>(A, B, Y, 8192 * factor, 512);
  rank_one__healthy<<<dim3(8, 256 * factor), 256>>>(Y, A, B, 2048 * factor, 2048);
  dot_atomic__atomics_at_one_address<<<1024 * factor, 256>>>(A, B, Y, 262144 * factor);
  copy__healthy<<<16384 * factor, 256>>>(A, Y, N);
  page_rank__divergence<<<528 * factor, 256>>>(degree, A, Y, 135168 * factor);
  binary_search__exposed_latency<<<528 * factor, 256>>>(B, sorted, oi, 135168 * factor, 1 << 20);
  big_window__low_occupancy<<<510 * factor, 64>>>(A, Y, N);
  cudaError_t e = cudaDeviceSynchronize();
  printf("%s\n", cudaGetErrorString(e));
  return e != cudaSuccess;
}
