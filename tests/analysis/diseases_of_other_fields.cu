// Kernels like those of diseases.cu, from hydrology, databases, cryptography, epidemiology, radio
// astronomy, audio, chess and other fields. Each is named after the disease that its author
// expected to be reported first, before any of them was explained or timed.

#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>
#include <vector>
#ifndef SCALE
#define SCALE 1
#endif
constexpr int factor = SCALE;

// Follows each cell's water downstream to its outlet.
__global__ void follow_rivers__exposed_latency(const int* downstream, int* outlet, int steps) {
  int cell = blockIdx.x * blockDim.x + threadIdx.x;
  int at = cell;
  for (int i = 0; i < steps; i++) at = downstream[at];
  outlet[cell] = at;
}

struct Bucket {
  unsigned key, value;
};

// The probe side of a hash join: looks up every key in a table larger than L1.
__global__ void probe_join__uncoalesced_accesses(const unsigned* keys, const Bucket* table,
                                                 unsigned* values, unsigned mask, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned key = keys[i];
  unsigned slot = (key * 2654435761u >> 7) & mask;
  Bucket b = table[slot];
  values[i] = b.key == key ? b.value : b.value + 1;
}

// Great-circle distances between pairs of places on the earth.
__global__ void great_circle__double_precision_by_accident(const float2* from, const float2* to,
                                                           float* km, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float2 a = from[i], b = to[i];
  float u = 0.5 * (b.x - a.x), v = 0.5 * (b.y - a.y);
  float h = u * u * (1.0 - u * u / 3.0) + v * v * (1.0 - v * v / 3.0) * (1.0 - 0.5 * a.x * a.x);
  km[i] = 12742.0 * (h * (1.0 + h / 6.0 + 0.075 * h * h));
}

// Rounds of a cipher: each byte of the state is looked up in the block's table.
__global__ void cipher__bank_conflicts(const unsigned* in, unsigned* out, const unsigned* box,
                                       int rounds) {
  __shared__ unsigned s[4][256];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) s[i / 256][i % 256] = box[i];
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned x = in[i];
  for (int r = 0; r < rounds; r++)
    x = s[0][x & 255] ^ s[1][x >> 8 & 255] ^ s[2][x >> 16 & 255] ^ s[3][x >> 24];
  out[i] = x;
}

// People are healthy, ill or immune, each state with its own branch.
__global__ void epidemic__divergence(const int* state, const float* age, float* risk, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float a = age[i], r = 0.1f;
  switch (state[i]) {
    case 0:
      for (int d = 0; d < 40; d++) r = r * (1 - 0.01f * a) + __expf(-r);
      break;
    case 1:
      for (int d = 0; d < 40; d++) r = __sinf(r + a) * 0.5f + 0.3f;
      break;
    case 2:
      for (int d = 0; d < 40; d++) r = __logf(1.5f + r) + a * 0.01f;
      break;
    default:
      for (int d = 0; d < 40; d++) r = r * r * 0.5f + a * 0.02f;
  }
  risk[i] = r;
}

// Counts votes for one of four candidates.
__global__ void tally__atomics_at_one_address(const unsigned char* votes, unsigned* totals, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&totals[votes[i] & 3], 1u);
}

// Similarity of a 12 x 12 pattern to every place of a picture.
__global__ void match_pattern__repeated_loads(const float* picture, const float* pattern,
                                              float* score, int width) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  float sum = 0;
  for (int dy = 0; dy < 12; dy++)
    for (int dx = 0; dx < 12; dx++) {
      float d = picture[(y + dy) * width + x + dx] - pattern[dy * 12 + dx];
      sum += d * d;
    }
  score[y * width + x] = sum;
}

// Correlates all pairs of 32 antennas.
__global__ void correlate__shared_loads(const float2* signal, float2* visibility, int times) {
  __shared__ float2 s[64][33];
  int a = threadIdx.x, b = threadIdx.y;
  float re = 0, im = 0;
  for (int t0 = 0; t0 < times; t0 += 64) {
    for (int t = b; t < 64; t += 32) s[t][a] = signal[(blockIdx.x * times + t0 + t) * 32 + a];
    __syncthreads();
    for (int t = 0; t < 64; t++) {
      float2 p = s[t][a], q = s[t][b];
      re += p.x * q.x + p.y * q.y;
      im += p.y * q.x - p.x * q.y;
    }
    __syncthreads();
  }
  visibility[(blockIdx.x * 32 + b) * 32 + a] = make_float2(re, im);
}

// Frames of audio after a header of five floats.
__global__ void gain_after_header__misaligned_accesses(const float* file, float* out, float gain,
                                                       int n) {
  const float* frames = file + 5;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i + 5] = frames[i] * gain;
}

// Each block handles the 24 pieces of a board, one thread per piece.
__global__ void mobility__partial_warps(const unsigned long long* boards, int* moves, int rounds) {
  int piece = threadIdx.x;
  unsigned long long board = boards[blockIdx.x], from = 1ull << (piece * 2);
  int count = 0;
  for (int r = 0; r < rounds; r++) {
    unsigned long long ray = from;
    for (int s = 0; s < 7; s++) {
      ray = (ray << 9) & ~board & 0xfefefefefefefefeull;
      count += __popcll(ray);
    }
    from = from << 1 | from >> 63;
  }
  moves[blockIdx.x * blockDim.x + piece] = count;
}

// Converts days since 1970 to dates.
__global__ void calendar__divisions(const int* days, int* dates, int n, int era, int century) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int z = days[i] + 719468;
  int doe = z % era;
  int yoe = (doe - doe / (century / 25) + doe / century - doe / (era - 1)) / 365;
  int doy = doe - (365 * yoe + yoe / 4 - yoe / (century / 365));
  dates[i] = z / era * 400 + yoe + doy % century;
}

// Scales a column by its pivot, which thread 0 searches alone.
__global__ void pivots__work_of_single_threads(const float* columns, float* scaled, int rows) {
  extern __shared__ float c[];
  __shared__ float inverse;
  for (int i = threadIdx.x; i < rows; i += blockDim.x) c[i] = columns[blockIdx.x * rows + i];
  __syncthreads();
  if (threadIdx.x == 0) {
    int best = 0;
    for (int i = 1; i < rows; i++)
      if (fabsf(c[i]) > fabsf(c[best])) best = i;
    inverse = 1 / c[best];
  }
  __syncthreads();
  for (int i = threadIdx.x; i < rows; i += blockDim.x)
    scaled[blockIdx.x * rows + i] = c[i] * inverse;
}

// 90th percentile of each sensor's last readings, by insertion sort.
__global__ void percentiles__local_memory(const float* readings, float* p90, int sensors,
                                          int keep) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= sensors) return;
  float sorted[48];
  for (int k = 0; k < keep; k++) {
    float v = readings[k * sensors + i];
    int at = k;
    while (at > 0 && sorted[at - 1] > v) sorted[at] = sorted[at - 1], at--;
    sorted[at] = v;
  }
  p90[i] = sorted[keep * 9 / 10];
}

// A vibrating string: all points of a block advance one step at a time.
__global__ void string__barriers(float* shape, int steps) {
  __shared__ float now[1024], before[1024];
  int i = threadIdx.x;
  now[i] = shape[blockIdx.x * 1024 + i];
  before[i] = now[i];
  __syncthreads();
  for (int t = 0; t < steps; t++) {
    float next = now[i];
    if (i > 0 && i < 1023) next = now[i - 1] + now[i + 1] - before[i];
    __syncthreads();
    before[i] = now[i];
    now[i] = next;
    __syncthreads();
  }
  shape[blockIdx.x * 1024 + i] = now[i];
}

__global__ void cross_fade__healthy(const float4* a, const float4* b, float4* out, float t, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 p = a[i], q = b[i];
  out[i] = make_float4(p.x + t * (q.x - p.x), p.y + t * (q.y - p.y), p.z + t * (q.z - p.z),
                       p.w + t * (q.w - p.w));
}

// The largest element of each row, one warp per row.
__global__ void row_peaks__healthy(const float4* x, float* peak, int rows) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float most = 0;
#pragma unroll
  for (int i = 0; i < 8; i++) {
    float4 v = x[row * 256 + i * 32 + lane];
    most = fmaxf(fmaxf(most, fmaxf(v.x, v.y)), fmaxf(v.z, v.w));
  }
  for (int o = 16; o; o >>= 1) most = fmaxf(most, __shfl_xor_sync(~0u, most, o));
  if (lane == 0) peak[row] = most;
}

// Legendre polynomials by their recurrence, four arguments per thread.
__global__ void legendre__healthy(const float4* x, float4* y, const float* a, const float* b,
                                  int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 v = x[i], p = {1, 1, 1, 1}, q = v;
#pragma unroll 8
  for (int k = 0; k < 48; k++) {
    float s = a[k], t = b[k];
    float4 r = {fmaf(s * v.x, q.x, -t * p.x), fmaf(s * v.y, q.y, -t * p.y),
                fmaf(s * v.z, q.z, -t * p.z), fmaf(s * v.w, q.w, -t * p.w)};
    p = q, q = r;
  }
  y[i] = q;
}

// Counts the set bits of a bit set, 16 KB per block.
__global__ void set_size__healthy(const uint4* words, unsigned* count) {
  __shared__ unsigned part[8];
  unsigned sum = 0;
#pragma unroll
  for (int i = 0; i < 4; i++) {
    uint4 w = words[blockIdx.x * 1024 + i * 256 + threadIdx.x];
    sum += __popc(w.x) + __popc(w.y) + __popc(w.z) + __popc(w.w);
  }
  sum = __reduce_add_sync(~0u, sum);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = __reduce_add_sync(~0u, threadIdx.x < 8 ? part[threadIdx.x] : 0);
    if (threadIdx.x == 0) atomicAdd(count, sum);
  }
}

unsigned seed = 99;
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
  float* A = device_array<float>(N + 64, unit);
  float* B = device_array<float>(N + 64, unit);
  float* Y;
  cudaMalloc(&Y, (size_t)(N + 64) * 4);
  unsigned* totals = device_array<unsigned>(64, [](size_t) { return 0u; });
  const int cells = 1 << 18;  // as many as threads at the largest scale
  int* rivers = device_array<int>(cells, [](size_t) { return (int)(rnd() % cells); });
  Bucket* table = device_array<Bucket>(1 << 20, [](size_t i) { return Bucket{(unsigned)i, 1u}; });
  unsigned* keys = device_array<unsigned>((1 << 20) * f, [](size_t) { return rnd(); });
  int* state = device_array<int>((1 << 18) * f, [](size_t) { return (int)(rnd() % 4); });
  auto* votes = device_array<unsigned char>((1 << 18) * f, [](size_t) { return rnd(); });
  int* days = device_array<int>((1 << 20) * f, [](size_t) { return (int)(rnd() % 40000); });
  auto* boards = device_array<unsigned long long>(
      8448 * f, [](size_t) { return (unsigned long long)rnd() << 32 | rnd(); });
  float* coefficients = device_array<float>(64, [](size_t i) { return 1.f + 1.f / (i + 1); });

  follow_rivers__exposed_latency<<<256 * f, 128>>>(rivers, (int*)Y, 24);
  probe_join__uncoalesced_accesses<<<4096 * f, 256>>>(keys, table, (unsigned*)Y, (1 << 20) - 1,
                                                      (1 << 20) * f);
  great_circle__double_precision_by_accident<<<2048 * f, 256>>>((float2*)A, (float2*)B, Y,
                                                                (1 << 19) * f);
  cipher__bank_conflicts<<<1056 * f, 256>>>((unsigned*)A, (unsigned*)Y, (unsigned*)B, 32);
  epidemic__divergence<<<1024 * f, 256>>>(state, A, Y, (1 << 18) * f);
  tally__atomics_at_one_address<<<1024 * f, 256>>>(votes, totals, (1 << 18) * f);
  match_pattern__repeated_loads<<<dim3(31, 60 * f), dim3(32, 8)>>>(A, B, Y, 1024);
  correlate__shared_loads<<<132 * f, dim3(32, 32)>>>((float2*)A, (float2*)Y, 256);
  gain_after_header__misaligned_accesses<<<8192 * f, 256>>>(A, Y, 0.7f, (2 << 20) * f);
  mobility__partial_warps<<<8448 * f, 24>>>(boards, (int*)Y, 8);
  calendar__divisions<<<4096 * f, 256>>>(days, (int*)Y, (1 << 20) * f, 146097, 36524);
  pivots__work_of_single_threads<<<1056 * f, 128, 4096>>>(A, Y, 1024);
  percentiles__local_memory<<<264 * f, 128>>>(A, Y, 33792 * f, 32);
  string__barriers<<<264 * f, 1024>>>(Y, 64);
  cross_fade__healthy<<<4096 * f, 256>>>((float4*)A, (float4*)B, (float4*)Y, 0.3f, (1 << 20) * f);
  row_peaks__healthy<<<512 * f, 256>>>((float4*)A, Y, 4096 * f);
  legendre__healthy<<<1056 * f, 256>>>((float4*)A, (float4*)Y, coefficients, coefficients + 8,
                                       270336 * f);
  set_size__healthy<<<1024 * f, 256>>>((uint4*)A, totals + 32);
  cudaError_t e = cudaDeviceSynchronize();
  printf("%s\n", cudaGetErrorString(e));
  return e != cudaSuccess;
}
