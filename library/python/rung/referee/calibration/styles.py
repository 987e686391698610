"""Right specimens in styles that libraries have: persistent blocks, look-back, split-k, tensor cores, barriers of a grid."""

from .family import family

SPLIT_K = r"""
#include <cuda_runtime.h>
template <int TILE> __global__ void multiply(const float* __restrict__ a, const float* __restrict__ b, float* c, int m, int n, int k, int depth) {
  __shared__ float as[TILE][TILE + 1], bs[TILE][TILE + 1];
  const int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
  const int from = blockIdx.z * depth, to = min(k, from + depth);
  float sum = 0;
  for (int i = from; i < to; i += TILE) {
    as[threadIdx.y][threadIdx.x] = row < m && i + threadIdx.x < to ? a[(size_t)row * k + i + threadIdx.x] : 0.0f;
    bs[threadIdx.y][threadIdx.x] = col < n && i + threadIdx.y < to ? b[(size_t)(i + threadIdx.y) * n + col] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int j = 0; j < TILE; ++j) sum = fmaf(as[threadIdx.y][j], bs[j][threadIdx.x], sum);
    __syncthreads();
  }
  if (row < m && col < n) atomicAdd(c + (size_t)row * n + col, sum);
}
extern "C" void solve(const float* A, const float* B, float* C, int M, int N, int K) {
  constexpr int tile = 16, depth = 48;
  cudaMemset(C, 0, sizeof(float) * M * N);
  multiply<tile><<<dim3((N + tile - 1) / tile, (M + tile - 1) / tile, (K + depth - 1) / depth), dim3(tile, tile)>>>(A, B, C, M, N, K, depth);
}
"""

# Blocks of one tile add their parts in order: each waits for its turn.
TURNS = r"""
// referee: workspace turn int32 cdiv(n, 16) * cdiv(m, 16)
// referee: clear turn
// referee: launch gemm grid=(4, cdiv(n, 16), cdiv(m, 16)) block=256 args=(a, b, c, turn, m, n, k)
__global__ void gemm(const float* a, const float* b, float* c, int* turn, int m, int n, int k) {
  const int t = threadIdx.x, row = blockIdx.z * 16 + t / 16, col = blockIdx.y * 16 + t % 16;
  const int depth = (k + 3) / 4, from = blockIdx.x * depth, to = min(k, from + depth);
  int* const mine = turn + blockIdx.z * gridDim.y + blockIdx.y;
  float sum = 0;
  if (row < m && col < n)
    for (int i = from; i < to; ++i) sum += a[row * k + i] * b[i * n + col];
  if (t == 0) {
    int now;
    do {
      asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(now) : "l"(mine) : "memory");
    } while (now != blockIdx.x);
  }
  __syncthreads();
  if (row < m && col < n) {
    volatile float* const at = c + row * n + col;
    *at = blockIdx.x == 0 ? sum : *at + sum;
  }
  __syncthreads();
  if (t == 0) asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(mine), "r"(blockIdx.x + 1) : "memory");
}
"""

VECTORS = r"""
// referee: launch scale grid=8 block=64
__device__ __forceinline__ float4 sum_of(float4 a, float4 b) { return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }
__global__ void __launch_bounds__(64) scale(const float* x, const float* z, float* y, int n) {
  const bool whole = (((size_t)x ^ (size_t)z) | ((size_t)x ^ (size_t)y)) % 16 == 0;
  const int head = whole ? min(n, (int)((16 - (size_t)x % 16) % 16 / 4)) : n;
  const int vectors = (n - head) / 4, tail = head + 4 * vectors;
  const int me = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
  for (int i = me; i < head; i += all) y[i] = x[i] + z[i];
  const float4 *xs = reinterpret_cast<const float4*>(x + head), *zs = reinterpret_cast<const float4*>(z + head);
#pragma unroll 2
  for (int i = me; i < vectors; i += all) __stcs(reinterpret_cast<float4*>(y + head) + i, sum_of(__ldcs(xs + i), __ldg(zs + i)));
  for (int i = tail + me; i < n; i += all) y[i] = x[i] + z[i];
}
"""

ASSEMBLY = r"""
// referee: launch dot grid=1 block=256
__global__ void dot(const float* x, const float* y, float* result, int n) {
  __shared__ float part[8];
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += 256) {
    float a, b;
    asm("ld.global.nc.L1::no_allocate.f32 %0, [%1];" : "=f"(a) : "l"(x + i));
    asm("ld.global.nc.f32 %0, [%1];" : "=f"(b) : "l"(y + i));
    asm("fma.rn.f32 %0, %1, %2, %0;" : "+f"(sum) : "f"(a), "f"(b));
  }
#pragma unroll
  for (int by = 16; by > 0; by /= 2) {
    float other;
    asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=f"(other) : "f"(sum), "r"(by));
    sum += other;
  }
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  if (lane == 0) asm volatile("{ .reg .u64 a; .reg .u32 s; cvta.to.shared.u64 a, %0; cvt.u32.u64 s, a; st.shared.f32 [s], %1; }" ::"l"(&part[threadIdx.x / 32]), "f"(sum) : "memory");
  asm volatile("barrier.sync.aligned 0;" ::: "memory");
  if (threadIdx.x != 0) return;
  float all = 0;
  for (int w = 0; w < 8; ++w) all += part[w];
  asm volatile("st.global.cs.f32 [%0], %1;" ::"l"(result), "f"(all) : "memory");
}
"""

GRID = r"""
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;
__global__ void total(const float* x, float* part, float* result, int n) {
  cg::grid_group grid = cg::this_grid();
  cg::thread_block block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  __shared__ float s[4];
  float sum = 0;
  for (long long i = grid.thread_rank(); i < n; i += grid.num_threads()) sum += x[i];
  sum = cg::reduce(warp, sum, cg::plus<float>());
  if (warp.thread_rank() == 0) s[warp.meta_group_rank()] = sum;
  block.sync();
  if (block.thread_rank() == 0) part[blockIdx.x] = s[0] + s[1] + s[2] + s[3];
  grid.sync();
  if (grid.thread_rank() == 0) {
    float all = 0;
    for (unsigned i = 0; i < grid.num_blocks(); ++i) all += part[i];
    *result = all;
  }
}
extern "C" void solve(const float* x, float* result, int n) {
  static float* part = nullptr;
  static int blocks = 0;
  if (part == nullptr) {
    int count = 0, each = 0;
    cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, total, 128, 0);
    blocks = count * each < 40 ? count * each : 40;
    cudaMalloc(&part, sizeof(float) * blocks);
  }
  void* arguments[] = {&x, &part, &result, &n};
  cudaLaunchCooperativeKernel((void*)total, blocks, 128, arguments, 0, nullptr);
}
"""

FUNCTORS = r"""
#include <cuda_runtime.h>
#include <type_traits>
#include <utility>
template <typename... Each> struct Chain;
template <typename Last> struct Chain<Last> {
  Last last;
  __device__ float operator()(float v) const { return last(v); }
};
template <typename First, typename... Rest> struct Chain<First, Rest...> {
  First first;
  Chain<Rest...> rest;
  __device__ float operator()(float v) const { return rest(first(v)); }
};
struct Negate { __device__ float operator()(float v) const { return -v; } };
struct Exponential { __device__ float operator()(float v) const { return expf(v); } };
struct OnePlus { __device__ float operator()(float v) const { return 1 + v; } };
struct Inverse { __device__ float operator()(float v) const { return 1 / v; } };
template <int PER_THREAD, typename F> __global__ void apply(const float* x, float* y, int n, F f) {
  const int first = (blockIdx.x * blockDim.x + threadIdx.x) * PER_THREAD;
#pragma unroll
  for (int j = 0; j < PER_THREAD; ++j)
    if (first + j < n) y[first + j] = f(x[first + j]);
}
template <int... COUNTS> void choose(int wanted, std::integer_sequence<int, COUNTS...>, const float* x, float* y, int n) {
  using Sigmoid = Chain<Negate, Exponential, OnePlus, Inverse>;
  ((wanted == COUNTS ? apply<COUNTS><<<(n + 128 * COUNTS - 1) / (128 * COUNTS), 128>>>(x, y, n, Sigmoid{}) : void()), ...);
}
extern "C" void solve(const float* x, float* y, int n) {
  const auto count = [](int length) { return length > 3000 ? 4 : length > 500 ? 2 : 1; };
  choose(count(n), std::integer_sequence<int, 1, 2, 4>{}, x, y, n);
}
"""

COMPENSATED = r"""
// referee: launch total grid=1 block=128
struct Sum { float value, lost; };
__device__ Sum plus(Sum a, float b) {
  const float t = a.value + b;
  const float lost = fabsf(a.value) >= fabsf(b) ? (a.value - t) + b : (b - t) + a.value;
  return {t, a.lost + lost};
}
__global__ void total(const float* x, float* result, int n) {
  __shared__ Sum s[128];
  Sum sum{0, 0};
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum = plus(sum, x[i]);
  s[threadIdx.x] = sum;
  for (int by = 64; by > 0; by >>= 1) {
    __syncthreads();
    if (threadIdx.x < by) {
      const Sum other = s[threadIdx.x + by];
      Sum mine = plus(s[threadIdx.x], other.value);
      mine.lost += other.lost;
      s[threadIdx.x] = mine;
    }
  }
  if (threadIdx.x == 0) *result = s[0].value + s[0].lost;
}
"""

# Merrill and Garland: each tile publishes its sum, then its prefix, with the state in the same word.
LOOK_BACK = r"""
// referee: workspace state uint64 cdiv(n, 128) + 1
// referee: clear state
// referee: launch scan grid=cdiv(n, 128) block=128 args=(x, y, state, n)
__device__ unsigned long long packed(unsigned kind, float value) { return (unsigned long long)kind << 32 | __float_as_uint(value); }
__global__ void scan(const float* x, float* y, unsigned long long* state, int n) {
  __shared__ float warps[4];
  __shared__ unsigned tile;
  __shared__ float before;
  const int t = threadIdx.x, lane = t % 32;
  if (t == 0) tile = (unsigned)atomicAdd(state, 1ull);
  __syncthreads();
  const int i = tile * 128 + t;
  float v = i < n ? x[i] : 0.0f;
  for (int by = 1; by < 32; by *= 2) {
    const float left = __shfl_up_sync(~0u, v, by);
    if (lane >= by) v += left;
  }
  if (lane == 31) warps[t / 32] = v;
  __syncthreads();
  for (int w = 0; w < t / 32; ++w) v += warps[w];
  unsigned long long* const own = state + 1 + tile;
  if (t == 0) {
    const float all = warps[0] + warps[1] + warps[2] + warps[3];
    atomicExch(own, packed(tile == 0 ? 2 : 1, all));
    float sum = 0;
    for (int at = (int)tile - 1; at >= 0;) {
      const unsigned long long seen = atomicAdd(state + 1 + at, 0ull);
      const unsigned kind = seen >> 32;
      if (kind == 0) continue;
      sum += __uint_as_float((unsigned)seen);
      if (kind == 2) break;
      --at;
    }
    if (tile > 0) atomicExch(own, packed(2, sum + all));
    before = sum;
  }
  __syncthreads();
  if (i < n) y[i] = before + v;
}
"""

STAGES = r"""
// referee: launch gemm grid=(cdiv(n, 32), cdiv(m, 32)) block=256 shared=4*2*(32*16+16*32)
#include <cuda_pipeline.h>
__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
  extern __shared__ float memory[];
  const auto as = [&](int stage) { return memory + stage * 512; };
  const auto bs = [&](int stage) { return memory + 1024 + stage * 512; };
  const int t = threadIdx.x, row0 = blockIdx.y * 32, col0 = blockIdx.x * 32;
  const auto load = [&](int stage, int i0) {
    for (int e = t; e < 512; e += 256) {
      const int r = row0 + e / 16, i = i0 + e % 16, j = i0 + e / 32, col = col0 + e % 32;
      const bool has_a = r < m && i < k, has_b = j < k && col < n;
      __pipeline_memcpy_async(as(stage) + e, has_a ? a + r * k + i : a, 4, has_a ? 0 : 4);
      __pipeline_memcpy_async(bs(stage) + e, has_b ? b + j * n + col : b, 4, has_b ? 0 : 4);
    }
    __pipeline_commit();
  };
  float sum[4] = {};
  load(0, 0);
  for (int i0 = 0, stage = 0; i0 < k; i0 += 16, stage ^= 1) {
    load(stage ^ 1, i0 + 16);
    __pipeline_wait_prior(1);
    __syncthreads();
    for (int i = 0; i < 16; ++i)
#pragma unroll
      for (int r = 0; r < 4; ++r) sum[r] += as(stage)[(t / 32 + 8 * r) * 16 + i] * bs(stage)[i * 32 + t % 32];
    __syncthreads();
  }
  __pipeline_wait_prior(0);
  for (int r = 0; r < 4; ++r) {
    const int row = row0 + t / 32 + 8 * r, col = col0 + t % 32;
    if (row < m && col < n) c[row * n + col] = sum[r];
  }
}
"""

FRAGMENTS = r"""
// referee: launch gemm grid=(cdiv(n, 16), cdiv(m, 16)) block=32
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
__global__ void gemm(const __half* a, const __half* b, __half* c, int m, int n, int k) {
  __shared__ __align__(32) __half as[256], bs[256];
  __shared__ __align__(32) float cs[256];
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int i0 = 0; i0 < k; i0 += 16) {
    for (int e = threadIdx.x; e < 256; e += 32) {
      const int r = blockIdx.y * 16 + e / 16, i = i0 + e % 16, j = i0 + e / 16, col = blockIdx.x * 16 + e % 16;
      as[e] = r < m && i < k ? a[r * k + i] : __half(0.0f);
      bs[e] = j < k && col < n ? b[j * n + col] : __half(0.0f);
    }
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> right;
    wmma::load_matrix_sync(left, as, 16);
    wmma::load_matrix_sync(right, bs, 16);
    wmma::mma_sync(sum, left, right, sum);
    __syncwarp();
  }
  wmma::store_matrix_sync(cs, sum, 16, wmma::mem_row_major);
  __syncwarp();
  for (int e = threadIdx.x; e < 256; e += 32) {
    const int r = blockIdx.y * 16 + e / 16, col = blockIdx.x * 16 + e % 16;
    if (r < m && col < n) c[r * n + col] = __float2half(cs[e]);
  }
}
"""

BINS = r"""
// referee: clear counts
// referee: launch count grid=4 block=256 shared=4*bins
__global__ void count(const int* x, int* counts, int n, int bins) {
  extern __shared__ int own[];
  for (int i = threadIdx.x; i < bins; i += blockDim.x) own[i] = 0;
  __syncthreads();
  const int rounds = (n + 1023) / 1024;
  for (int round = 0; round < rounds; ++round) {
    const int i = round * 1024 + blockIdx.x * 256 + threadIdx.x;
    const unsigned present = __ballot_sync(~0u, i < n);
    if (i < n) {
      const int bin = x[i];
      const unsigned same = __match_any_sync(present, bin);
      if (__ffs(same) - 1 == threadIdx.x % 32) atomicAdd(own + bin, __popc(same));
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < bins; i += blockDim.x)
    if (own[i]) atomicAdd(counts + i, own[i]);
}
"""

# The grid's barrier counts on from launch to launch; its workspace grows.
EPOCHS = r"""
#include <cuda_runtime.h>
__device__ unsigned arrived;
__global__ void center(const float* x, const float* w, float* y, float* scale, int m, int n) {
  const int t = threadIdx.x;
  for (int r = blockIdx.x; r < m; r += gridDim.x) {
    float sum = 0;
    for (int i = t; i < n; i += 32) sum += x[r * n + i] * x[r * n + i];
    for (int by = 16; by > 0; by /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, by);
    if (t == 0) __stcg(scale + r, rsqrtf(sum / n + 1e-5f));
  }
  __syncthreads();
  if (t == 0) {
    __threadfence();
    const unsigned goal = (atomicAdd(&arrived, 1u) / gridDim.x + 1) * gridDim.x;
    while ((int)(atomicAdd(&arrived, 0u) - goal) < 0) {
    }
    __threadfence();
  }
  __syncthreads();
  for (int i = blockIdx.x * 32 + t; i < m * n; i += gridDim.x * 32) y[i] = x[i] * __ldcg(scale + i / n) * w[i % n];
}
extern "C" void solve(const float* x, const float* w, float* y, int m, int n) {
  static float* scale;
  static int most;
  if (m > most) {
    cudaFree(scale);
    most = 2 * m;
    cudaMalloc(&scale, sizeof(float) * most);
  }
  center<<<16, 32>>>(x, w, y, scale, m, n);
}
"""

MERGE = r"""
#include <cuda_runtime.h>
#include <algorithm>
#include <utility>
__global__ void order(const float* x, float* y, int n) {
  __shared__ float s[64];
  const int t = threadIdx.x, first = blockIdx.x * 64;
  s[t] = first + t < n ? x[first + t] : INFINITY;
  __syncthreads();
  for (int round = 0; round < 64; ++round) {
    const int at = 2 * t + round % 2;
    if (at + 1 < 64 && s[at] > s[at + 1]) {
      const float kept = s[at];
      s[at] = s[at + 1], s[at + 1] = kept;
    }
    __syncthreads();
  }
  if (first + t < n) y[first + t] = s[t];
}
__device__ int before(const float* from, int count, float value, bool also_equal) {
  int low = 0, high = count;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (from[middle] < value || (also_equal && from[middle] == value)) low = middle + 1;
    else high = middle;
  }
  return low;
}
__global__ void merge(const float* from, float* to, int n, int run) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int pair = i / (2 * run) * 2 * run, middle = min(n, pair + run), end = min(n, pair + 2 * run);
  const bool is_left = i < middle;
  const int rank = is_left ? before(from + middle, end - middle, from[i], false) : before(from + pair, middle - pair, from[i], true);
  to[(is_left ? i : pair + i - middle) + rank] = from[i];
}
extern "C" void solve(const float* x, float* y, int n) {
  float* other;
  cudaMalloc(&other, sizeof(float) * (n + 1));
  int rounds = 0;
  for (int run = 64; run < n; run *= 2) ++rounds;
  float *now = rounds % 2 ? other : y, *next = rounds % 2 ? y : other;
  order<<<(n + 63) / 64, 64>>>(x, now, n);
  for (int run = 64; run < n; run *= 2, std::swap(now, next)) merge<<<(n + 127) / 128, 128>>>(now, next, n, run);
  cudaFree(other);
}
"""

TILES = r"""
// referee: launch transpose grid=(cdiv(n, 32), cdiv(m, 32)) block=(32, 8)
template <typename T, int SIDE, int ROWS> struct Tile {
  T at[SIDE][SIDE + 1];
  __device__ void fill(const T* x, int row, int col, int m, int n) {
#pragma unroll
    for (int j = threadIdx.y; j < SIDE; j += ROWS)
      if (row + j < m && col + threadIdx.x < n) at[j][threadIdx.x] = x[(size_t)(row + j) * n + col + threadIdx.x];
  }
  __device__ void drain(T* y, int row, int col, int m, int n) const {
#pragma unroll
    for (int j = threadIdx.y; j < SIDE; j += ROWS)
      if (col + j < n && row + threadIdx.x < m) y[(size_t)(col + j) * m + row + threadIdx.x] = at[threadIdx.x][j];
  }
};
__global__ void transpose(const float* x, float* y, int m, int n) {
  __shared__ Tile<float, 32, 8> tile;
  tile.fill(x, blockIdx.y * 32, blockIdx.x * 32, m, n);
  __syncthreads();
  tile.drain(y, blockIdx.y * 32, blockIdx.x * 32, m, n);
}
"""

WELFORD = r"""
// referee: launch layernorm grid=cdiv(m, 4) block=128
struct Moments {
  float mean, squares, count;
};
__device__ Moments joined(Moments a, Moments b) {
  const float count = a.count + b.count, delta = b.mean - a.mean, share = count > 0 ? b.count / count : 0;
  return {a.mean + delta * share, a.squares + b.squares + delta * delta * a.count * share, count};
}
__global__ void layernorm(const float* x, const float* w, const float* b, float* y, int m, int n) {
  const int r = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= m) return;
  Moments mine{0, 0, 0};
  for (int i = lane; i < n; i += 32) mine = joined(mine, {x[r * n + i], 0, 1});
  for (int by = 16; by > 0; by /= 2) {
    const Moments other{__shfl_xor_sync(~0u, mine.mean, by), __shfl_xor_sync(~0u, mine.squares, by), __shfl_xor_sync(~0u, mine.count, by)};
    mine = lane & by ? joined(other, mine) : joined(mine, other);
  }
  const float scale = rsqrtf(mine.squares / n + 1e-5f);
  for (int i = lane; i < n; i += 32) y[r * n + i] = (x[r * n + i] - mine.mean) * scale * w[i] + b[i];
}
"""


def specimens():
    """Yields all of this file."""
    few = {"hidden": 12}
    yield from family("style-split-k", {"operation": "gemm", **few}, SPLIT_K)
    yield from family("style-turns", {"operation": "gemm", **few}, TURNS)
    yield from family("style-vectors", {"operation": "add", "alignment": 4, **few}, VECTORS)
    yield from family("style-assembly", "dot", ASSEMBLY)
    yield from family("style-grid", {"operation": "sum", **few}, GRID)
    yield from family("style-functors", {"operation": "sigmoid", **few}, FUNCTORS)
    yield from family("style-compensated", "sum", COMPENSATED)
    yield from family("style-look-back", "scan", LOOK_BACK)
    yield from family("style-stages", "gemm", STAGES)
    yield from family("style-fragments", {"operation": "gemm", "dtype": "float16"}, FRAGMENTS)
    yield from family("style-bins", "histogram", BINS)
    yield from family("style-epochs", {"operation": "rmsnorm", **few}, EPOCHS)
    yield from family("style-merge", {"operation": "sort", **few}, MERGE)
    yield from family("style-tiles", "transpose", TILES)
    yield from family("style-welford", "layernorm", WELFORD)
