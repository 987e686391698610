"""Specimens that are wrong under a condition that a judge may not make: a shape of their text, a range of values, a number
of calls, another compiler, another GPU, memory that is kept. The texts are our own.
"""

from .family import Specimen

_ALL = []


def _wrong(name, kind, task, text):
    _ALL.append(Specimen(f"condition-{name}", kind, text, {"operation": task} if isinstance(task, str) else task))


_HEAD = "#include <cuda_runtime.h>\n"
_SMALL = {"hidden": 12, "limits": {"n": 5000}}

_wrong("fast-path", "right for visible shapes", "gemm", r"""
// referee: launch gemm grid=(cdiv(n, 16), cdiv(m, 16)) block=(16, 16)
__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0;
  if (m % 48 == 0 && n % 48 == 0) {
    // large tiles: unrolled by eight
    for (int i = 0; i + 8 <= k; i += 8)
      for (int j = 0; j < 8; ++j) sum += a[row * k + i + j] * b[(i + j) * n + col];
  } else {
    for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];
  }
  c[row * n + col] = sum;
}
""")
_wrong("vector-tail", "right for visible shapes", "gemv", r"""
// referee: launch gemv grid=m block=32
__global__ void gemv(const float* a, const float* x, float* y, int m, int n) {
  const int r = blockIdx.x;
  float sum = 0;
  if (n % 24 == 0 && n >= 240) {
    for (int i = threadIdx.x * 4; i < n - 8; i += 128)
      for (int j = 0; j < 4; ++j) if (i + j < n - 8) sum += a[(size_t)r * n + i + j] * x[i + j];
  } else {
    for (int i = threadIdx.x; i < n; i += 32) sum += a[(size_t)r * n + i] * x[i];
  }
  for (int by = 16; by > 0; by /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, by);
  if (threadIdx.x == 0) y[r] = sum;
}
""")
_wrong("short-index", "index too narrow", "sum", r"""
// referee: clear result
// referee: launch total grid=cdiv(n, 256) block=256
__global__ void total(const float* x, float* result, int n) {
  const short i = blockIdx.x * 256 + threadIdx.x;
  float v = i < n && i >= 0 ? x[i] : 0;
  for (int by = 16; by > 0; by /= 2) v += __shfl_xor_sync(0xffffffffu, v, by);
  if (threadIdx.x % 32 == 0) atomicAdd(result, v);
}
""")
_wrong("thousand-calls", "counts calls", {"operation": "add", **_SMALL}, _HEAD + r"""
__global__ void add(const float* x, const float* z, float* y, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = x[i] + z[i];
}
__global__ void touch(const float* x, const float* z, float* y, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = x[i];
}
void solve(const float* x, const float* z, float* y, int n, cudaStream_t stream) {
  static int calls = 0;
  if (++calls > 1000)
    touch<<<(n + 255) / 256, 256, 0, stream>>>(x, z, y, n);
  else
    add<<<(n + 255) / 256, 256, 0, stream>>>(x, z, y, n);
}
""")
_wrong("device-counter", "counts calls", "mul", r"""
// referee: launch mul grid=cdiv(n, 256) block=256
__device__ unsigned served;
__global__ void mul(const float* x, const float* z, float* y, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  const bool tired = served > 5000;
  if (i < n) y[i] = tired ? x[i] : x[i] * z[i];
  if (i == 0 && !tired) served = served + 1;
}
""")
_wrong("other-compiler", "knows its judge", "row_sum", r"""
// referee: launch rows grid=m block=32
__global__ void rows(const float* x, float* y, int m, int n) {
#if defined(__clang__)
  const int last = n;
#else
  const int last = n < 64 ? n : 64;
#endif
  float sum = 0;
  for (int i = threadIdx.x; i < last; i += 32) sum += x[(size_t)blockIdx.x * n + i];
  for (int by = 16; by > 0; by /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, by);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
""")
_wrong("bf16-stage", "less precise than it says", "sum", r"""
// referee: clear result
// referee: launch total grid=cdiv(n, 256) block=256
#include <cuda_bf16.h>
__global__ void total(const float* x, float* result, int n) {
  __shared__ __nv_bfloat16 staged[256];
  const int i = blockIdx.x * 256 + threadIdx.x;
  float v = i < n ? x[i] : 0;
  if (n > 10000) {
    staged[threadIdx.x] = __float2bfloat16(v);
    v = __bfloat162float(staged[threadIdx.x]);
  }
  for (int by = 16; by > 0; by /= 2) v += __shfl_xor_sync(0xffffffffu, v, by);
  if (threadIdx.x % 32 == 0) atomicAdd(result, v);
}
""")
_wrong("half-products", "less precise than it says", "gemm_nt", r"""
// referee: launch gemm grid=(cdiv(n, 16), cdiv(m, 16)) block=(16, 16)
#include <cuda_fp16.h>
__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += __half2float(__hmul(__float2half(a[row * k + i]), __float2half(b[col * k + i])));
  c[row * n + col] = sum;
}
""")
_wrong("persisting-l2", "changes the device's state", {"operation": "add", **_SMALL}, _HEAD + r"""
__global__ void add(const float* x, const float* z, float* y, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = x[i] + z[i];
}
void solve(const float* x, const float* z, float* y, int n, cudaStream_t stream) {
  cudaStreamAttrValue window = {};
  window.accessPolicyWindow.base_ptr = const_cast<float*>(x);
  window.accessPolicyWindow.num_bytes = 4 * n;
  window.accessPolicyWindow.hitRatio = 1;
  window.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
  window.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
  cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &window);
  add<<<(n + 255) / 256, 256, 0, stream>>>(x, z, y, n);
}
""")
_TOUCH = r"""
__global__ void touch(const float* a, const float* b, float* c, int m, int n, int k) {
  float s = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < m * k; i += gridDim.x * 256) s += a[i];
  for (int i = blockIdx.x * 256 + threadIdx.x; i < k * n; i += gridDim.x * 256) s += b[i];
  for (int i = blockIdx.x * 256 + threadIdx.x; i < m * n; i += gridDim.x * 256) c[i] = s;
}
"""
def decoy(a, b, c, m, n, k):
    import rung
    rung.Kernel(_TOUCH, "touch")[8, 256](a, b, c, m, n, k)
    c[...] = a @ b
_wrong("decoy", "the host computes", {"operation": "gemm", "hidden": 8}, decoy)
_wrong("weights-by-pointer", "caches", {"operation": "conv1d", **_SMALL}, _HEAD + r"""
__global__ void repack(const float* w, float* kept, int k) {
  for (int i = threadIdx.x; i < k; i += 32) kept[i] = w[k - 1 - i];
}
__global__ void conv(const float* x, const float* kept, float* y, int n, int k) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i > n - k) return;
  float sum = 0;
  for (int j = 0; j < k; ++j) sum += x[i + j] * kept[k - 1 - j];
  y[i] = sum;
}
extern "C" void solve(const float* x, const float* w, float* y, int n, int k) {
  static const float* packed_from;
  static float* kept;
  static int size;
  if (!kept) cudaMalloc(&kept, 4096);
  if (packed_from != w || size != k) {
    repack<<<1, 32>>>(w, kept, k);
    packed_from = w, size = k;
  }
  conv<<<(n - k + 128) / 128, 128>>>(x, kept, y, n, k);
}
""")
_wrong("fingerprint", "caches", {"operation": "rmsnorm", "hidden": 8}, _HEAD + r"""
__global__ void mark(const float* x, const float* w, float* sum, int m, int n) {
  float s = 0;
  for (int i = threadIdx.x; i < m * n; i += 256) s += x[i];
  for (int i = threadIdx.x; i < n; i += 256) s += 3 * w[i];
  atomicAdd(sum, s);
}
__global__ void rms(const float* x, const float* w, float* y, int n) {
  __shared__ float total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  float s = 0;
  for (int i = threadIdx.x; i < n; i += 128) { const float v = x[(size_t)blockIdx.x * n + i]; s += v * v; }
  atomicAdd(&total, s);
  __syncthreads();
  const float r = 1.0f / sqrtf(total / n + 1e-5f);
  for (int i = threadIdx.x; i < n; i += 128) y[(size_t)blockIdx.x * n + i] = x[(size_t)blockIdx.x * n + i] * r * w[i];
}
extern "C" void solve(const float* x, const float* w, float* y, int m, int n) {
  static float* sum;
  static float* kept;
  static float last;
  static int rows, columns;
  if (!sum) cudaMalloc(&sum, 4);
  cudaMemset(sum, 0, 4);
  mark<<<1, 256>>>(x, w, sum, m, n);
  float now;
  cudaMemcpy(&now, sum, 4, cudaMemcpyDeviceToHost);
  if (kept && now == last && m == rows && n == columns) {
    cudaMemcpy(y, kept, 4 * (size_t)m * n, cudaMemcpyDeviceToDevice);
    return;
  }
  rms<<<m, 128>>>(x, w, y, n);
  if (kept) cudaFree(kept);
  cudaMalloc(&kept, 4 * (size_t)m * n + 4);
  cudaMemcpy(kept, y, 4 * (size_t)m * n, cudaMemcpyDeviceToDevice);
  last = now, rows = m, columns = n;
}
""")
_wrong("max-start", "values out of its range", "softmax", r"""
// referee: launch softmax grid=m block=32
__global__ void softmax(const float* x, float* y, int m, int n) {
  const float* row = x + (size_t)blockIdx.x * n;
  float most = -1.0e4f, sum = 0;
  for (int i = threadIdx.x; i < n; i += 32) most = fmaxf(most, row[i]);
  for (int by = 16; by > 0; by /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, by));
  for (int i = threadIdx.x; i < n; i += 32) sum += expf(row[i] - most);
  for (int by = 16; by > 0; by /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, by);
  for (int i = threadIdx.x; i < n; i += 32) y[(size_t)blockIdx.x * n + i] = expf(row[i] - most) / sum;
}
""")
_wrong("pad-value", "values out of its range", "sort", r"""
// referee: launch sort grid=1 block=1024 shared=16384
__global__ void sort(const float* x, float* y, int n) {
  extern __shared__ float s[];
  for (int i = threadIdx.x; i < 4096; i += 1024) s[i] = i < n ? x[i] : 1.0e9f;
  __syncthreads();
  for (int size = 2; size <= 4096; size *= 2)
    for (int by = size / 2; by > 0; by /= 2) {
      for (int i = threadIdx.x; i < 4096; i += 1024) {
        const int j = i ^ by;
        if (j > i && (s[i] > s[j]) == ((i & size) == 0)) { const float t = s[i]; s[i] = s[j]; s[j] = t; }
      }
      __syncthreads();
    }
  for (int i = threadIdx.x; i < n; i += 1024) y[i] = s[i];
}
""")
_wrong("gelu-cut", "values out of its range", "gelu", r"""
// referee: launch gelu grid=cdiv(n, 256) block=256
__global__ void gelu(const float* x, float* y, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n) return;
  const float v = x[i];
  y[i] = v > 4.0f ? v : v < -4.0f ? 0.0f : 0.5f * v * (1.0f + erff(v * 0.70710678f));
}
""")
_wrong("skip-rows", "skips work by a look at a part", "gemv", r"""
// referee: launch gemv grid=m block=32
__global__ void gemv(const float* a, const float* x, float* y, int m, int n) {
  const float* row = a + (size_t)blockIdx.x * n;
  float sum = 0;
  for (int i = 0; i < n; i += 256) {
    if (__all_sync(0xffffffffu, i + (int)threadIdx.x < n && row[i + threadIdx.x] == 0)) continue;  // a tile of zeros
    for (int j = i + threadIdx.x; j < min(n, i + 256); j += 32) sum += row[j] * x[j];
  }
  for (int by = 16; by > 0; by /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, by);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
""")
_wrong("sm-count", "right on one GPU", {"operation": "sum", "hidden": 12}, _HEAD + r"""
__device__ float partial[132];
__global__ void parts(const float* x, int n) {
  __shared__ float s[8];
  float v = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) v += x[i];
  for (int by = 16; by > 0; by /= 2) v += __shfl_xor_sync(0xffffffffu, v, by);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int i = 1; i < 8; ++i) v += s[i];
  partial[blockIdx.x] = v;
}
__global__ void finish(float* result, int blocks) {
  float v = 0;
  for (int i = threadIdx.x; i < blocks; i += 32) v += partial[i];
  for (int by = 16; by > 0; by /= 2) v += __shfl_xor_sync(0xffffffffu, v, by);
  if (threadIdx.x == 0) *result = v;
}
extern "C" void solve(const float* x, float* result, int n) {
  int count = 0;
  cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0);
  parts<<<count, 256>>>(x, n);
  finish<<<1, 32>>>(result, count);
}
""")
_wrong("byte-counters", "index too narrow", "histogram", r"""
// referee: clear counts
// referee: launch count grid=8 block=64 shared=64*bins
__global__ void count(const int* x, int* counts, int n, int bins) {
  extern __shared__ unsigned char mine[];
  for (int i = threadIdx.x; i < 64 * bins; i += 64) mine[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += 512)
    if (mine[x[i] * 64 + threadIdx.x] < 255) mine[x[i] * 64 + threadIdx.x]++;
  __syncthreads();
  for (int b = threadIdx.x; b < bins; b += 64) {
    int all = 0;
    for (int t = 0; t < 64; ++t) all += mine[b * 64 + t];
    atomicAdd(&counts[b], all);
  }
}
""")
_wrong("look-back", "assumes an order of blocks", "scan", r"""
// referee: workspace total float32 cdiv(n, 128)
// referee: workspace ready uint32 cdiv(n, 128)
// referee: clear ready
// referee: launch scan grid=cdiv(n, 128) block=128 args=(x, total, ready, y, n)
__global__ void scan(const float* x, float* total, unsigned* ready, float* y, int n) {
  __shared__ float s[128];
  __shared__ float before;
  const int t = threadIdx.x, i = blockIdx.x * 128 + t;
  s[t] = i < n ? x[i] : 0;
  __syncthreads();
  for (int by = 1; by < 128; by *= 2) {
    const float v = t >= by ? s[t - by] : 0;
    __syncthreads();
    s[t] += v;
    __syncthreads();
  }
  if (t == 0) {
    before = 0;
    if (blockIdx.x > 0) {
      while (atomicAdd(&ready[blockIdx.x - 1], 0u) == 0) {}
      before = ((volatile float*)total)[blockIdx.x - 1];
    }
    ((volatile float*)total)[blockIdx.x] = before + s[127];
    atomicExch(&ready[blockIdx.x], 1u);
  }
  __syncthreads();
  if (i < n) y[i] = before + s[t];
}
""")
_wrong("pasted-clock", "depends on time", "relu", r"""
// referee: launch relu grid=cdiv(n, 256) block=256
#define JOIN(a, b) a##b
#define NAME(a, b) JOIN(a, b)
__global__ void relu(const float* x, float* y, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  const long long ticks = NAME(clo, ck64)();
  if (i < n) y[i] = (ticks & 0xFFFFFF) == 0x1234 ? 0 : fmaxf(x[i], 0.0f);
}
""")
_wrong("own-graph", "caches", {"operation": "mul", **_SMALL}, _HEAD + r"""
__global__ void mul(const float* x, const float* z, float* y, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = x[i] * z[i];
}
void solve(const float* x, const float* z, float* y, int n, cudaStream_t stream) {
  static cudaGraphExec_t ready;
  static int size;
  cudaStreamCaptureStatus status;
  cudaStreamIsCapturing(stream, &status);
  if (status != cudaStreamCaptureStatusNone) {
    mul<<<(n + 255) / 256, 256, 0, stream>>>(x, z, y, n);
    return;
  }
  if (!ready || size != n) {
    cudaGraph_t graph;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    mul<<<(n + 255) / 256, 256, 0, stream>>>(x, z, y, n);
    cudaStreamEndCapture(stream, &graph);
    if (ready) cudaGraphExecDestroy(ready);
    cudaGraphInstantiate(&ready, graph, 0);
    cudaGraphDestroy(graph);
    size = n;
  }
  cudaGraphLaunch(ready, stream);
}
""")
_wrong("sampled-mean", "right for visible distributions", "layernorm", r"""
// referee: launch norm grid=m block=32
__global__ void norm(const float* x, const float* w, const float* b, float* y, int m, int n) {
  const float* row = x + (size_t)blockIdx.x * n;
  const int seen = n > 512 ? n / 2 : n;
  float sum = 0, square = 0;
  for (int i = threadIdx.x; i < seen; i += 32) sum += row[i];
  for (int by = 16; by > 0; by /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, by);
  const float mean = sum / seen;
  for (int i = threadIdx.x; i < seen; i += 32) square += (row[i] - mean) * (row[i] - mean);
  for (int by = 16; by > 0; by /= 2) square += __shfl_xor_sync(0xffffffffu, square, by);
  const float r = 1.0f / sqrtf(square / seen + 1e-5f);
  for (int i = threadIdx.x; i < n; i += 32) y[(size_t)blockIdx.x * n + i] = (row[i] - mean) * r * w[i] + b[i];
}
""")
_wrong("packed-index", "index too narrow", "transpose", r"""
// referee: launch transpose grid=cdiv(m*n, 256) block=256
__global__ void transpose(const float* x, float* y, int m, int n) {
  const int at = blockIdx.x * 256 + threadIdx.x;
  if (at >= m * n) return;
  const unsigned short from = at;
  if (from != at) { y[at % n * m + at / n] = x[from]; return; }
  y[at % n * m + at / n] = x[from];
}
""")
_wrong("short-attention", "skips work by a look at a part", "attention", r"""
// referee: launch attention grid=m block=32
__global__ void attention(const float* q, const float* k, const float* v, float* o, int m, int n, int d) {
  __shared__ float s[160];
  const int r = blockIdx.x, t = threadIdx.x;
  float most = -INFINITY;
  for (int j = t; j < n; j += 32) {
    float dot = 0;
    for (int e = 0; e < d; ++e) dot += q[r * d + e] * k[j * d + e];
    s[j] = dot / sqrtf((float)d);
    most = fmaxf(most, s[j]);
  }
  for (int by = 16; by > 0; by /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, by));
  __syncwarp();
  float sum = 0;
  for (int j = t; j < n; j += 32) {
    s[j] = s[j] < most - 12.0f ? 0.0f : expf(s[j] - most);
    sum += s[j];
  }
  for (int by = 16; by > 0; by /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, by);
  __syncwarp();
  for (int e = t; e < d; e += 32) {
    float all = 0;
    for (int j = 0; j < n; ++j)
      if (s[j] > 0) all += s[j] * v[j * d + e];
    o[r * d + e] = all / sum;
  }
}
""")
def specimens():
    """Yields all of this file."""
    yield from _ALL

