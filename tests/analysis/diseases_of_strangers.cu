// Kernels like those of diseases.cu, from other fields: particle physics, genomics, finance, signal
// and image processing. Each is named after the disease that its author expected to be reported
// first, before any of them was explained.

#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>
#ifndef SCALE
#define SCALE 1
#endif
constexpr int factor = SCALE;

struct Hit {
  float x, y, z, t, energy, sigma, charge, quality;
  int detector, layer, module, chip, row, col, flags, event;
};

// Reads the energies of hits from records of 64 bytes.
__global__ void calibrated_hits__uncoalesced_accesses(const Hit* hits, float* energies, int n,
                                                      float gain) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) energies[i] = hits[i].energy * gain;
}

// Each thread filters its own 32 samples; shared memory holds the samples of one thread
// contiguously, followed by those of the next.
__global__ void filter_bank__bank_conflicts(const float* signal, float* out, float pole,
                                            int rounds) {
  __shared__ float samples[128 * 32];
  for (int i = threadIdx.x; i < 128 * 32; i += 128) samples[i] = signal[blockIdx.x * 4096 + i];
  __syncthreads();
  float state = 0;
  for (int r = 0; r < rounds; r++)
    for (int i = 0; i < 32; i++) {
      state = state * pole + samples[threadIdx.x * 32 + i];
    }
  out[blockIdx.x * 128 + threadIdx.x] = state;
}

// A Viterbi-like recursion over the scores of a block, computed by thread 0 alone.
__global__ void best_paths__work_of_single_threads(const float* scores, float* best, int steps) {
  __shared__ float s[1024];
  for (int i = threadIdx.x; i < steps; i += blockDim.x) s[i] = scores[blockIdx.x * steps + i];
  __syncthreads();
  if (threadIdx.x == 0) {
    float on = 0, off = 0;
    for (int i = 0; i < steps; i++) {
      float stay = fmaxf(on + s[i], off - 1.f);
      off = fmaxf(off, on - 2.f);
      on = stay;
    }
    best[blockIdx.x] = fmaxf(on, off);
  }
}

// Escape times: rows in the middle of the picture take all iterations, others exit at once.
__global__ void escape_times__uneven_blocks(int* out, int width, int height, int most) {
  int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y;
  if (px >= width) return;
  float cy = 24.f * py / height - 12.f, cx = px * 1e-6f;
  float x = 0, y = 0;
  int i = 0;
  while (i < most && x * x + y * y < 4.f) {
    float next = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = next;
    i++;
  }
  out[py * width + px] = i;
}

// Stream compaction by a threshold: an atomic assigns the position of every kept element.
__global__ void keep_above__atomics_at_one_address(const float* x, float* kept, int* count, int n,
                                                   float threshold) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] > threshold) kept[atomicAdd(count, 1)] = x[i];
}

// Sums of weights for the four bases of a genome, in shared memory.
__global__ void base_weights__atomics_at_one_shared_address(const unsigned char* bases,
                                                            const float* weights, float* sums,
                                                            int n) {
  __shared__ float s[4];
  if (threadIdx.x < 4) s[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&s[bases[i] & 3], weights[i]);
  __syncthreads();
  if (threadIdx.x < 4) atomicAdd(&sums[threadIdx.x], s[threadIdx.x]);
}

// Great-circle distances, where a constant without f makes everything double.
__global__ void distances__double_precision_by_accident(const float* lat, const float* lon,
                                                        float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float dlat = lat[i] * 3.14159265358979 / 180.0, dlon = lon[i] * 3.14159265358979 / 180.0;
  float a = 0.5 - 0.5 * (1.0 - dlat * dlat * 0.5) + 0.25 * dlon * dlon * (1.0 - dlat * 0.166667);
  out[i] = 12742.0 * a * (1.0 + 0.1666667 * a);
}

// Nearest-neighbour upsampling: every thread derives its pixel in a batch of images from one index.
__global__ void upsample__divisions(const float* in, float* out, int images, int h, int w, int oh,
                                    int ow) {
  int total = images * oh * ow;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += gridDim.x * blockDim.x) {
    int x = i % ow, y = i / ow % oh, b = i / (ow * oh);
    out[i] = in[(b * h + y * h / oh) * w + x * w / ow];
  }
}

// Each thread solves its own system of 6 equations, with pivoting.
__global__ void small_systems__local_memory(const float* a, const float* b, float* x, int n) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= n) return;
  float m[6][7];
  for (int i = 0; i < 6; i++) {
    for (int j = 0; j < 6; j++) m[i][j] = a[(i * 6 + j) * n + id] + (i == j ? 4.f : 0.f);
    m[i][6] = b[i * n + id];
  }
  for (int p = 0; p < 6; p++) {
    int pivot = p;
    for (int i = p + 1; i < 6; i++)
      if (fabsf(m[i][p]) > fabsf(m[pivot][p])) pivot = i;
    for (int j = p; j < 7; j++) {
      float t = m[p][j];
      m[p][j] = m[pivot][j];
      m[pivot][j] = t;
    }
    for (int i = 0; i < 6; i++) {
      if (i == p) continue;
      float f = m[i][p] / m[p][p];
      for (int j = p; j < 7; j++) m[i][j] -= f * m[p][j];
    }
  }
  for (int i = 0; i < 6; i++) x[i * n + id] = m[i][6] / m[i][i];
}

// Prices of options of five kinds in random order, each kind with its own formula.
__global__ void payoffs__divergence(const int* kind, const float* spot, const float* strike,
                                    float* value, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float s = spot[i], k = strike[i], v = 0;
  switch (kind[i]) {
    case 0:
      for (int j = 1; j < 24; j++) v += __expf(-0.01f * j) * fmaxf(s * (1 + 0.02f * j) - k, 0.f);
      break;
    case 1:
      for (int j = 1; j < 24; j++) v += __expf(-0.02f * j) * fmaxf(k - s * (1 - 0.02f * j), 0.f);
      break;
    case 2:
      for (int j = 1; j < 24; j++) v += __logf(1 + j * s) * fminf(s, k);
      break;
    case 3:
      for (int j = 1; j < 24; j++) v = fmaxf(v, __sinf(j * k) * s);
      break;
    default:
      for (int j = 1; j < 24; j++) v = v * 0.99f + __cosf(j * s) * k;
  }
  value[i] = v;
}

// One block per small molecule of 20 atoms, one thread per atom.
__global__ void forces__partial_warps(const float4* atoms, float4* force, int rounds) {
  __shared__ float4 a[20];
  a[threadIdx.x] = atoms[blockIdx.x * 20 + threadIdx.x];
  __syncthreads();
  float4 me = a[threadIdx.x], f = {0, 0, 0, 0};
  for (int r = 0; r < rounds; r++)
    for (int j = 0; j < 20; j++) {
      float dx = a[j].x - me.x, dy = a[j].y - me.y, dz = a[j].z - me.z;
      float w = a[j].w * rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
      f.x += w * dx;
      f.y += w * dy;
      f.z += w * dz;
    }
  force[blockIdx.x * 20 + threadIdx.x] = f;
}

// Superposition of waves: loads and stores the field for every source.
__global__ void superpose__repeated_stores(float* field, const float* amplitude, const float* k,
                                           int sources, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  field[i] = 0;
  for (int s = 0; s < sources; s++) field[i] += amplitude[s] * __sinf(k[s] * i);
}

// Squared distances of all pairs of 64-dimensional points, stored coordinate by coordinate.
__global__ void all_pairs__repeated_loads(const float* p, const float* q, float* d, int n) {
  int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int c = 0; c < 64; c++) {
    float t = p[c * n + i] - q[c * n + j];
    sum += t * t;
  }
  d[i * n + j] = sum;
}

// A table of 160 KB in shared memory; each thread looks up a few entries per element.
__global__ void lookup_table__low_occupancy(const float* table, const float* x, float* y, int n) {
  extern __shared__ float t[];
  for (int i = threadIdx.x; i < 40000; i += blockDim.x) t[i] = table[i];
  __syncthreads();
  int per = n / gridDim.x, begin = blockIdx.x * per;
  for (int i = begin + threadIdx.x; i < begin + per; i += blockDim.x) {
    float v = x[i];
    y[i] = t[(int)(v * 39999.f)];
  }
}

// A one-dimensional cellular automaton in shared memory, with two barriers per generation.
__global__ void generations__barriers(const int* start, int* end, int steps) {
  __shared__ int cell[1024];
  int t = threadIdx.x, l = (t + 1023) & 1023, r = (t + 1) & 1023;
  cell[t] = start[blockIdx.x * 1024 + t];
  for (int s = 0; s < steps; s++) {
    __syncthreads();
    int next = cell[l] ^ (cell[t] | cell[r]);
    __syncthreads();
    cell[t] = next;
  }
  end[blockIdx.x * 1024 + t] = cell[t];
}

// Mixes two tracks of 16-bit samples, one sample per thread.
__global__ void mix_tracks__narrow_accesses(const short* a, const short* b, short* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = (a[i] + b[i]) >> 1;
}

// Sums of absolute differences of all pairs of rows, from tiles in shared memory.
__global__ void manhattan__shared_loads(const float* a, const float* b, float* d, int n, int dims) {
  __shared__ float as[32][33], bs[32][33];
  int tx = threadIdx.x, ty = threadIdx.y;
  float sum = 0;
  for (int c = 0; c < dims; c += 32) {
    as[ty][tx] = a[(blockIdx.y * 32 + ty) * dims + c + tx];
    bs[ty][tx] = b[(blockIdx.x * 32 + ty) * dims + c + tx];
    __syncthreads();
    for (int i = 0; i < 32; i++) sum += fabsf(as[ty][i] - bs[tx][i]);
    __syncthreads();
  }
  d[(blockIdx.y * 32 + ty) * n + blockIdx.x * 32 + tx] = sum;
}

// Descends a decision tree of 2^20 nodes, which does not fit into L1.
__global__ void decision_tree__exposed_latency(const int2* nodes, int* leaf, int depth) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, at = 1;
  for (int d = 0; d < depth; d++) {
    int2 node = nodes[at];
    at = (2 * at + ((node.x >> (threadIdx.x / 32)) & 1)) & 1048575;
    at |= node.y & 1;
  }
  leaf[i] = at;
}

// One warp per read of a genome; a few reads are forty times as long as the others.
__global__ void gc_content__uneven_warps(const int* first, const unsigned* bases, float* share,
                                         int reads) {
  int read = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (read >= reads) return;
  int begin = first[read], end = first[read + 1], count = 0;
  for (int i = begin + lane; i < end; i += 32) count += __popc(bases[i] & 0x55555555u);
  for (int o = 16; o; o >>= 1) count += __shfl_xor_sync(~0u, count, o);
  if (lane == 0) share[read] = count / (16.f * (end - begin));
}

// The largest element of an array, found by a single block.
__global__ void largest__too_few_blocks(const float4* x, float* out, int n) {
  __shared__ float s[32];
  float m = -INFINITY;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    float4 v = x[i];
    m = fmaxf(m, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
  }
  for (int o = 16; o; o >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = m;
  __syncthreads();
  if (threadIdx.x < 32) {
    m = s[threadIdx.x];
    for (int o = 16; o; o >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
    if (threadIdx.x == 0) *out = m;
  }
}

// One particle per thread over many steps, in 144 blocks that each occupy a whole SM.
__global__ void __launch_bounds__(1024, 1) orbits__last_wave(float* pos, int steps) {
  extern __shared__ float scratch[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = pos[i], v = 0.1f;
  scratch[threadIdx.x] = x;
  for (int s = 0; s < steps; s++) {
    v -= 0.01f * x;
    x += 0.01f * v;
  }
  pos[i] = x + 0 * scratch[threadIdx.x];
}

__global__ void phases__healthy(const float4* z, float4* out, float c, float s, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 v = z[i];
  out[i] = make_float4(v.x * c - v.y * s, v.x * s + v.y * c, v.z * c - v.w * s, v.z * s + v.w * c);
}

__global__ void row_norms__healthy(const float4* a, float* norm, int rows) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float s = 0;
#pragma unroll
  for (int i = 0; i < 4; i++) {
    float4 v = a[row * 128 + i * 32 + lane];
    s += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  }
  for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
  if (lane == 0) norm[row] = sqrtf(s);
}

__global__ void polynomial__healthy(const float4* x, float4* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 v = x[i], r = {1, 1, 1, 1};
#pragma unroll 16
  for (int j = 0; j < 64; j++) {
    r.x = fmaf(r.x, v.x, 0.5f);
    r.y = fmaf(r.y, v.y, 0.5f);
    r.z = fmaf(r.z, v.z, 0.5f);
    r.w = fmaf(r.w, v.w, 0.5f);
  }
  y[i] = r;
}

unsigned seed = 7;
unsigned rnd() { return seed = seed * 1664525u + 1013904223u, seed >> 8; }

template <class T, class F>
T* device_array(size_t n, F value) {
  std::vector<T> h(n);
  for (size_t i = 0; i < n; i++) h[i] = value(i);
  T* d;
  cudaMalloc(&d, n * sizeof(T));
  cudaMemcpy(d, h.data(), n * sizeof(T), cudaMemcpyHostToDevice);
  return d;
}

int main() {
  const int f = factor, N = (4 << 20) * f;
  auto unit = [](size_t) { return (rnd() & 0xffff) / 65536.f; };
  float* A = device_array<float>(N, unit);
  float* B = device_array<float>(N, unit);
  float *Y, *sums;
  cudaMalloc(&Y, (size_t)N * 4);
  cudaMalloc(&sums, 4096);
  cudaMemset(sums, 0, 4096);
  Hit* hits = device_array<Hit>((1 << 19) * f, [](size_t i) { return Hit{.energy = (float)i}; });
  auto* bytes = device_array<unsigned char>(N, [](size_t) { return rnd(); });
  int* ints = device_array<int>(1 << 20, [](size_t) { return (int)rnd(); });
  int* kinds = device_array<int>((1 << 18) * f, [](size_t) { return (int)(rnd() % 5); });
  int2* nodes = device_array<int2>(1 << 20, [](size_t) { return int2{(int)rnd(), (int)rnd()}; });
  const int reads = 8448 * f;
  int at = 0;
  int* first = device_array<int>(reads + 1, [&](size_t) {
    int now = at;
    at += rnd() % 64 == 0 ? 2560 : 64;
    return now;
  });
  unsigned* words = device_array<unsigned>(at + 1, [](size_t) { return rnd(); });
  int* out;
  cudaMalloc(&out, (size_t)N * 4);

  calibrated_hits__uncoalesced_accesses<<<2048 * f, 256>>>(hits, Y, (1 << 19) * f, 1.1f);
  filter_bank__bank_conflicts<<<1024 * f, 128>>>(A, Y, 0.9f, 16);
  best_paths__work_of_single_threads<<<528 * f, 128>>>(A, Y, 1024);
  escape_times__uneven_blocks<<<dim3(1, 792 * f), 256>>>(out, 256, 792 * f, 400);
  keep_above__atomics_at_one_address<<<2048 * f, 256>>>(A, Y, out, (1 << 19) * f, 0.5f);
  base_weights__atomics_at_one_shared_address<<<264, 256>>>(bytes, A, sums, (1 << 19) * f);
  distances__double_precision_by_accident<<<4096 * f, 256>>>(A, B, Y, (1 << 20) * f);
  upsample__divisions<<<1056, 256>>>(A, Y, 4 * f, 181, 211, 362, 633);
  small_systems__local_memory<<<264 * f, 128>>>(A, B, Y, 33792 * f);
  payoffs__divergence<<<1024 * f, 256>>>(kinds, A, B, Y, (1 << 18) * f);
  forces__partial_warps<<<8448 * f, 20>>>((float4*)A, (float4*)Y, 6);
  superpose__repeated_stores<<<1024 * f, 256>>>(Y, A, B, 32, (1 << 18) * f);
  all_pairs__repeated_loads<<<dim3(32, 64 * f), dim3(32, 16)>>>(A, B, Y, 1024 * f);
  cudaFuncSetAttribute(lookup_table__low_occupancy, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       160000);
  lookup_table__low_occupancy<<<132, 128, 160000>>>(A, B, Y, 1081344 * f);
  generations__barriers<<<528 * f, 1024>>>(ints, out, 64);
  mix_tracks__narrow_accesses<<<8192 * f, 256>>>((short*)A, (short*)B, (short*)Y, (2 << 20) * f);
  manhattan__shared_loads<<<dim3(16, 32 * f), dim3(32, 32)>>>(A, B, Y, 512, 128);
  decision_tree__exposed_latency<<<264 * f, 128>>>(nodes, out, 40);
  gc_content__uneven_warps<<<1056 * f, 256>>>(first, words, Y, reads);
  largest__too_few_blocks<<<1, 1024>>>((float4*)A, Y, (1 << 17) * f);
  cudaFuncSetAttribute(orbits__last_wave, cudaFuncAttributeMaxDynamicSharedMemorySize, 120000);
  orbits__last_wave<<<144 + 132 * (f - 1), 1024, 120000>>>(A, 300);
  phases__healthy<<<4096 * f, 256>>>((float4*)A, (float4*)Y, 0.8f, 0.6f, (1 << 20) * f);
  row_norms__healthy<<<1024 * f, 256>>>((float4*)A, Y, 8192 * f);
  polynomial__healthy<<<1056 * f, 256>>>((float4*)A, (float4*)Y, 270336 * f);
  cudaError_t e = cudaDeviceSynchronize();
  printf("%s\n", cudaGetErrorString(e));
  return e != cudaSuccess;
}
