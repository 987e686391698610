// Attention: one query (decoding), many queries (prefill), rotations.
#include "arrays.cuh"

constexpr int dim = 64;

__global__ void decode_block_per_head(const float* q, const float* k, const float* v, float* out,
                                      int keys) {
  __shared__ float scores[512], s[4];
  int head = blockIdx.x, t = threadIdx.x, lane = t % 32;
  float sum = 0;
  for (int j = t; j < keys; j += 128) {
    float dot = 0;
    for (int d = 0; d < dim; ++d) dot += q[head * dim + d] * k[(head * keys + j) * dim + d];
    scores[j] = __expf(dot * 0.125f - 4);
    sum += scores[j];
  }
  for (int o = 16; o > 0; o /= 2) sum += __shfl_xor_sync(~0u, sum, o);
  if (lane == 0) s[t / 32] = sum;
  __syncthreads();
  sum = s[0] + s[1] + s[2] + s[3];
  if (t >= dim) return;
  float o = 0;
  for (int j = 0; j < keys; ++j) o += scores[j] * v[(head * keys + j) * dim + t];
  out[head * dim + t] = o / sum;
}

__global__ void decode_warp_per_head(const float* q, const float* k, const float* v, float* out,
                                     int keys, int heads) {
  int head = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (head >= heads) return;
  float2 mine = ((const float2*)q)[head * 32 + lane], o = {0, 0};
  float most = -1e30f, sum = 0;
  for (int j = 0; j < keys; ++j) {
    float2 a = ((const float2*)k)[(head * keys + j) * 32 + lane];
    float dot = mine.x * a.x + mine.y * a.y;
    for (int h = 16; h > 0; h /= 2) dot += __shfl_xor_sync(~0u, dot, h);
    float now = fmaxf(most, dot * 0.125f), old = __expf(most - now), e = __expf(dot * 0.125f - now);
    float2 b = ((const float2*)v)[(head * keys + j) * 32 + lane];
    o.x = o.x * old + e * b.x, o.y = o.y * old + e * b.y;
    sum = sum * old + e, most = now;
  }
  ((float2*)out)[head * 32 + lane] = make_float2(o.x / sum, o.y / sum);
}

__global__ void decode_split_half8(const uint4* q, const uint4* k, float* score, int keys) {
  int lane = threadIdx.x % 8, j = (blockIdx.x * blockDim.x + threadIdx.x) / 8, head = blockIdx.y;
  if (j >= keys) return;
  uint4 a = q[head * 8 + lane], b = k[((size_t)head * keys + j) * 8 + lane];
  float dot = 0;
  for (int i = 0; i < 4; ++i) {
    float2 x = __half22float2(((__half2*)&a)[i]), y = __half22float2(((__half2*)&b)[i]);
    dot += x.x * y.x + x.y * y.y;
  }
  for (int o = 4; o > 0; o /= 2) dot += __shfl_xor_sync(~0u, dot, o);
  if (lane == 0) score[head * keys + j] = dot;
}

__global__ void prefill_thread_per_query(const float* q, const float* k, const float* v, float* out,
                                         int keys) {
  __shared__ float ks[16][dim], vs[16][dim];
  int row = blockIdx.x * 64 + threadIdx.x;
  float mine[dim], o[dim] = {}, most = -1e30f, sum = 0;
  for (int d = 0; d < dim; ++d) mine[d] = q[row * dim + d];
  for (int j = 0; j < keys; j += 16) {
    for (int i = threadIdx.x; i < 16 * dim; i += 64) {
      ks[i / dim][i % dim] = k[j * dim + i];
      vs[i / dim][i % dim] = v[j * dim + i];
    }
    __syncthreads();
    for (int i = 0; i < 16; ++i) {
      float dot = 0;
      for (int d = 0; d < dim; ++d) dot += mine[d] * ks[i][d];
      float now = fmaxf(most, dot * 0.125f), old = __expf(most - now),
            e = __expf(dot * 0.125f - now);
      for (int d = 0; d < dim; ++d) o[d] = o[d] * old + e * vs[i][d];
      sum = sum * old + e, most = now;
    }
    __syncthreads();
  }
  for (int d = 0; d < dim; ++d) out[row * dim + d] = o[d] / sum;
}

__global__ void scores_tile_32(const float* q, const float* k, float* s, int keys) {
  __shared__ float qs[32][dim + 1], ks[32][dim + 1];
  int x = threadIdx.x, y = threadIdx.y, t = y * 32 + x;
  for (int i = t; i < 32 * dim; i += 256) {
    qs[i / dim][i % dim] = q[blockIdx.y * 32 * dim + i];
    ks[i / dim][i % dim] = k[blockIdx.x * 32 * dim + i];
  }
  __syncthreads();
  float sum[4] = {};
  for (int d = 0; d < dim; ++d) {
    for (int r = 0; r < 4; ++r) sum[r] += qs[y + 8 * r][d] * ks[x][d];
  }
  for (int r = 0; r < 4; ++r) {
    int row = blockIdx.y * 32 + y + 8 * r, column = blockIdx.x * 32 + x;
    s[row * keys + column] = column <= row ? sum[r] * 0.125f : -1e30f;
  }
}

__global__ void rope(float* x, int tokens, int heads) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= tokens * heads * dim / 2) return;
  int pair = i % (dim / 2), head = i / (dim / 2) % heads, token = i / (dim / 2) / heads;
  float angle = token * powf(10000, -2.0f * pair / dim), c, s;
  sincosf(angle, &s, &c);
  float* at = x + (token * heads + head) * dim + pair;
  float a = at[0], b = at[dim / 2];
  at[0] = a * c - b * s, at[dim / 2] = a * s + b * c;
}

int main() {
  const int heads = 64, keys = 512, n = heads * keys * dim;
  float *q = floats(n), *k = floats(n), *v = floats(n), *out = zeros<float>(n);
  decode_block_per_head<<<heads, 128>>>(q, k, v, out, keys);
  decode_warp_per_head<<<heads / 4, 128>>>(q, k, v, out, keys, heads);
  auto* h = filled<__half>(4 * n, [](unsigned i) { return __float2half(mixed(i) * 0x1p-32f); });
  decode_split_half8<<<dim3(2048 / 32, 64), 256>>>((uint4*)h, (uint4*)h, zeros<float>(n), 2048);
  prefill_thread_per_query<<<128, 64>>>(q, k, v, out, 256);
  scores_tile_32<<<dim3(32, 32), dim3(32, 8)>>>(q, k, zeros<float>(1 << 20), 1024);
  rope<<<2048 * 16 * 32 / 256, 256>>>(q, 2048, 16);
  return cudaDeviceSynchronize();
}
