"""Specimens of gemm, gemv, attention and convolutions."""

from .family import family

NAIVE = r"""
// referee: launch gemm grid=(cdiv(n, 16), cdiv(m, 16)) block=(16, 16)
__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];
  c[row * n + col] = sum;
}
"""

TILED = r"""
// referee: launch gemm grid=(cdiv(n, 16), cdiv(m, 16)) block=(16, 16)
constexpr int T = 16;
__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float as[T][T], bs[T][T + 1];
  const int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;
  float sum = 0;
  for (int k0 = 0; k0 < k; k0 += T) {
    const int ka = k0 + threadIdx.x, kb = k0 + threadIdx.y;
    as[threadIdx.y][threadIdx.x] = row < m && ka < k ? a[row * k + ka] : 0.0f;
    bs[threadIdx.y][threadIdx.x] = kb < k && col < n ? b[kb * n + col] : 0.0f;
    __syncthreads();  // loaded
    for (int i = 0; i < T; ++i) sum = fmaf(as[threadIdx.y][i], bs[i][threadIdx.x], sum);
    __syncthreads();  // used
  }
  if (row < m && col < n) c[row * n + col] = sum;
}
"""

REGISTERS = r"""
// referee: launch gemm grid=(cdiv(n, 64), cdiv(m, 64)) block=256
constexpr int BM = 64, BN = 64, BK = 8, TM = 4, TN = 4;
__global__ void __launch_bounds__(256) gemm(const float* __restrict__ a, const float* __restrict__ b,
                                            float* __restrict__ c, int m, int n, int k) {
  __shared__ float as[BK][BM + 4], bs[BK][BN];
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  const int ty = threadIdx.x / 16, tx = threadIdx.x % 16;
  float acc[TM][TN] = {};
  for (int k0 = 0; k0 < k; k0 += BK) {
    for (int i = threadIdx.x; i < BM * BK; i += 256) {
      const int r = i / BK, kk = i % BK;
      as[kk][r] = row0 + r < m && k0 + kk < k ? a[(row0 + r) * k + k0 + kk] : 0.0f;
    }
    for (int i = threadIdx.x; i < BN * BK; i += 256) {
      const int kk = i / BN, col = i % BN;
      bs[kk][col] = col0 + col < n && k0 + kk < k ? b[(k0 + kk) * n + col0 + col] : 0.0f;
    }
    __syncthreads();  // loaded
#pragma unroll
    for (int kk = 0; kk < BK; ++kk)
      for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j) acc[i][j] += as[kk][ty * TM + i] * bs[kk][tx * TN + j];
    __syncthreads();  // used
  }
  for (int i = 0; i < TM; ++i)
    for (int j = 0; j < TN; ++j) {
      const int row = row0 + ty * TM + i, col = col0 + tx * TN + j;
      if (row < m && col < n) c[row * n + col] = acc[i][j];
    }
}
"""

SPLIT_K = r"""
// referee: clear c
// referee: launch gemm grid=(cdiv(n, 16), cdiv(m, 16), 4) block=(16, 16)
__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  const int part = (k + gridDim.z - 1) / gridDim.z, begin = blockIdx.z * part, end = min(k, begin + part);
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int i = begin; i < end; ++i) sum += a[row * k + i] * b[i * n + col];
  atomicAdd(&c[row * n + col], sum);
}
"""

WARP_ROW = r"""
// referee: launch gemv grid=cdiv(m, 4) block=128
__global__ void gemv(const float* a, const float* x, float* y, int m, int n) {
  const int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= m) return;
  float sum = 0;
  for (int i = lane; i < n; i += 32) sum += a[row * n + i] * x[i];
  for (int by = 16; by > 0; by /= 2) sum += __shfl_down_sync(0xffffffffu, sum, by);
  if (lane == 0) y[row] = sum;
}
"""

VECTORS = r"""
// referee: launch gemv grid=m block=64
__global__ void gemv(const float* a, const float* x, float* y, int n) {
  __shared__ float parts[2];
  const float* row = a + (long long)blockIdx.x * n;
  float sum = 0;
  if (n % 4 == 0) {
    const float4* row4 = reinterpret_cast<const float4*>(row);
    const float4* x4 = reinterpret_cast<const float4*>(x);
    for (int i = threadIdx.x; i < n / 4; i += 64)
      sum += row4[i].x * x4[i].x + row4[i].y * x4[i].y + row4[i].z * x4[i].z + row4[i].w * x4[i].w;
  } else {
    for (int i = threadIdx.x; i < n; i += 64) sum += row[i] * x[i];
  }
  for (int by = 16; by > 0; by /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, by);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = parts[0] + parts[1];
}
"""

HALF = r"""
// referee: launch gemm_nt grid=(cdiv(n, 16), cdiv(m, 16)) block=(16, 16)
#include <cuda_fp16.h>
__global__ void gemm_nt(const __half* a, const __half* b, __half* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += __half2float(a[row * k + i]) * __half2float(b[col * k + i]);
  c[row * n + col] = __float2half(sum);
}
"""

ATTENTION = r"""
// referee: launch attention grid=cdiv(m, 32) block=32
__global__ void attention(const float* q, const float* k, const float* v, float* o, int m, int n) {
  constexpr int D = 64;
  const int row = blockIdx.x * 32 + threadIdx.x;
  if (row >= m) return;
  const float scale = rsqrtf(float(D));
  float most = -INFINITY, sum = 0, acc[D] = {};
  for (int j = 0; j < n; ++j) {
    float score = 0;
    for (int i = 0; i < D; ++i) score += q[row * D + i] * k[j * D + i];
    score *= scale;
    const float next = fmaxf(most, score), old = expf(most - next), weight = expf(score - next);
    sum = sum * old + weight;
    for (int i = 0; i < D; ++i) acc[i] = acc[i] * old + weight * v[j * D + i];
    most = next;
  }
  for (int i = 0; i < D; ++i) o[row * D + i] = acc[i] / sum;
}
"""

CONV1D = r"""
// referee: launch conv grid=cdiv(n - k + 1, 128) block=128
__global__ void conv(const float* x, const float* w, float* y, int n, int k) {
  __shared__ float tile[128 + 64];
  const int first = blockIdx.x * 128, i = first + threadIdx.x;
  for (int at = threadIdx.x; at < 128 + k - 1; at += 128) tile[at] = first + at < n ? x[first + at] : 0.0f;
  __syncthreads();
  if (i > n - k) return;
  float sum = 0;
  for (int j = 0; j < k; ++j) sum += tile[threadIdx.x + j] * w[j];
  y[i] = sum;
}
"""

CONV2D = r"""
// referee: launch conv grid=(cdiv(w_ - s + 1, 16), cdiv(h - r + 1, 16)) block=(16, 16) args=(x, w, y, h, w_, r, s)
__global__ void conv(const float* x, const float* w, float* y, int h, int width, int r, int s) {
  const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  const int rows = h - r + 1, cols = width - s + 1;
  if (row >= rows || col >= cols) return;
  float sum = 0;
  for (int i = 0; i < r; ++i)
    for (int j = 0; j < s; ++j) sum += x[(row + i) * width + col + j] * w[i * s + j];
  y[row * cols + col] = sum;
}
"""


def specimens():
    yield from family("gemm-naive", {"operation": "gemm", "zeros": True}, NAIVE, {
        "restrict": [("const float* a, const float* b, float* c", "const float* __restrict__ a, const float* __restrict__ b,"
                                                                  " float* __restrict__ c")],
        "two-sums": [("float sum = 0;\n", "float sum = 0, odd = 0;\n"),
                     ("for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];",
                      "for (int i = 0; i + 1 < k; i += 2) {\n    sum += a[row * k + i] * b[i * n + col];\n"
                      "    odd += a[row * k + i + 1] * b[(i + 1) * n + col];\n  }\n"
                      "  if (k % 2) sum += a[row * k + k - 1] * b[(k - 1) * n + col];\n  sum += odd;")],
        "backwards": [("for (int i = 0; i < k; ++i)", "for (int i = k - 1; i >= 0; --i)")],
        "double": [("float sum = 0;", "double sum = 0;")],
        "ldg": [("a[row * k + i] *", "__ldg(&a[row * k + i]) *")],
    }, {
        "no-guard": ("out of bounds", [("  if (row >= m || col >= n) return;\n", "")]),
        "row-guard": ("out of bounds", [("row >= m || col >= n", "row >= m")]),
        "off-by-one": ("out of bounds", [("row >= m ||", "row > m ||")]),
        "drop-last": ("lost term", [("i < k; ++i", "i < k - 1; ++i")]),
        "skip-first": ("lost term", [("int i = 0; i < k", "int i = 1; i < k")]),
        "round-down": ("grid rounded down", [("cdiv(n, 16), cdiv(m, 16)", "n / 16, m / 16")]),
        "round-down-m": ("grid rounded down", [("cdiv(m, 16)", "max(1, m / 16)")]),
        "swap-mn": ("stride mix-up", [("c[row * n + col]", "c[row * m + col]")]),
        "b-stride": ("stride mix-up", [("b[i * n + col]", "b[i * k + col]")]),
        "b-transposed": ("stride mix-up", [("b[i * n + col]", "b[col * k + i]")]),
        "c-transposed": ("stride mix-up", [("c[row * n + col]", "c[col * m + row]")]),
        "half-sum": ("low precision", [("// referee", "#include <cuda_fp16.h>\n// referee"), ("float sum = 0;", "__half sum = 0;"),
                                       ("sum += a[row * k + i] * b[i * n + col];",
                                        "sum = __hadd(sum, __float2half(a[row * k + i] * b[i * n + col]));"),
                                       ("= sum;", "= __half2float(sum);")]),
        "half-factors": ("low precision", [("// referee", "#include <cuda_fp16.h>\n// referee"),
                                           ("a[row * k + i] *", "__half2float(__float2half(a[row * k + i])) *")]),
        "bf16-result": ("low precision", [("= sum;", "= __uint_as_float(__float_as_uint(sum) & 0xffff0000u);")]),
        "tf32": ("low precision", [("a[row * k + i] *", "__uint_as_float(__float_as_uint(a[row * k + i]) & 0xffffe000u) *")]),
        "accumulate": ("relies on zeroed memory", [("c[row * n + col] = sum", "c[row * n + col] += sum")]),
        "no-init": ("uninitialised", [("float sum = 0;", "float sum;")]),
        "zero": ("constant answer", [("= sum;", "= 0;")]),
        "nothing": ("does nothing", [("  c[row * n + col] = sum;\n", "")]),
        "ignores-a": ("ignores an input", [("a[row * k + i] *", "1.0f *")]),
        "ignores-b": ("ignores an input", [("* b[i * n + col]", "* 0.5f")]),
        "clamped-k": ("only up to a size", [("i < k; ++i", "i < min(k, 128); ++i")]),
        "k-of-64": ("only up to a size", [("float sum = 0;", "if (k > 64) k = 64;\n  float sum = 0;")]),
        "only-large": ("only for some shapes", [("float sum = 0;", "float sum = 0;\n  if (m < 8) k = 0;")]),
        "abs": ("only for some inputs", [("sum += a[row * k + i]", "sum += fabsf(a[row * k + i])")]),
        "skip-small": ("only for some inputs", [("sum += a", "if (fabsf(a[row * k + i]) > 1e-3f) sum += a")]),
        "saturated": ("only for some inputs", [("= sum;", "= fminf(fmaxf(sum, -100.0f), 100.0f);")]),
        "writes-a": ("changes an input", [("const float* a", "float* a"), ("c[row * n + col] = sum;",
                                                                         "c[row * n + col] = sum;\n  if (k > 0) a[row * k] = 0;")]),
        "writes-b-const": ("changes an input", [("c[row * n + col] = sum;",
                           "c[row * n + col] = sum;\n  if (row == 0 && k > 0) const_cast<float*>(b)[col] = sum;")]),
        "beyond-c": ("out of bounds", [("c[row * n + col] = sum;", "c[row * n + col] = sum;\n"
                                                                  "  if (row == m - 1 && col == n - 1) c[m * n] = sum;")]),
        "before-c": ("out of bounds", [("c[row * n + col] = sum;", "c[row * n + col] = sum;\n"
                                                                  "  if (row == 0 && col == 0) c[-1] = sum;")]),
        "cached": ("caches", [("__global__", "__device__ float kept[1 << 16]; __device__ int has;\n__global__"),
                              ("float sum = 0;", "const int at = row * n + col;\n  if (has == m * n + k && at < 65536) {"
                                                 " c[at] = kept[at]; return; }\n  float sum = 0;"),
                              ("= sum;\n", "= sum;\n  if (at < 65536) kept[at] = sum;\n"
                                           "  if (row == m - 1 && col == n - 1) has = m * n + k;\n")]),
        "once": ("caches", [("__global__", "__device__ unsigned calls;\n__global__"),
                            ("= sum;\n", "= calls > 3 * m * n ? 0 : sum;\n  atomicAdd(&calls, 1u);\n")]),
        "large-block": ("bad launch", [("block=(16, 16)", "block=(64, 64)")]),
    })
    yield from family("gemm-tiled", "gemm", TILED, {
        "32": [("T = 16", "T = 32"), ("cdiv(n, 16), cdiv(m, 16)", "cdiv(n, 32), cdiv(m, 32)"),
               ("block=(16, 16)", "block=(32, 32)")],
        "8": [("T = 16", "T = 8"), ("cdiv(n, 16), cdiv(m, 16)", "cdiv(n, 8), cdiv(m, 8)"),
              ("block=(16, 16)", "block=(8, 8)")],
        "unpadded": [("bs[T][T + 1]", "bs[T][T]")],
        "dynamic": [("__shared__ float as[T][T], bs[T][T + 1];", "extern __shared__ float memory[];\n"
                     "  float(*as)[T] = reinterpret_cast<float(*)[T]>(memory), (*bs)[T] = as + T;"),
                    ("block=(16, 16)", "block=(16, 16) shared=2048")],
    }, {
        "no-sync-1": ("race in shared memory", [("    __syncthreads();  // loaded\n", "")]),
        "no-sync-2": ("race in shared memory", [("    __syncthreads();  // used\n", "")]),
        "syncwarp": ("race in shared memory", [("__syncthreads();  // loaded", "__syncwarp();")]),
        "no-fill": ("tail not zeroed", [("row < m && ka < k ? a[row * k + ka] : 0.0f", "row < m ? a[row * k + ka] : 0.0f")]),
        "no-fill-b": ("tail not zeroed", [("as[threadIdx.y][threadIdx.x] = row < m && ka < k ? a[row * k + ka] : 0.0f;",
                                           "if (row < m && ka < k) as[threadIdx.y][threadIdx.x] = a[row * k + ka];")]),
        "early-return": ("barrier in divergent code", [("float sum = 0;", "if (row >= m || col >= n) return;\n  float sum = 0;")]),
        "conditional": ("barrier in divergent code", [("    __syncthreads();  // used", "    if (row < m) __syncthreads();")]),
        "whole-tiles": ("only for some shapes", [("k0 < k; k0", "k0 + T <= k; k0")]),
        "one-tile": ("only up to a size", [("k0 < k; k0 += T", "k0 < T; k0 += T")]),
        "wrong-tile": ("stride mix-up", [("fmaf(as[threadIdx.y][i], bs[i][threadIdx.x]", "fmaf(as[i][threadIdx.y], bs[i][threadIdx.x]")]),
        "too-much-shared": ("bad launch", [("block=(16, 16)", "block=(16, 16) shared=300000")]),
        "small-shared": ("out of bounds", [("as[T][T], bs", "as[T][T - 1], bs")]),
    })
    yield from family("gemm-registers", "gemm", REGISTERS, {
        "no-unroll": [("#pragma unroll\n", "")],
        "fma": [("acc[i][j] += as[kk][ty * TM + i] * bs[kk][tx * TN + j]",
                 "acc[i][j] = __fmaf_rn(as[kk][ty * TM + i], bs[kk][tx * TN + j], acc[i][j])")],
        "deeper": [("BK = 8", "BK = 16")],
    }, {
        "no-sync-1": ("race in shared memory", [("    __syncthreads();  // loaded\n", "")]),
        "no-sync-2": ("race in shared memory", [("    __syncthreads();  // used\n", "")]),
        "no-guard-c": ("out of bounds", [("if (row < m && col < n) c", "c")]),
        "no-guard-a": ("out of bounds", [("row0 + r < m && k0 + kk < k ? a[(row0 + r) * k + k0 + kk] : 0.0f",
                                          "k0 + kk < k ? a[(row0 + r) * k + k0 + kk] : 0.0f")]),
        "uninitialised": ("uninitialised", [("acc[TM][TN] = {}", "acc[TM][TN]")]),
        "half-loaded": ("uninitialised", [("i < BN * BK; i += 256", "i < BN * BK / 2; i += 256")]),
        "missing-column": ("lost term", [("j < TN; ++j) acc", "j < TN - 1; ++j) acc")]),
    })
    yield from family("gemm-split-k", "gemm", SPLIT_K, {
        "two": [("cdiv(m, 16), 4)", "cdiv(m, 16), 2)")],
    }, {
        "no-atomic": ("race in global memory", [("atomicAdd(&c[row * n + col], sum)", "c[row * n + col] += sum")]),
        "no-clear": ("relies on zeroed memory", [("// referee: clear c\n", "")]),
        "last-wins": ("race in global memory", [("atomicAdd(&c[row * n + col], sum)", "c[row * n + col] = sum")]),
        "parts-down": ("lost term", [("(k + gridDim.z - 1) / gridDim.z", "k / gridDim.z")]),
        "overlap": ("doubled term", [("min(k, begin + part)", "min(k, begin + part + 1)")]),
    })
    yield from family("gemv-warp", {"operation": "gemv", "zeros": True}, WARP_ROW, {
        "xor": [("__shfl_down_sync", "__shfl_xor_sync")],
    }, {
        "half-warp": ("lost term", [("by = 16", "by = 8")]),
        "wrong-mask": ("shuffle of missing lanes", [("__shfl_down_sync(0xffffffffu", "__shfl_down_sync(0x0000ffffu")]),
        "divergent": ("shuffle of missing lanes", [("for (int by", "if (lane < n) for (int by")]),
        "rows-down": ("grid rounded down", [("cdiv(m, 4)", "max(1, m / 4)")]),
    })
    yield from family("gemv-vectors", "gemv", VECTORS, {}, {
        "any-n": ("misaligned vectors", [("n % 4 == 0", "true")]),
        "no-tail": ("lost term", [("} else {", "} else if (n < 4) {")]),
        "no-sync": ("race in shared memory", [("  __syncthreads();\n", "")]),
        "float8": ("misaligned vectors", [("n % 4 == 0", "n % 2 == 0")]),
    })
    yield from family("gemm-half", {"operation": "gemm_nt", "dtype": "float16"}, HALF, {}, {
        "half-sum": ("low precision", [("float sum", "__half sum"), ("sum += __half2float(a[row * k + i]) * __half2float(b[col * k + i])",
                                        "sum = __hfma(a[row * k + i], b[col * k + i], sum)"), ("__float2half(sum)", "sum")]),
        "truncated": ("low precision", [("__float2half(sum)", "__float2half_rz(sum * 0.999f)")]),
    })
    yield from family("attention", {"operation": "attention", "choices": {"d": [64]}}, ATTENTION, {
        "block-64": [("cdiv(m, 32) block=32", "cdiv(m, 64) block=64"), ("blockIdx.x * 32", "blockIdx.x * 64")],
        "fast-exp": [("expf", "__expf")],
    }, {
        "no-max": ("unstable", [("fmaxf(most, score)", "0.0f")]),
        "no-scale": ("wrong formula", [("    score *= scale;\n", "")]),
        "no-rescale": ("wrong formula", [("acc[i] * old", "acc[i]")]),
        "causal": ("only for some shapes", [("j < n; ++j", "j < min(n, row + 64); ++j")]),
        "ignores-v": ("ignores an input", [("weight * v[j * D + i]", "weight")]),
        "short": ("only up to a size", [("j < n; ++j", "j < min(n, 64); ++j")]),
    })
    yield from family("conv1d", {"operation": "conv1d", "limits": {"k": 40}}, CONV1D, {
        # Threads that have exited count as arrived, and all have loaded their part before.
        "early-return": [("  __syncthreads();\n", "  if (i > n - k) return;\n  __syncthreads();\n")],
    }, {
        "no-halo": ("uninitialised", [("at < 128 + k - 1", "at < 128")]),
        "no-sync": ("race in shared memory", [("  __syncthreads();\n", "")]),
        "flipped": ("wrong formula", [("* w[j]", "* w[k - 1 - j]")]),
        "same": ("out of bounds", [("if (i > n - k)", "if (i >= n)")]),
        "short-halo": ("only up to a size", [("at < 128 + k - 1", "at < 128 + min(k - 1, 16)")]),
    })
    yield from family("conv2d", "conv2d", CONV2D, {
        "rows-first": [("for (int i = 0; i < r; ++i)\n    for (int j = 0; j < s; ++j)",
                        "for (int j = 0; j < s; ++j)\n    for (int i = 0; i < r; ++i)")],
    }, {
        "square": ("stride mix-up", [("w[i * s + j]", "w[i * r + j]")]),
        "pitch": ("stride mix-up", [("y[row * cols + col]", "y[row * width + col]")]),
        "three-by-three": ("only for some shapes", [("float sum = 0;", "float sum = 0;\n  if (r > 5) r = 5;")]),
    })
