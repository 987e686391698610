// Softmax and normalisations of rows.
#include "arrays.cuh"

__device__ float warp_sum(float v) {
  for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(~0u, v, o);
  return v;
}

__device__ float block_sum(float v, float* s) {
  v = warp_sum(v);
  __syncthreads();
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  v = 0;
  for (int w = 0; w < blockDim.x / 32; ++w) v += s[w];
  return v;
}

__global__ void softmax_by_warp(const float* x, float* y, int rows) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float v[8], most = -1e30f, sum = 0;
  for (int j = 0; j < 8; ++j) most = fmaxf(most, v[j] = x[row * 256 + j * 32 + lane]);
  for (int o = 16; o > 0; o /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, o));
  for (int j = 0; j < 8; ++j) sum += v[j] = __expf(v[j] - most);
  sum = warp_sum(sum);
  for (int j = 0; j < 8; ++j) y[row * 256 + j * 32 + lane] = v[j] / sum;
}

__global__ void softmax_by_thread(const float* x, float* y, int rows) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float most = -1e30f, sum = 0;
  for (int j = 0; j < 64; ++j) most = fmaxf(most, x[row * 64 + j]);
  for (int j = 0; j < 64; ++j) sum += expf(x[row * 64 + j] - most);
  for (int j = 0; j < 64; ++j) y[row * 64 + j] = expf(x[row * 64 + j] - most) / sum;
}

__global__ void layernorm_two_pass(const float* x, const float* gain, const float* bias, float* y,
                                   int columns) {
  __shared__ float s[32];
  const float* row = x + blockIdx.x * columns;
  float sum = 0, squares = 0;
  for (int j = threadIdx.x; j < columns; j += blockDim.x) sum += row[j];
  float mean = block_sum(sum, s) / columns;
  for (int j = threadIdx.x; j < columns; j += blockDim.x) {
    squares += (row[j] - mean) * (row[j] - mean);
  }
  float scale = rsqrtf(block_sum(squares, s) / columns + 1e-5f);
  for (int j = threadIdx.x; j < columns; j += blockDim.x) {
    y[blockIdx.x * columns + j] = (row[j] - mean) * scale * gain[j] + bias[j];
  }
}

__global__ void rmsnorm_half8(const uint4* x, const uint4* gain, uint4* y, int vectors) {
  __shared__ float s[32];
  uint4 v = x[blockIdx.x * vectors + threadIdx.x], g = gain[threadIdx.x];
  __half2 *a = (__half2*)&v, *b = (__half2*)&g;
  float squares = 0;
  for (int j = 0; j < 4; ++j) {
    float2 f = __half22float2(a[j]);
    squares += f.x * f.x + f.y * f.y;
  }
  float scale = rsqrtf(block_sum(squares, s) / (8 * vectors) + 1e-6f);
  for (int j = 0; j < 4; ++j) a[j] = __hmul2(__hmul2(a[j], __float2half2_rn(scale)), b[j]);
  y[blockIdx.x * vectors + threadIdx.x] = v;
}

__global__ void log_softmax_online(const float* x, float* y, int columns) {
  __shared__ float tops[8], sums[8];
  const float* row = x + (size_t)blockIdx.x * columns;
  float top = -1e30f, sum = 0;
  for (int j = threadIdx.x; j < columns; j += 256) {
    float v = row[j], now = fmaxf(top, v);
    sum = sum * expf(top - now) + expf(v - now);
    top = now;
  }
  for (int o = 16; o > 0; o /= 2) {
    float t = __shfl_xor_sync(~0u, top, o), u = __shfl_xor_sync(~0u, sum, o), now = fmaxf(top, t);
    sum = sum * expf(top - now) + u * expf(t - now);
    top = now;
  }
  if (threadIdx.x % 32 == 0) tops[threadIdx.x / 32] = top, sums[threadIdx.x / 32] = sum;
  __syncthreads();
  for (int w = 0; w < 8; ++w) top = fmaxf(top, tops[w]);
  sum = 0;
  for (int w = 0; w < 8; ++w) sum += sums[w] * expf(tops[w] - top);
  float shift = top + logf(sum);
  for (int j = threadIdx.x; j < columns; j += 256)
    y[(size_t)blockIdx.x * columns + j] = row[j] - shift;
}

__global__ void groupnorm_channels_last(const float* x, float* y, int pixels, int channels,
                                        int group) {
  __shared__ float s[32];
  int first = blockIdx.x * group, n = pixels * group;
  const float* image = x + blockIdx.y * pixels * channels;
  float sum = 0, squares = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    float v = image[i / group * channels + first + i % group];
    sum += v, squares += v * v;
  }
  float mean = block_sum(sum, s) / n,
        scale = rsqrtf(block_sum(squares, s) / n - mean * mean + 1e-5f);
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    int at = i / group * channels + first + i % group;
    y[blockIdx.y * pixels * channels + at] = (image[at] - mean) * scale;
  }
}

int main() {
  const int n = 1 << 22;
  float *x = floats(n), *y = zeros<float>(n);
  softmax_by_warp<<<n / 2048, 256>>>(x, y, n / 256);
  softmax_by_thread<<<n / 64 / 256, 256>>>(x, y, n / 64);
  layernorm_two_pass<<<n / 1024, 128>>>(x, x, x, y, 1024);
  auto* h = filled<__half>(2 * n, [](unsigned i) { return __float2half(mixed(i) * 0x1p-32f); });
  rmsnorm_half8<<<n / 2048, 512>>>((uint4*)h, (uint4*)h, (uint4*)zeros<__half>(2 * n), 512);
  log_softmax_online<<<64, 256>>>(x, y, 32768);
  groupnorm_channels_last<<<dim3(8, 16), 256>>>(x, y, 1024, 256, 32);
  return cudaDeviceSynchronize();
}
