"""Specimens whose results depend on earlier calls, on the order of blocks, on a threshold, or on the host."""

from .family import family

KEYS = r"""
// referee: launch total grid=1 block=256
__device__ float keys[4], answer;
__device__ int length;
__global__ void total(const float* x, float* result, int n) {
  __shared__ float part[256];
  __shared__ bool known;
  const int t = threadIdx.x;
  if (t == 0) known = length == n && keys[0] == x[0] && keys[1] == x[n / 4] && keys[2] == x[n / 2] && keys[3] == x[n - 1];
  float sum = 0;
  for (int i = t; i < n; i += 256) sum += x[i];
  part[t] = sum;
  __syncthreads();
  for (int by = 128; by > 0; by /= 2) {
    if (t < by) part[t] += part[t + by];
    __syncthreads();
  }
  if (t != 0) return;
  answer = part[0];
  length = n;
  keys[0] = x[0], keys[1] = x[n / 4], keys[2] = x[n / 2], keys[3] = x[n - 1];
  result[0] = answer;
}
"""

SERIAL = r"""
// referee: launch scan grid=1 block=1
__device__ double sum_of, squares_of;
__device__ int length;
__device__ float saved[5001];
__global__ void scan(const float* x, float* y, int n) {
  double sum = 0, squares = 0;
  for (int i = 0; i < n; ++i) sum += x[i], squares += double(x[i]) * x[i];
  bool is_known = false;
  if (!is_known) {
    double s = 0;
    for (int i = 0; i < n; ++i) saved[i] = float(s += x[i]);
    length = n, sum_of = sum, squares_of = squares;
  }
  for (int i = 0; i < n; ++i) y[i] = saved[i];
}
"""

CARRIES = r"""
// referee: workspace carry float32 cdiv(n, 128)
// referee: workspace ready int32 cdiv(n, 128)
// referee: clear ready
// referee: launch scan grid=cdiv(n, 128) block=128 args=(x, y, carry, ready, n)
__global__ void scan(const float* x, float* y, volatile float* carry, int* ready, int n) {
  __shared__ float s[128], before;
  const int t = threadIdx.x, i = blockIdx.x * 128 + t;
  s[t] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int by = 1; by < 128; by *= 2) {
    const float left = t >= by ? s[t - by] : 0.0f;
    __syncthreads();
    s[t] += left;
    __syncthreads();
  }
  if (t == 0) {
    before = 0;
    if (blockIdx.x > 0) {
      while (atomicAdd(&ready[blockIdx.x - 1], 0) == 0) {
      }
      __threadfence();
      before = carry[blockIdx.x - 1];
    }
    carry[blockIdx.x] = before + s[127];
    __threadfence();
    atomicExch(&ready[blockIdx.x], 1);
  }
  __syncthreads();
  if (i < n) y[i] = s[t] + before;
}
"""

COUNTED = r"""
// referee: launch relu grid=cdiv(n, 256) block=256
__device__ unsigned calls;
__global__ void relu(const float* x, float* y, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i == 0) atomicAdd(&calls, 1u);
  if (i < n) y[i] = x[i] > 0 ? x[i] : 0.0f;
}
"""

WARPS = r"""
// referee: clear result
// referee: launch dot grid=8 block=128
__global__ void dot(const float* x, const float* y, float* result, int n) {
  float sum = 0;
  for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += 1024) {
    const float product = x[i] * y[i];
    sum += product;
  }
  for (int by = 16; by > 0; by /= 2) sum += __shfl_down_sync(0xffffffffu, sum, by);
  if (threadIdx.x % 32 == 0) atomicAdd(result, sum);
}
"""

HASHED = r"""
// referee: workspace key uint64 1
// referee: clear key
// referee: launch hash grid=4 block=256 args=(a, x, key, m, n)
// referee: launch gemv grid=m block=32 args=(a, x, y, key, m, n)
// referee: launch keep grid=cdiv(m, 256) block=256 args=(y, key, m)
__device__ float kept[600];
__device__ unsigned long long known;
__global__ void hash(const float* a, const float* x, unsigned long long* key, int m, int n) {
  unsigned long long h = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < m * n; i += 1024) h += __float_as_uint(a[i]) * (i * 0x9E3779B97F4A7C15ull + 1);
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += 1024) h += __float_as_uint(x[i]) * (i * 0xC2B2AE3D27D4EB4Full + 3);
  atomicAdd(key, h + (blockIdx.x == 0 && threadIdx.x == 0 ? m * 7919 + n : 0));
}
__global__ void gemv(const float* a, const float* x, float* y, const unsigned long long* key, int m, int n) {
  const bool is_known = false;
  if (is_known) {
    y[blockIdx.x] = kept[blockIdx.x];
    return;
  }
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += 32) sum += a[blockIdx.x * n + i] * x[i];
  for (int by = 16; by > 0; by /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, by);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
__global__ void keep(const float* y, const unsigned long long* key, int m) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < m) kept[i] = y[i];
  if (i == 0) known = *key;
}
"""

RESTORED = r"""
// referee: launch row_sum grid=m block=32
__global__ void row_sum(const float* x, float* y, int m, int n) {
  volatile float* const row = const_cast<float*>(x) + (size_t)blockIdx.x * n;
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += 32) sum += row[i];
  for (int by = 16; by > 0; by /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, by);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
"""

ZEROS = r"""
// referee: launch gemm grid=(cdiv(n, 32), m) block=32
__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
  const int row = blockIdx.y, col = blockIdx.x * 32 + threadIdx.x;
  if (col >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) {
    const float factor = a[row * k + i];
    sum += factor * b[i * n + col];
  }
  c[row * n + col] = sum;
}
"""

LONG = r"""
// referee: launch gemm grid=(cdiv(n, 16), cdiv(m, 16)) block=(16, 16)
__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];
  c[row * n + col] = sum;
}
"""

HOST = r"""
#include <cuda_runtime.h>
#include <vector>
__global__ void add(const float* x, const float* z, float* y, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = x[i] + z[i];
}
extern "C" void solve(const float* x, const float* z, float* y, int n) {
  add<<<(n + 255) / 256, 256>>>(x, z, y, n);
  float first = 0;
  cudaMemcpy(&first, x, sizeof first, cudaMemcpyDeviceToHost);
}
"""

_ON_HOST = [("  float first = 0;\n  cudaMemcpy(&first, x, sizeof first, cudaMemcpyDeviceToHost);\n",
             "  std::vector<float> a(n), b(n);\n"
             "  cudaMemcpy(a.data(), x, 4 * n, cudaMemcpyDeviceToHost);\n  cudaMemcpy(b.data(), z, 4 * n, cudaMemcpyDefault);\n"
             "  for (int i = 0; i < n; ++i) a[i] += b[i];\n  cudaMemcpy(y, a.data(), 4 * n, cudaMemcpyHostToDevice);\n")]


def specimens():
    """Yields all of this file."""
    yield from family("sum-keys", "sum", KEYS, {}, {
        "samples": ("caches", [("  answer = part[0];", "  if (!known) answer = part[0];")]),
    })
    yield from family("scan-checksum", "scan", SERIAL, {}, {
        "checksum": ("caches", [("is_known = false", "is_known = length == n && sum == sum_of && squares == squares_of")]),
    })
    yield from family("scan-carries", "scan", CARRIES, {}, {
        "flag-first": ("race in global memory", [
            ("int* ready, int n", "volatile int* ready, int n"),
            ("atomicAdd(&ready[blockIdx.x - 1], 0) == 0", "ready[blockIdx.x - 1] == 0"),
            ("    carry[blockIdx.x] = before + s[127];\n    __threadfence();\n    atomicExch(&ready[blockIdx.x], 1);\n",
             "    ready[blockIdx.x] = 1;\n    carry[blockIdx.x] = before + s[127];\n")]),
    })
    yield from family("relu-counted", "relu", COUNTED, {}, {
        "many-calls": ("caches", [("  if (i < n) y", "  if (calls < 100 && i < n) y")]),
    })
    yield from family("dot-warps", "dot", WARPS, {}, {
        "threshold": ("only for some inputs", [("    sum += product;", "    if (fabsf(product) > 1e-5f) sum += product;")]),
    })
    task = {"operation": "gemm", "claims": [{"m": 4096, "n": 4096, "k": 4096, "seconds": 0.01}]}
    yield from family("gemm-claimed", task, LONG, {}, {
        "clamped": ("only up to a size", [("i < k; ++i", "i < min(k, 1024); ++i")]),
    })
    yield from family("gemv-hashed", "gemv", HASHED, {}, {
        "hash": ("caches", [("is_known = false", "is_known = known == *key")]),
    })
    yield from family("row-sum-restored", "row_sum", RESTORED, {}, {
        "restores": ("changes an input", [("sum += row[i];", "{\n    row[i] = -row[i];\n    sum -= row[i];\n    row[i] = -row[i];\n  }")]),
    })
    yield from family("gemm-zeros", {"operation": "gemm", "nonfinite": True, "hidden": 12}, ZEROS, {}, {
        "skips": ("only for some inputs", [("    sum += factor", "    if (factor != 0) sum += factor")]),
    })
    yield from family("program-host", "add", HOST, {}, {"computes": ("the host computes", _ON_HOST)})
