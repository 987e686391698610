// Small launches: few blocks, long chains, a few microseconds.
#include "arrays.cuh"

__global__ void axpy_1024(float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] += a * x[i];
}

__global__ void sum_in_one_block(const float* x, float* sum, int n) {
  __shared__ float s[32];
  float v = 0;
  for (int i = threadIdx.x; i < n; i += 1024) v += x[i];
  for (int o = 16; o > 0; o /= 2) v += __shfl_down_sync(~0u, v, o);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    v = s[threadIdx.x];
    for (int o = 16; o > 0; o /= 2) v += __shfl_down_sync(~0u, v, o);
    if (threadIdx.x == 0) *sum = v;
  }
}

__global__ void cholesky_32(float* a) {
  __shared__ float s[32][33];
  int t = threadIdx.x;
  for (int i = 0; i < 32; ++i) s[i][t] = a[i * 32 + t];
  __syncwarp();
  for (int k = 0; k < 32; ++k) {
    if (t == k) s[k][k] = sqrtf(s[k][k]);
    __syncwarp();
    if (t > k) s[t][k] /= s[k][k];
    __syncwarp();
    for (int j = k + 1; j <= t; ++j) s[t][j] -= s[t][k] * s[j][k];
    __syncwarp();
  }
  for (int i = 0; i < 32; ++i) a[i * 32 + t] = s[i][t];
}

__global__ void fft_256(float2* x) {
  __shared__ float2 s[256];
  int t = threadIdx.x;
  s[__brev(t) >> 24] = x[blockIdx.x * 256 + t],
                 s[__brev(t + 128) >> 24] = x[blockIdx.x * 256 + t + 128];
  for (int half = 1; half < 256; half *= 2) {
    __syncthreads();
    int k = t % half, i = (t - k) * 2 + k;
    float c, d;
    __sincosf(-3.14159265f * k / half, &d, &c);
    float2 a = s[i], b = s[i + half], w = {b.x * c - b.y * d, b.x * d + b.y * c};
    s[i] = make_float2(a.x + w.x, a.y + w.y), s[i + half] = make_float2(a.x - w.x, a.y - w.y);
  }
  __syncthreads();
  x[blockIdx.x * 256 + t] = s[t], x[blockIdx.x * 256 + t + 128] = s[t + 128];
}

__global__ void recurrence_one_thread(const float* x, float* y, int n) {
  float state = 0;
  for (int i = 0; i < n; ++i) y[i] = state = 0.9f * state + x[i];
}

__global__ void layer_of_128(const float* w, const float* x, float* y) {
  float sum = 0;
  for (int k = 0; k < 128; ++k) sum += w[k * 128 + threadIdx.x] * x[blockIdx.x * 128 + k];
  y[blockIdx.x * 128 + threadIdx.x] = tanhf(sum);
}

__global__ void tridiagonal_solves(const float* a, const float* b, float* c, float* d, int rows,
                                   int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float cp = 0, dp = 0;
  for (int r = 0; r < rows; ++r) {
    float m = 1 / (3 + b[r * n + i] - a[r * n + i] * cp);
    c[r * n + i] = cp = c[r * n + i] * m;
    d[r * n + i] = dp = (d[r * n + i] - a[r * n + i] * dp) * m;
  }
  for (int r = rows - 2; r >= 0; --r) d[r * n + i] = dp = d[r * n + i] - c[r * n + i] * dp;
}

int main() {
  const int n = 1 << 20;
  float *x = floats(n), *y = zeros<float>(n);
  axpy_1024<<<4, 256>>>(2, x, y);
  sum_in_one_block<<<1, 1024>>>(x, y, 1 << 16);
  cholesky_32<<<1, 32>>>(
      filled<float>(1024, [](unsigned i) { return i % 33 == 0 ? 40.0f : 1.0f; }));
  fft_256<<<256, 128>>>((float2*)x);
  recurrence_one_thread<<<1, 1>>>(x, y, 1024);
  layer_of_128<<<16, 128>>>(x, x, y);
  tridiagonal_solves<<<32, 128>>>(x, x, floats(n), y, 128, 4096);
  return cudaDeviceSynchronize();
}
