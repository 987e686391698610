// Inference of a language model: norms, attention, rotations, quantised weights, sampling.
#include "arrays.cuh"

__device__ float sum_of_block(float v, float* s) {
  for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    v = threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : 0;
    for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o);
    if (threadIdx.x == 0) s[0] = v;
  }
  __syncthreads();
  return s[0];
}

__global__ void rmsnorm_residual(float* x, const float* residual, const float* weight, float* y,
                                 int hidden) {
  __shared__ float s[32];
  float* row = x + (size_t)blockIdx.x * hidden;
  const float* add = residual + (size_t)blockIdx.x * hidden;
  float sum = 0;
  for (int i = threadIdx.x; i < hidden; i += blockDim.x) {
    float v = row[i] + add[i];
    row[i] = v;
    sum += v * v;
  }
  float scale = rsqrtf(sum_of_block(sum, s) / hidden + 1e-6f);
  for (int i = threadIdx.x; i < hidden; i += blockDim.x) {
    y[(size_t)blockIdx.x * hidden + i] = row[i] * scale * weight[i];
  }
}

__global__ void softmax_causal(float* scores, int n) {
  __shared__ float s[128];
  int row = blockIdx.x % n, t = threadIdx.x;
  float* p = scores + (size_t)blockIdx.x * n;
  float most = -1e30f;
  for (int j = t; j <= row; j += 128) most = fmaxf(most, p[j]);
  s[t] = most;
  __syncthreads();
  for (int o = 64; o > 0; o /= 2) {
    if (t < o) s[t] = fmaxf(s[t], s[t + o]);
    __syncthreads();
  }
  most = s[0];
  __syncthreads();
  float sum = 0;
  for (int j = t; j <= row; j += 128) sum += p[j] = expf(p[j] - most);
  s[t] = sum;
  __syncthreads();
  for (int o = 64; o > 0; o /= 2) {
    if (t < o) s[t] += s[t + o];
    __syncthreads();
  }
  for (int j = t; j < n; j += 128) p[j] = j <= row ? p[j] / s[0] : 0;
}

// 32 heads, 8 of them for keys; 128 elements per head.
__global__ void decode_grouped_query(const __half* q, const __half* k, const __half* v, float* out,
                                     int keys) {
  extern __shared__ float score[];
  __shared__ float s[32];
  int head = blockIdx.x, sequence = blockIdx.y, group = head / 4;
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const __half* mine = q + (sequence * 32 + head) * 128;
  const __half* ks = k + (size_t)(sequence * 8 + group) * keys * 128;
  const __half* vs = v + (size_t)(sequence * 8 + group) * keys * 128;
  float a[4];
  for (int i = 0; i < 4; ++i) a[i] = __half2float(mine[lane * 4 + i]);
  for (int j = warp; j < keys; j += 4) {
    float dot = 0;
    for (int i = 0; i < 4; ++i) dot += a[i] * __half2float(ks[j * 128 + lane * 4 + i]);
    for (int o = 16; o > 0; o >>= 1) dot += __shfl_xor_sync(0xffffffff, dot, o);
    if (lane == 0) score[j] = dot * 0.08838835f;
  }
  __syncthreads();
  float most = -1e30f;
  for (int j = 0; j < keys; ++j) most = fmaxf(most, score[j]);
  __syncthreads();
  float sum = 0;
  for (int j = threadIdx.x; j < keys; j += 128) sum += score[j] = __expf(score[j] - most);
  sum = sum_of_block(sum, s);
  float o = 0;
  for (int j = 0; j < keys; ++j) o += score[j] * __half2float(vs[j * 128 + threadIdx.x]);
  out[(sequence * 32 + head) * 128 + threadIdx.x] = o / sum;
}

__global__ void rope_by_table(__half2* q, const float2* table, int heads) {
  int token = blockIdx.x, pairs = 64;
  for (int i = threadIdx.x; i < heads * pairs; i += blockDim.x) {
    float2 x = __half22float2(q[(size_t)token * heads * pairs + i]);
    float2 r = table[token * pairs + i % pairs];
    q[(size_t)token * heads * pairs + i] =
        __floats2half2_rn(x.x * r.x - x.y * r.y, x.x * r.y + x.y * r.x);
  }
}

__global__ void quantize_groups_of_128(const float4* x, unsigned short* q, __half* scale,
                                       int groups) {
  int group = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (group >= groups) return;
  float4 v = x[group * 32 + lane];
  float most = fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w)));
  for (int o = 16; o > 0; o >>= 1) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, o));
  float d = most / 7, r = d > 0 ? 1 / d : 0;
  int a = (int)rintf(v.x * r) + 8, b = (int)rintf(v.y * r) + 8, c = (int)rintf(v.z * r) + 8,
      e = (int)rintf(v.w * r) + 8;
  q[group * 32 + lane] = a | b << 4 | c << 8 | e << 12;
  if (lane == 0) scale[group] = __float2half(d);
}

__global__ void gemv_int8_rows(const char4* w, const float* scale, const float4* x, float* y,
                               int columns) {
  __shared__ float s[32];
  const char4* row = w + (size_t)blockIdx.x * columns / 4;
  float sum = 0;
  for (int i = threadIdx.x; i < columns / 4; i += blockDim.x) {
    char4 a = row[i];
    float4 b = x[i];
    sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
  }
  sum = sum_of_block(sum, s);
  if (threadIdx.x == 0) y[blockIdx.x] = sum * scale[blockIdx.x];
}

__global__ void top_4_of_logits(const float* logits, float* value, int* index, int n) {
  __shared__ float best[256];
  __shared__ int where[256];
  extern __shared__ float row[];
  int t = threadIdx.x;
  for (int j = t; j < n; j += 256) row[j] = logits[(size_t)blockIdx.x * n + j];
  __syncthreads();
  for (int k = 0; k < 4; ++k) {
    float most = -1e30f;
    int at = 0;
    for (int j = t; j < n; j += 256) {
      if (row[j] > most) most = row[j], at = j;
    }
    best[t] = most, where[t] = at;
    __syncthreads();
    for (int o = 128; o > 0; o /= 2) {
      if (t < o && best[t + o] > best[t]) best[t] = best[t + o], where[t] = where[t + o];
      __syncthreads();
    }
    if (t == 0) {
      value[blockIdx.x * 4 + k] = best[0], index[blockIdx.x * 4 + k] = where[0];
      row[where[0]] = -1e30f;
    }
    __syncthreads();
  }
}

int main() {
  const int n = 1 << 21;
  float *x = floats(n), *y = zeros<float>(n);
  auto half_of = [](unsigned i) { return __float2half(mixed(i) * 0x1p-31f - 1); };
  auto* h = filled<__half>(4 * n, half_of);
  rmsnorm_residual<<<512, 256>>>(x, floats(n), floats(4096), y, 4096);
  softmax_causal<<<4 * 512, 128>>>(floats(n), 512);
  decode_grouped_query<<<dim3(32, 4), 128, 1024 * 4>>>(h, h, h, y, 1024);
  rope_by_table<<<1024, 256>>>((__half2*)h, (float2*)floats(1024 * 128), 32);
  quantize_groups_of_128<<<n / 128 / 8, 256>>>((float4*)floats(n), zeros<unsigned short>(n / 4),
                                               zeros<__half>(n / 128), n / 128);
  auto* w = filled<char>(8 * n, [](unsigned i) { return mixed(i) % 255 - 127; });
  gemv_int8_rows<<<4096, 128>>>((char4*)w, x, (float4*)x, y, 4096);
  top_4_of_logits<<<256, 256, 8192 * 4>>>(floats(n), y, zeros<int>(1024), 8192);
  return cudaDeviceSynchronize();
}
