"""Specimens that move, count or map elements: transpose, copy, sort, histogram, functions of elements; and Metal."""

from .family import family

TRANSPOSE = r"""
// referee: launch transpose grid=(cdiv(n, 32), cdiv(m, 32)) block=(32, 8)
__global__ void transpose(const float* x, float* y, int m, int n) {
  __shared__ float tile[32][33];
  int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8)
    if (row + i < m && col < n) tile[threadIdx.y + i][threadIdx.x] = x[(row + i) * n + col];
  __syncthreads();
  col = blockIdx.y * 32 + threadIdx.x, row = blockIdx.x * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8)
    if (row + i < n && col < m) y[(row + i) * m + col] = tile[threadIdx.x][threadIdx.y + i];
}
"""

COPY = r"""
// referee: launch copy grid=cdiv(n, 1024) block=256
__global__ void copy(const float* x, float* y, int n) {
  const int i = 4 * (blockIdx.x * 256 + threadIdx.x);
  if (i + 3 < n)
    *reinterpret_cast<float4*>(y + i) = *reinterpret_cast<const float4*>(x + i);
  else
    for (int j = i; j < n; ++j) y[j] = x[j];
}
"""

BITONIC = r"""
// referee: workspace keys float32 pow2(n)
// referee: launch fill grid=cdiv(pow2(n), 128) block=128 args=(x, keys, n, pow2(n))
// referee: launch sort_block grid=1 block=256 args=(keys, pow2(n))
// referee: launch finish grid=cdiv(n, 128) block=128 args=(keys, y, n)
__global__ void fill(const float* x, float* keys, int n, int padded) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < padded) keys[i] = i < n ? x[i] : INFINITY;
}
__global__ void sort_block(float* keys, int padded) {
  for (int size = 2; size <= padded; size *= 2)
    for (int by = size / 2; by > 0; by /= 2) {
      for (int i = threadIdx.x; i < padded; i += 256) {
        const int other = i ^ by;
        if (other > i && (keys[i] > keys[other]) == ((i & size) == 0)) {
          const float kept = keys[i];
          keys[i] = keys[other];
          keys[other] = kept;
        }
      }
      __syncthreads();
    }
}
__global__ void finish(const float* keys, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) y[i] = keys[i];
}
"""

RANK = r"""
// referee: launch rank grid=cdiv(n, 64) block=64
__global__ void rank(const float* x, float* y, int n) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i >= n) return;
  int place = 0;
  for (int j = 0; j < n; ++j) place += x[j] < x[i] || (x[j] == x[i] && j < i);
  y[place] = x[i];
}
"""

HISTOGRAM = r"""
// referee: clear counts
// referee: launch histogram grid=min(cdiv(n, 256), 16) block=256 shared=4*bins
__global__ void histogram(const int* x, int* counts, int n, int bins) {
  extern __shared__ int mine[];
  for (int b = threadIdx.x; b < bins; b += 256) mine[b] = 0;
  __syncthreads();  // zero
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) atomicAdd(&mine[x[i]], 1);
  __syncthreads();  // counted
  for (int b = threadIdx.x; b < bins; b += 256) atomicAdd(&counts[b], mine[b]);
}
"""

GELU = r"""
// referee: launch gelu grid=cdiv(n, 128) block=128
__global__ void gelu(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) y[i] = 0.5f * x[i] * (1.0f + erff(x[i] * 0.70710678f));
}
"""

ADD = r"""
// referee: launch add grid=min(cdiv(n, 256), 8) block=256
__global__ void add(const float* x, const float* z, float* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) y[i] = x[i] + z[i];
}
"""

RELU = r"""
// referee: launch relu grid=cdiv(n, 64) block=64
__global__ void relu(const float* x, float* y, int n) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i < n) y[i] = x[i] < 0 ? 0.0f : x[i];
}
"""

METAL_GEMM = r"""
// referee: launch gemm groups=(cdiv(n, 16), cdiv(m, 16)) group=(16, 16)
#include <metal_stdlib>
using namespace metal;
kernel void gemm(device const float* a, device const float* b, device float* c, constant int& m, constant int& n,
                 constant int& k, uint2 group [[threadgroup_position_in_grid]],
                 uint2 at [[thread_position_in_threadgroup]]) {
  threadgroup float as[16][16], bs[16][16];
  const int row = group.y * 16 + at.y, col = group.x * 16 + at.x;
  float sum = 0;
  for (int k0 = 0; k0 < k; k0 += 16) {
    as[at.y][at.x] = row < m && k0 + int(at.x) < k ? a[row * k + k0 + at.x] : 0.0f;
    bs[at.y][at.x] = k0 + int(at.y) < k && col < n ? b[(k0 + at.y) * n + col] : 0.0f;
    threadgroup_barrier(mem_flags::mem_threadgroup);  // loaded
    for (int i = 0; i < 16; ++i) sum += as[at.y][i] * bs[i][at.x];
    threadgroup_barrier(mem_flags::mem_threadgroup);  // used
  }
  if (row < m && col < n) c[row * n + col] = sum;
}
"""

METAL_SILU = r"""
// referee: launch silu grid=n group=64
#include <metal_stdlib>
using namespace metal;
kernel void silu(device const float* x, device float* y, uint i [[thread_position_in_grid]]) {
  y[i] = x[i] / (1.0f + exp(-x[i]));
}
"""

METAL_ROWS = r"""
// referee: launch row_sum groups=m group=32
#include <metal_stdlib>
using namespace metal;
kernel void row_sum(device const float* x, device float* y, constant int& n, uint row [[threadgroup_position_in_grid]],
                    uint lane [[thread_index_in_simdgroup]]) {
  float sum = 0;
  for (int i = lane; i < n; i += 32) sum += x[row * n + i];
  sum = simd_sum(sum);
  if (lane == 0) y[row] = sum;
}
"""


def specimens():
    yield from family("transpose", "transpose", TRANSPOSE, {
        "unpadded": [("tile[32][33]", "tile[32][32]")],
    }, {
        "no-sync": ("race in shared memory", [("  __syncthreads();\n", "")]),
        "square": ("stride mix-up", [("y[(row + i) * m + col]", "y[(row + i) * n + col]")]),
        "guard-swapped": ("out of bounds", [("row + i < n && col < m", "row + i < m && col < n")]),
        "half": ("lost term", [("for (int i = 0; i < 32; i += 8)\n    if (row + i < n", "for (int i = 0; i < 24; i += 8)\n    if (row + i < n")]),
        "not-transposed": ("wrong formula", [("tile[threadIdx.x][threadIdx.y + i]", "tile[threadIdx.y + i][threadIdx.x]")]),
        "round-down": ("grid rounded down", [("cdiv(n, 32), cdiv(m, 32)", "n / 32, m / 32")]),
    })
    yield from family("copy-vectors", "copy", COPY, {}, {
        "no-tail": ("lost term", [("for (int j = i; j < n; ++j) y[j] = x[j]", ";")]),
        "shifted": ("misaligned vectors", [("4 * (blockIdx.x * 256 + threadIdx.x)", "4 * (blockIdx.x * 256 + threadIdx.x) + n % 2 - n % 2 * 4"),
                                           ("i + 3 < n", "i >= 0 && i + 3 < n"), ("int j = i;", "int j = max(i, 0);")]),
        "over-end": ("out of bounds", [("i + 3 < n", "i < n")]),
        "aligned-64": ("misaligned vectors", [("i + 3 < n", "((size_t)x & 63) == 0 && i + 3 < n"),
                                              ("for (int j = i; j < n; ++j) y[j] = x[j]", "for (int j = i; j < n && ((size_t)x & 63) == 0; ++j) y[j] = x[j]")]),
        "flush": ("only for some inputs", [("y[j] = x[j]", "y[j] = fabsf(x[j]) < 1.2e-38f ? 0 : x[j]"),
                                           ("i + 3 < n", "false")]),
        "minus-zero": ("only for some inputs", [("y[j] = x[j]", "y[j] = __fadd_rn(x[j], 0.0f)"), ("i + 3 < n", "false")]),
        "half-copy": ("low precision", [("y[j] = x[j]", "y[j] = (float)(_Float16)x[j]"), ("i + 3 < n", "false")]),
    })
    yield from family("sort-bitonic", "sort", BITONIC, {}, {
        "no-sync": ("race in global memory", [("      __syncthreads();\n", "")]),
        "pad-zero": ("only for some inputs", [("INFINITY", "0.0f")]),
        "pad-1000": ("only for some inputs", [("INFINITY", "1000.0f")]),
        "descending": ("wrong formula", [("(i & size) == 0", "(i & size) != 0")]),
        "unpadded": ("only for some shapes", [("args=(keys, pow2(n))", "args=(keys, n)")]),
        "short": ("only up to a size", [("size <= padded", "size <= min(padded, 1024)")]),
    })
    yield from family("sort-rank", {"operation": "sort", "limits": {"n": 700}}, RANK, {
        "two-loops": [("for (int j = 0; j < n; ++j) place += x[j] < x[i] || (x[j] == x[i] && j < i);",
                       "for (int j = 0; j < i; ++j) place += x[j] <= x[i];\n  for (int j = i + 1; j < n; ++j) place += x[j] < x[i];")],
    }, {
        "unstable-ties": ("race in global memory", [(" || (x[j] == x[i] && j < i)", "")]),
        "ties-up": ("only for some inputs", [("j < i)", "j <= i)")]),
        "window": ("only up to a size", [("for (int j = 0; j < n; ++j)", "for (int j = max(0, i - 256); j < n; ++j)")]),
    })
    yield from family("histogram", {"operation": "histogram", "distributions": ["uniform", "constant", "ties"]}, HISTOGRAM, {
        "no-shared": [("for (int b = threadIdx.x; b < bins; b += 256) atomicAdd(&counts[b], mine[b]);",
                       "for (int b = threadIdx.x; b < bins; b += 256)\n    if (mine[b] > 0) atomicAdd(&counts[b], mine[b]);")],
    }, {
        "no-atomic-1": ("race in shared memory", [("atomicAdd(&mine[x[i]], 1)", "mine[x[i]] += 1")]),
        "no-atomic-2": ("race in global memory", [("atomicAdd(&counts[b], mine[b])", "counts[b] += mine[b]")]),
        "no-zero": ("uninitialised", [("  for (int b = threadIdx.x; b < bins; b += 256) mine[b] = 0;\n", "")]),
        "no-clear": ("relies on zeroed memory", [("// referee: clear counts\n", "")]),
        "no-sync-1": ("race in shared memory", [("  __syncthreads();  // zero\n", "")]),
        "no-sync-2": ("race in shared memory", [("  __syncthreads();  // counted\n", "")]),
        "256-bins": ("only up to a size", [("for (int b = threadIdx.x; b < bins; b += 256) atomicAdd", "if (int b = threadIdx.x; b < bins) atomicAdd")]),
        "bytes": ("only for some inputs", [("atomicAdd(&mine[x[i]], 1)", "atomicAdd(&mine[x[i] & 127], 1)")]),
        "small-shared": ("out of bounds", [("shared=4*bins", "shared=4*bins-4")]),
    })
    yield from family("gelu", "gelu", GELU, {
        "erfc": [("(1.0f + erff(x[i] * 0.70710678f))", "erfcf(-x[i] * 0.70710678f)")],
        "intrinsic": [("0.5f * x[i] * (1.0f + erff(x[i] * 0.70710678f))", "x[i] * normcdff(x[i])")],
    }, {
        "tanh": ("low precision", [("erff(x[i] * 0.70710678f)", "tanhf(0.79788456f * (x[i] + 0.044715f * x[i] * x[i] * x[i]))")]),
        "sigmoid": ("low precision", [("0.5f * x[i] * (1.0f + erff(x[i] * 0.70710678f))", "x[i] / (1.0f + expf(-1.702f * x[i]))")]),
        "relu": ("wrong formula", [("0.5f * x[i] * (1.0f + erff(x[i] * 0.70710678f))", "fmaxf(x[i], 0.0f)")]),
        "no-guard": ("out of bounds", [("if (i < n) ", "")]),
        "float-half": ("low precision", [("y[i] = 0.5f * x[i]", "y[i] = (float)(_Float16)(0.5f * x[i])")]),
        "only-once": ("caches", [("__global__", "__device__ int calls;\n__global__"), ("if (i < n)", "if (i < n && calls < 20)"),
                                 ("70710678f));", "70710678f));\n  if (i == 0) calls = calls + 1;")]),
    })
    yield from family("add-strided", {"operation": "add", "limits": {"n": 40000}}, ADD, {
        "one-block": [("min(cdiv(n, 256), 8)", "1")],
        "volatile": [("const float* z", "const volatile float* z")],
    }, {
        "one-step": ("only up to a size", [("for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)",
                                            "if (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n)")]),
        "ignores-z": ("ignores an input", [(" + z[i]", "")]),
        "doubled-x": ("ignores an input", [("x[i] + z[i]", "x[i] + x[i]")]),
        "short": ("only up to a size", [("i < n; i", "i < min(n, 16384); i")]),
        "neighbour": ("out of bounds", [("x[i] + z[i]", "x[i] + z[i + 1] * 0 + z[i]")]),
        "writes-z": ("changes an input", [("const float* z", "float* z"), ("y[i] = x[i] + z[i]", "y[i] = z[i] += x[i]")]),
        "int-index": ("only up to a size", [("for (int i", "for (short i")]),
        "kept-y": ("caches", [("__global__", "__device__ float kept[20000];\n__device__ int sizes;\n__global__"),
                              ("y[i] = x[i] + z[i];", "{\n    y[i] = sizes == n && kept[i] != 0 ? kept[i] : x[i] + z[i];\n    kept[i] = y[i];\n"
                                                      "    if (i == n - 1) sizes = n;\n  }")]),
        "fingerprint": ("caches", [("__global__", "__device__ float kept[20000], first;\n__device__ int sizes;\n__global__"),
                                   ("y[i] = x[i] + z[i];", "{\n    y[i] = sizes == n && first == x[0] ? kept[i] : x[i] + z[i];\n    kept[i] = y[i];\n"
                                                           "    if (n == 1) first = x[0];\n    if (i == n - 1) sizes = n;\n    if (i == n - 1) first = x[0];\n  }")]),
    })
    yield from family("relu", {"operation": "relu", "nonfinite": True}, RELU, {
        "not-a-number": [("x[i] < 0 ? 0.0f : x[i]", "x[i] >= 0 || x[i] != x[i] ? x[i] : 0.0f")],
    }, {
        "nan": ("only for some inputs", [("x[i] < 0 ? 0.0f : x[i]", "fmaxf(x[i], 0.0f)")]),
        "leaky": ("wrong formula", [("? 0.0f", "? 1e-4f * x[i]")]),
        "clipped": ("only for some inputs", [(": x[i]", ": x[i] > 6.0f ? 6.0f : x[i]")]),
        "nothing": ("does nothing", [("y[i] = x[i] < 0 ? 0.0f : x[i]", "(void)x")]),
        "stale": ("does nothing", [("if (i < n)", "if (i < n && x[i] > 0)")]),
        "zero": ("constant answer", [("x[i] < 0 ? 0.0f : x[i]", "0.0f")]),
    })
    yield from family("metal-gemm", "gemm", METAL_GEMM, {
        "fma": [("sum += as[at.y][i] * bs[i][at.x]", "sum = fma(as[at.y][i], bs[i][at.x], sum)")],
    }, {
        "no-barrier-1": ("race in shared memory", [("    threadgroup_barrier(mem_flags::mem_threadgroup);  // loaded\n", "")]),
        "no-barrier-2": ("race in shared memory", [("    threadgroup_barrier(mem_flags::mem_threadgroup);  // used\n", "")]),
        "no-guard": ("out of bounds", [("  if (row < m && col < n) c", "  c")]),
        "half-sum": ("low precision", [("float sum = 0", "half sum = 0")]),
        "whole-tiles": ("only for some shapes", [("k0 < k; k0", "k0 + 15 < k; k0")]),
    })
    yield from family("metal-silu", "silu", METAL_SILU, {
        "sigmoid": [("x[i] / (1.0f + exp(-x[i]))", "x[i] * (1.0f / (1.0f + exp(-x[i])))")],
    }, {
        "half": ("low precision", [("exp(-x[i])", "float(exp(half(-x[i])))")]),
        "groups-up": ("out of bounds", [("grid=n group", "groups=cdiv(n, 64) group")]),
        "no-negative": ("only for some inputs", [("exp(-x[i])", "exp(-fabs(x[i]))")]),
    })
    yield from family("metal-row-sum", "row_sum", METAL_ROWS, {}, {
        "one-turn": ("only up to a size", [("for (int i = lane; i < n; i += 32) sum", "if (int(lane) < n) sum"),
                                           ("x[row * n + i]", "x[row * n + lane]")]),
        "lanes": ("race in global memory", [("if (lane == 0) y[row] = sum;", "y[row] = sum + lane * 1e-3f;")]),
        "two-rows": ("stride mix-up", [("x[row * n + i]", "x[row * 32 + i]")]),
    })
