"""Right kernels in rarer styles: virtual functions, clusters, queues, Metal, PTX by hand, and Python functions that launch them.
The texts are our own.
"""

import numpy as np

from .family import Specimen

_ALL = []


def _right(name, task, text):
    _ALL.append(Specimen(f"idiom-{name}", "right", text, {"operation": task} if isinstance(task, str) else task))


_right("virtual-functions", "silu", r"""
// referee: launch apply grid=cdiv(n, 128) block=128
struct Function { __device__ virtual float of(float x) const = 0; };
struct Silu : Function { __device__ float of(float x) const override { return x / (1.0f + expf(-x)); } };
struct Relu : Function { __device__ float of(float x) const override { return x > 0 ? x : 0; } };
__global__ void apply(const float* x, float* y, int n) {
  Silu silu;
  Relu relu;
  const Function* f = n >= 0 ? (const Function*)&silu : (const Function*)&relu;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = f->of(x[i]);
}
""")
_right("cluster-sum", "row_sum", r"""
// referee: launch rows grid=m*4 block=64
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void __cluster_dims__(4, 1, 1) rows(const float* x, float* y, int m, int n) {
  __shared__ float mine[2];
  cg::cluster_group cluster = cg::this_cluster();
  const int r = blockIdx.x / 4, rank = cluster.block_rank();
  float v = 0;
  for (int i = rank * 64 + threadIdx.x; i < n; i += 256) v += x[(size_t)r * n + i];
  for (int by = 16; by > 0; by /= 2) v += __shfl_xor_sync(0xffffffffu, v, by);
  if (threadIdx.x % 32 == 0) mine[threadIdx.x / 32] = v;
  cluster.sync();
  if (rank == 0 && threadIdx.x == 0) {
    float all = 0;
    for (int b = 0; b < 4; ++b) {
      const float* theirs = cluster.map_shared_rank(mine, b);
      all += theirs[0] + theirs[1];
    }
    y[r] = all;
  }
  cluster.sync();
}
""")
_right("metal-simd", "row_sum", r"""
// referee: launch rows groups=m group=64
#include <metal_stdlib>
using namespace metal;
kernel void rows(device const float* x, device float* y, constant int& m, constant int& n,
                 uint r [[threadgroup_position_in_grid]], uint t [[thread_position_in_threadgroup]],
                 uint lane [[thread_index_in_simdgroup]], uint warp [[simdgroup_index_in_threadgroup]]) {
  threadgroup float part[2];
  float v = 0;
  for (int i = t; i < n; i += 64) v += x[r * n + i];
  v = simd_sum(v);
  if (lane == 0) part[warp] = v;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t == 0) y[r] = part[0] + part[1];
}
""")
_right("ptx-by-hand", "add", r"""
// referee: launch add grid=cdiv(n, 128) block=128 args=(x, z, y, n)
.version 8.0
.target sm_90
.address_size 64
.visible .entry add(.param .u64 px, .param .u64 pz, .param .u64 py, .param .s32 pn) {
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  .reg .b64 %d<8>;
  .reg .f32 %f<4>;
  ld.param.u64 %d1, [px];
  ld.param.u64 %d2, [pz];
  ld.param.u64 %d3, [py];
  ld.param.s32 %r1, [pn];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r2, 128, %r3;
  setp.ge.s32 %p1, %r4, %r1;
  @%p1 ret;
  mul.wide.s32 %d4, %r4, 4;
  cvta.to.global.u64 %d1, %d1;
  cvta.to.global.u64 %d2, %d2;
  cvta.to.global.u64 %d3, %d3;
  add.s64 %d5, %d1, %d4;
  add.s64 %d6, %d2, %d4;
  add.s64 %d7, %d3, %d4;
  ld.global.nc.f32 %f1, [%d5];
  ld.global.nc.f32 %f2, [%d6];
  add.rn.f32 %f3, %f1, %f2;
  st.global.f32 [%d7], %f3;
  ret;
}
""")
_right("rank-sort", {"operation": "sort", "hidden": 12, "limits": {"n": 700}}, r"""
// referee: launch rank grid=cdiv(n, 64) block=64
__global__ void rank(const float* x, float* y, int n) {
  __shared__ float tile[64];
  const int i = blockIdx.x * 64 + threadIdx.x;
  const float mine = i < n ? x[i] : 0;
  int before = 0;
  for (int first = 0; first < n; first += 64) {
    __syncthreads();
    if (first + (int)threadIdx.x < n) tile[threadIdx.x] = x[first + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < 64 && first + j < n; ++j) before += tile[j] < mine || (tile[j] == mine && first + j < i);
  }
  if (i < n) y[before] = mine;
}
""")
_right("match-any", "histogram", r"""
// referee: clear counts
// referee: launch count grid=6 block=96
__global__ void count(const int* x, int* counts, int n, int bins) {
  for (int first = blockIdx.x * 96; first < n; first += 6 * 96) {
    const int i = first + threadIdx.x;
    const unsigned active = __ballot_sync(0xffffffffu, i < n);
    if (i < n) {
      const unsigned same = __match_any_sync(active, x[i]);
      if ((int)(threadIdx.x % 32) == __ffs(same) - 1) atomicAdd(&counts[x[i]], __popc(same));
    }
  }
}
""")
_right("work-queue", "gemm_nt", r"""
// referee: workspace next uint32 2
// referee: clear next
// referee: launch gemm grid=7 block=(16, 16) args=(a, b, c, next, m, n, k)
__global__ void gemm(const float* a, const float* b, float* c, unsigned* next, int m, int n, int k) {
  __shared__ unsigned tile;
  const unsigned wide = (n + 15) / 16, all = wide * ((m + 15) / 16);
  for (;;) {
    if (threadIdx.x == 0 && threadIdx.y == 0) tile = atomicAdd(next, 1u);
    __syncthreads();
    const unsigned mine = tile;
    __syncthreads();
    if (mine >= all) return;
    const int row = mine / wide * 16 + threadIdx.y, col = mine % wide * 16 + threadIdx.x;
    if (row < m && col < n) {
      float sum = 0;
      for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[col * k + i];
      c[row * n + col] = sum;
    }
  }
}
""")
_right("pipeline", "gemm", r"""
// referee: launch gemm grid=(cdiv(n, 16), cdiv(m, 16)) block=(16, 16)
#include <cuda_pipeline.h>
__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float sa[2][16][16], sb[2][16][16];
  const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
  const auto load = [&](int stage, int first) {
    if (row < m && first + x < k) __pipeline_memcpy_async(&sa[stage][y][x], &a[(size_t)row * k + first + x], 4);
    else sa[stage][y][x] = 0;
    if (col < n && first + y < k) __pipeline_memcpy_async(&sb[stage][y][x], &b[(size_t)(first + y) * n + col], 4);
    else sb[stage][y][x] = 0;
    __pipeline_commit();
  };
  float sum = 0;
  load(0, 0);
  for (int first = 0, stage = 0; first < k; first += 16, stage ^= 1) {
    if (first + 16 < k) {
      load(stage ^ 1, first + 16);
      __pipeline_wait_prior(1);
    } else {
      __pipeline_wait_prior(0);
    }
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += sa[stage][y][i] * sb[stage][i][x];
    __syncthreads();
  }
  if (row < m && col < n) c[(size_t)row * n + col] = sum;
}
""")
_right("groups-softmax", "softmax", r"""
// referee: launch softmax grid=cdiv(m, 4) block=128
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void softmax(const float* x, float* y, int m, int n) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const int r = blockIdx.x * 4 + warp.meta_group_rank();
  if (r >= m) return;
  const float* row = x + (size_t)r * n;
  constexpr float log2e = 1.44269504089f;
  float most = -INFINITY, sum = 0;
  for (int i = warp.thread_rank(); i < n; i += 32) {
    const float v = row[i], next = fmaxf(most, v);
    sum = sum * exp2f((most - next) * log2e) + exp2f((v - next) * log2e);
    most = next;
  }
  const float all = cg::reduce(warp, most, cg::greater<float>());
  sum = cg::reduce(warp, most == -INFINITY ? 0.0f : sum * exp2f((most - all) * log2e), cg::plus<float>());
  for (int i = warp.thread_rank(); i < n; i += 32) y[(size_t)r * n + i] = exp2f((row[i] - all) * log2e) / sum;
}
""")
_right("peeled-vectors", "rmsnorm", r"""
// referee: launch rms grid=m block=64
#include <cstdint>
__global__ void rms(const float* x, const float* w, float* y, int m, int n) {
  __shared__ float part[2];
  const float* row = x + (size_t)blockIdx.x * n;
  float* out = y + (size_t)blockIdx.x * n;
  const int head = min(n, (int)((16 - (uintptr_t)row % 16) % 16 / 4)), body = (n - head) / 4;
  const float4* four = reinterpret_cast<const float4*>(row + head);
  float v = 0;
  if ((int)threadIdx.x < head) v += row[threadIdx.x] * row[threadIdx.x];
  for (int i = threadIdx.x; i < body; i += 64) { const float4 f = four[i]; v += f.x * f.x + f.y * f.y + f.z * f.z + f.w * f.w; }
  for (int i = head + 4 * body + threadIdx.x; i < n; i += 64) v += row[i] * row[i];
  for (int by = 16; by > 0; by /= 2) v += __shfl_xor_sync(0xffffffffu, v, by);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  const float r = rsqrtf((part[0] + part[1]) / n + 1e-5f);
  for (int i = threadIdx.x; i < n; i += 64) out[i] = row[i] * r * w[i];
}
""")
_right("compiler-pragmas", "dot", r"""
// referee: clear result
// referee: launch dot grid=5 block=128
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll_count(4)")
#elif defined(__CUDACC__)
#define UNROLL _Pragma("unroll 4")
#else
#define UNROLL
#endif
#if __CUDA_ARCH__ >= 800
#define LOAD(p) __ldcs(p)
#else
#define LOAD(p) (*(p))
#endif
__global__ void dot(const float* x, const float* y, float* result, int n) {
  float v = 0;
  UNROLL
  for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += 5 * 128) v = fmaf(LOAD(x + i), LOAD(y + i), v);
  for (int by = 16; by > 0; by /= 2) v += __shfl_down_sync(0xffffffffu, v, by);
  if (threadIdx.x % 32 == 0) atomicAdd(result, v);
}
""")
_right("duff", "copy", r"""
// referee: launch copy grid=3 block=32
__global__ void copy(const float* __restrict__ from, float* __restrict__ to, int count) {
  const int all = 96, me = blockIdx.x * 32 + threadIdx.x;
  if (me >= count) return;
  int left = (count - me + all - 1) / all, at = me;
  switch (left & 3) {
    again:
    case 0: to[at] = from[at]; at += all; --left;
    case 3: to[at] = from[at]; at += all; --left;
    case 2: to[at] = from[at]; at += all; --left;
    case 1: to[at] = from[at]; at += all; --left;
  }
  if (left > 0) goto again;
}
""")
_TWO = r"""
__global__ void parts(const float* x, float* t, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  float v = i < n ? x[i] : 0;
  for (int by = 16; by > 0; by /= 2) v += __shfl_xor_sync(0xffffffffu, v, by);
  if (threadIdx.x % 32 == 0) t[i / 32] = v;
}
__global__ void finish(const float* t, float* result, int n) {
  float v = 0;
  for (int i = threadIdx.x; i < n; i += 32) v += t[i];
  for (int by = 16; by > 0; by /= 2) v += __shfl_xor_sync(0xffffffffu, v, by);
  if (threadIdx.x == 0) *result = v;
}
"""
def two_kernels(x, result, n):
    import rung
    t = np.empty(-(-n // 256) * 8, np.float32)
    rung.Kernel(_TWO, "parts")[-(-n // 256), 256](x, t, n)
    rung.Kernel(_TWO, "finish")[1, 32](t, result, t.size)
_right("python-two-kernels", {"operation": "sum", "hidden": 10}, two_kernels)
_BY_COLUMNS = r"""
__global__ void gemm(const float* a, const float* bt, float* c, int m, int n, int k) {
  const int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum = fmaf(a[row * k + i], bt[(size_t)col * k + i], sum);
  c[row * n + col] = sum;
}
"""
def host_transposes(a, b, c, m, n, k):
    import rung
    bt = np.ascontiguousarray(b.T)
    rung.Kernel(_BY_COLUMNS, "gemm")[(-(-n // 32), -(-m // 8)), (32, 8)](a, bt, c, m, n, k)
_right("python-host-transposes", {"operation": "gemm", "hidden": 8}, host_transposes)

def specimens():
    """Yields all of this file."""
    yield from _ALL
