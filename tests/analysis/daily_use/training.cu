// Training of a network: embeddings, losses, gradients, optimizers.
#include <cuda_bf16.h>

#include "arrays.cuh"

__global__ void embed_tokens(const int* token, const float* table, const float* position,
                             float* out, int width, int length) {
  int t = blockIdx.x;
  const float* row = table + (size_t)token[t] * width;
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    out[(size_t)t * width + i] = row[i] + position[t % length * width + i];
  }
}

__global__ void cross_entropy(const float* logits, const int* target, float* loss, float* gradient,
                              int classes) {
  __shared__ float s[256];
  int t = threadIdx.x;
  const float* row = logits + (size_t)blockIdx.x * classes;
  float most = -1e30f, sum = 0;
  for (int j = t; j < classes; j += 256) most = fmaxf(most, row[j]);
  s[t] = most;
  __syncthreads();
  for (int o = 128; o > 0; o >>= 1) {
    if (t < o) s[t] = fmaxf(s[t], s[t + o]);
    __syncthreads();
  }
  most = s[0];
  __syncthreads();
  for (int j = t; j < classes; j += 256) sum += expf(row[j] - most);
  s[t] = sum;
  __syncthreads();
  for (int o = 128; o > 0; o >>= 1) {
    if (t < o) s[t] += s[t + o];
    __syncthreads();
  }
  float all = s[0];
  int right = target[blockIdx.x];
  for (int j = t; j < classes; j += 256) {
    gradient[(size_t)blockIdx.x * classes + j] =
        (expf(row[j] - most) / all - (j == right)) / gridDim.x;
  }
  if (t == 0) loss[blockIdx.x] = logf(all) + most - row[right];
}

__global__ void adamw_mixed(float* master, __nv_bfloat16* w, const __nv_bfloat16* g, float* m,
                            float* v, float rate, float b1, float b2, float c1, float c2, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float gi = __bfloat162float(g[i]);
  float mi = m[i] = b1 * m[i] + (1 - b1) * gi;
  float vi = v[i] = b2 * v[i] + (1 - b2) * gi * gi;
  float x = master[i];
  x -= rate * ((mi / c1) / (sqrtf(vi / c2) + 1e-8f) + 0.01f * x);
  master[i] = x;
  w[i] = __float2bfloat16(x);
}

__global__ void layernorm_backward(const float* dy, const float* x, const float* mean,
                                   const float* rstd, const float* gain, float* dx, int width) {
  int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
  const float *g = dy + row * width, *a = x + row * width;
  float mu = mean[row], r = rstd[row], s1 = 0, s2 = 0;
  for (int i = lane; i < width; i += 32) {
    float d = g[i] * gain[i];
    s1 += d;
    s2 += d * (a[i] - mu) * r;
  }
  for (int o = 16; o > 0; o >>= 1) {
    s1 += __shfl_xor_sync(0xffffffff, s1, o);
    s2 += __shfl_xor_sync(0xffffffff, s2, o);
  }
  for (int i = lane; i < width; i += 32) {
    float d = g[i] * gain[i], normal = (a[i] - mu) * r;
    dx[row * width + i] = r * (d - s1 / width - normal * s2 / width);
  }
}

__global__ void bias_gradient(const float* dy, float* db, int rows, int columns) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int i = blockIdx.y; i < rows; i += gridDim.y) sum += dy[(size_t)i * columns + j];
  atomicAdd(&db[j], sum);
}

__global__ void dropout_residual(const float4* x, const float4* residual, float4* y, unsigned seed,
                                 float keep, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned c[4] = {(unsigned)i, seed, 0, 0}, k0 = seed, k1 = 0x1234567;
  for (int round = 0; round < 10; ++round) {
    unsigned h0 = __umulhi(0xD2511F53u, c[0]), l0 = 0xD2511F53u * c[0];
    unsigned h1 = __umulhi(0xCD9E8D57u, c[2]), l1 = 0xCD9E8D57u * c[2];
    c[0] = h1 ^ c[1] ^ k0, c[1] = l1, c[2] = h0 ^ c[3] ^ k1, c[3] = l0;
    k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
  }
  float4 a = x[i], b = residual[i];
  unsigned limit = (unsigned)(keep * 4294967295.0f);
  b.x += c[0] < limit ? a.x / keep : 0;
  b.y += c[1] < limit ? a.y / keep : 0;
  b.z += c[2] < limit ? a.z / keep : 0;
  b.w += c[3] < limit ? a.w / keep : 0;
  y[i] = b;
}

int main() {
  const int n = 1 << 21;
  float *x = floats(2 * n), *y = zeros<float>(2 * n);
  embed_tokens<<<4096, 128>>>(integers(4096, 2048), x, floats(512 * 512), y, 512, 512);
  cross_entropy<<<256, 256>>>(x, integers(256, 10000), zeros<float>(256), y, 10000);
  auto* g = filled<__nv_bfloat16>(
      n, [](unsigned i) { return __float2bfloat16(mixed(i) * 0x1p-31f - 1); });
  adamw_mixed<<<n / 256, 256>>>(floats(n), zeros<__nv_bfloat16>(n), g, floats(n), floats(n), 1e-3f,
                                0.9f, 0.95f, 0.1f, 0.05f, n);
  layernorm_backward<<<2048 / 4, dim3(32, 4)>>>(x, floats(n), floats(2048), floats(2048),
                                                floats(1024), y, 1024);
  bias_gradient<<<dim3(1024 / 128, 64), 128>>>(x, zeros<float>(1024), 4096, 1024);
  dropout_residual<<<n / 4 / 256, 256>>>((float4*)x, (float4*)floats(n), (float4*)y, 42, 0.9f,
                                         n / 4);
  return cudaDeviceSynchronize();
}
