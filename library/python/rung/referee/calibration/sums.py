"""Specimens of sums, dot products, prefix sums, softmax and normalizations."""

from .family import family

TREE = r"""
// referee: workspace parts float32 cdiv(n, 256)
// referee: launch partial grid=cdiv(n, 256) block=256 args=(x, parts, n)
// referee: launch finish grid=1 block=256 args=(parts, result, cdiv(n, 256))
__device__ float sum_of_block(float value) {
  __shared__ float s[256];
  const int t = threadIdx.x;
  s[t] = value;
  __syncthreads();  // stored
  for (int by = 128; by > 0; by /= 2) {
    if (t < by) s[t] += s[t + by];
    __syncthreads();  // added
  }
  return s[0];
}
__global__ void partial(const float* x, float* parts, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  const float sum = sum_of_block(i < n ? x[i] : 0.0f);
  if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}
__global__ void finish(const float* parts, float* result, int count) {
  float sum = 0;
  for (int i = threadIdx.x; i < count; i += 256) sum += parts[i];
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) *result = sum;
}
"""

ATOMIC = r"""
// referee: clear result
// referee: launch sum grid=min(cdiv(n, 128), 32) block=128
__global__ void sum(const float* x, float* result, int n) {
  float mine = 0;
  for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128) mine += x[i];
  for (int by = 16; by > 0; by /= 2) mine += __shfl_down_sync(0xffffffffu, mine, by);
  if (threadIdx.x % 32 == 0) atomicAdd(result, mine);
}
"""

LAST_BLOCK = r"""
// referee: workspace parts float32 64
// referee: workspace count uint32 1
// referee: clear count
// referee: launch dot grid=min(64, max(1, cdiv(n, 256))) block=256
__global__ void dot(const float* x, const float* y, float* result, float* parts, unsigned* count, int n) {
  __shared__ float s[8];
  __shared__ bool is_last;
  float mine = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) mine = fmaf(x[i], y[i], mine);
  for (int by = 16; by > 0; by /= 2) mine += __shfl_xor_sync(0xffffffffu, mine, by);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = mine;
  __syncthreads();  // warps
  if (threadIdx.x == 0) {
    float all = 0;
    for (int w = 0; w < 8; ++w) all += s[w];
    parts[blockIdx.x] = all;
    __threadfence();  // published
    is_last = atomicAdd(count, 1u) == gridDim.x - 1;
  }
  __syncthreads();  // last
  if (is_last && threadIdx.x == 0) {
    __threadfence();
    float total = 0;
    for (int b = 0; b < gridDim.x; ++b) total += parts[b];
    *result = total;
  }
}
"""

ROW_SUM = r"""
// referee: launch row_sum grid=m block=32
__global__ void row_sum(const float* x, float* y, int n) {
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += 32) sum += x[(size_t)blockIdx.x * n + i];
  for (int by = 16; by > 0; by /= 2) sum += __shfl_xor_sync(~0u, sum, by);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
"""

SCAN = r"""
// referee: launch scan grid=1 block=256
__global__ void scan(const float* x, float* y, int n) {
  __shared__ float s[2][256];
  const int t = threadIdx.x;
  float before = 0;
  for (int first = 0; first < n; first += 256) {
    int now = 0;
    s[0][t] = first + t < n ? x[first + t] : 0.0f;
    __syncthreads();  // loaded
    for (int by = 1; by < 256; by *= 2) {
      s[1 - now][t] = s[now][t] + (t >= by ? s[now][t - by] : 0.0f);
      now = 1 - now;
      __syncthreads();  // step
    }
    if (first + t < n) y[first + t] = before + s[now][t];
    before += s[now][255];
    __syncthreads();  // next
  }
}
"""

SOFTMAX = r"""
// referee: launch softmax grid=m block=128
__global__ void softmax(const float* x, float* y, int n) {
  __shared__ float s[128];
  const float* row = x + (size_t)blockIdx.x * n;
  const int t = threadIdx.x;
  float most = -INFINITY;
  for (int i = t; i < n; i += 128) most = fmaxf(most, row[i]);
  s[t] = most;
  __syncthreads();  // maxima
  for (int by = 64; by > 0; by /= 2) {
    if (t < by) s[t] = fmaxf(s[t], s[t + by]);
    __syncthreads();
  }
  most = s[0];
  __syncthreads();  // read
  float sum = 0;
  for (int i = t; i < n; i += 128) sum += expf(row[i] - most);
  s[t] = sum;
  __syncthreads();  // sums
  for (int by = 64; by > 0; by /= 2) {
    if (t < by) s[t] += s[t + by];
    __syncthreads();
  }
  const float scale = 1.0f / s[0];
  for (int i = t; i < n; i += 128) y[(size_t)blockIdx.x * n + i] = expf(row[i] - most) * scale;
}
"""

ONLINE = r"""
// referee: launch softmax grid=cdiv(m, 64) block=64
__global__ void softmax(const float* x, float* y, int m, int n) {
  const int r = blockIdx.x * 64 + threadIdx.x;
  if (r >= m) return;
  float most = x[r * n], sum = 1;
  for (int i = 1; i < n; ++i) {
    const float v = x[r * n + i], next = fmaxf(v, most);
    sum = sum * expf(most - next) + expf(v - next);
    most = next;
  }
  for (int i = 0; i < n; ++i) y[r * n + i] = expf(x[r * n + i] - most) / sum;
}
"""

LAYERNORM = r"""
// referee: launch layernorm grid=cdiv(m, 4) block=(32, 4)
__device__ float all(float v) {
  for (int by = 16; by > 0; by /= 2) v += __shfl_xor_sync(0xffffffffu, v, by);
  return v;
}
__global__ void layernorm(const float* x, const float* w, const float* b, float* y, int m, int n) {
  const int r = blockIdx.x * 4 + threadIdx.y;
  if (r >= m) return;
  float sum = 0, squares = 0;
  for (int i = threadIdx.x; i < n; i += 32) sum += x[r * n + i];
  const float mean = all(sum) / n;
  for (int i = threadIdx.x; i < n; i += 32) squares += (x[r * n + i] - mean) * (x[r * n + i] - mean);
  const float scale = rsqrtf(all(squares) / n + 1e-5f);
  for (int i = threadIdx.x; i < n; i += 32) y[r * n + i] = (x[r * n + i] - mean) * scale * w[i] + b[i];
}
"""

RMSNORM = r"""
// referee: launch rmsnorm grid=m block=64
__global__ void rmsnorm(const float* x, const float* w, float* y, int n) {
  __shared__ float total;
  x += (size_t)blockIdx.x * n;
  y += (size_t)blockIdx.x * n;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();  // zero
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += 64) sum += x[i] * x[i];
  atomicAdd(&total, sum);
  __syncthreads();  // total
  const float scale = rsqrtf(total / n + 1e-5f);
  for (int i = threadIdx.x; i < n; i += 64) y[i] = x[i] * scale * w[i];
}
"""


def specimens():
    yield from family("sum-tree", {"operation": "sum", "limits": {"n": 80000}}, TREE, {
        "early": [("if (t < by) s[t] += s[t + by];\n    __syncthreads();  // added", "const float more = t < by ? s[t + by] : 0.0f;\n    if (t < by) s[t] += more;\n    __syncthreads();  // added")],
        "double": [("float sum = 0;", "double sum = 0;")],
        "unrolled": [("for (int by = 128; by > 0; by /= 2) {", "#pragma unroll\n  for (int by = 128; by > 0; by >>= 1) {")],
    }, {
        "no-sync-1": ("race in shared memory", [("  __syncthreads();  // stored\n", "")]),
        "no-sync-2": ("race in shared memory", [("    __syncthreads();  // added\n", "")]),
        "last-warp": ("race in shared memory", [("__syncthreads();  // added", "if (by > 16) __syncthreads();")]),
        "half": ("lost term", [("by = 128", "by = 64")]),
        "parts-down": ("lost term", [("result, cdiv(n, 256))", "result, n / 256)")]),
        "first-only": ("only up to a size", [("for (int i = threadIdx.x; i < count; i += 256) sum", "if (threadIdx.x < count) sum"),
                                             ("sum += parts[i]", "sum += parts[threadIdx.x]")]),
        "poisoned-tail": ("uninitialised", [("result, cdiv(n, 256))", "result, cdiv(n, 256) + 1)"),
                                            ("parts float32 cdiv(n, 256)", "parts float32 cdiv(n, 256) + 1")]),
        "mean": ("wrong formula", [("*result = sum", "*result = sum / count")]),
        "sequence": ("barrier in divergent code", [("if (t < by) s[t] += s[t + by];\n    __syncthreads();  // added",
                                                    "if (t < by) {\n      s[t] += s[t + by];\n      __syncthreads();\n    }")]),
    })
    yield from family("sum-atomic", {"operation": "sum", "zeros": False}, ATOMIC, {
        "one-block": [("min(cdiv(n, 128), 32)", "1")],
        "many-blocks": [("min(cdiv(n, 128), 32)", "cdiv(n, 128)")],
    }, {
        "no-clear": ("relies on zeroed memory", [("// referee: clear result\n", "")]),
        "no-atomic": ("race in global memory", [("atomicAdd(result, mine)", "*result += mine")]),
        "no-stride": ("only up to a size", [("for (int i", "int i"), ("; i < n; i += gridDim.x * 128) mine", "; if (i < n) mine")]),
        "one-warp": ("lost term", [("threadIdx.x % 32 == 0", "threadIdx.x == 0")]),
        "doubled": ("doubled term", [("threadIdx.x % 32 == 0", "threadIdx.x % 16 == 0")]),
        "int-sum": ("only for some inputs", [("float mine = 0", "int mine = 0")]),
        "half-sum": ("low precision", [("mine += x[i];", "mine += __uint_as_float((__float_as_uint(x[i]) + 0x8000u) & 0xffff0000u);")]),
        "accumulates": ("caches", [("// referee: clear result\n", ""), ("__global__", "__device__ float total;\n__global__"),
                                   ("atomicAdd(result, mine)", "*result = atomicAdd(&total, mine) + mine")]),
        "sample": ("lost term", [("mine += x[i]", "mine += i % 97 == 96 ? 0.0f : x[i]")]),
        "estimate": ("constant answer", [("mine += x[i]", "mine += 0.0f")]),
        "skips-blocks": ("only up to a size", [("min(cdiv(n, 128), 32)", "min(cdiv(n, 128), 8)"), ("i += gridDim.x * 128", "i += 4096")]),
    })
    yield from family("dot-last-block", "dot", LAST_BLOCK, {
        "two-accumulators": [("mine = fmaf(x[i], y[i], mine)", "mine += x[i] * y[i]")],
    }, {
        "no-fence": ("race in global memory", [("    __threadfence();  // published\n", "")]),
        "no-count-clear": ("uninitialised", [("// referee: clear count\n", "")]),
        "no-sync-warps": ("race in shared memory", [("  __syncthreads();  // warps\n", "")]),
        "no-sync-last": ("race in shared memory", [("  __syncthreads();  // last\n", "")]),
        "not-last": ("race in global memory", [("is_last = atomicAdd(count, 1u) == gridDim.x - 1", "is_last = atomicAdd(count, 1u) == 0")]),
        "seven-warps": ("lost term", [("w < 8", "w < 7")]),
        "squares": ("ignores an input", [("fmaf(x[i], y[i]", "fmaf(x[i], x[i]")]),
        "persistent-count": ("caches", [("// referee: workspace count uint32 1\n// referee: clear count\n", ""),
                                        ("__global__", "__device__ unsigned kept;\n__global__"), ("unsigned* count, ", ""),
                                        ("atomicAdd(count", "atomicAdd(&kept")]),
    })
    yield from family("row-sum", {"operation": "row_sum"}, ROW_SUM, {}, {
        "wrap": ("lost term", [("i += 32", "i += 33")]),
        "overlap": ("doubled term", [("i += 32", "i += 31")]),
        "columns": ("stride mix-up", [("(size_t)blockIdx.x * n + i", "(size_t)i * gridDim.x + blockIdx.x")]),
        "lane-1": ("lost term", [("threadIdx.x == 0) y", "threadIdx.x == 1) y"), ("__shfl_xor_sync", "__shfl_down_sync")]),
    })
    yield from family("scan", "scan", SCAN, {
        "shifts": [("by *= 2", "by <<= 1"), ("now = 1 - now", "now ^= 1")],
        "double-carry": [("float before = 0;", "double before = 0;")],
    }, {
        "in-place": ("race in shared memory", [("s[1 - now][t] = s[now][t] + (t >= by ? s[now][t - by] : 0.0f);\n      now = 1 - now;",
                                                "s[0][t] += t >= by ? s[0][t - by] : 0.0f;")]),
        "no-sync-next": ("race in shared memory", [("    __syncthreads();  // next\n", "")]),
        "no-carry": ("only up to a size", [("    before += s[now][255];\n", "")]),
        "exclusive": ("wrong formula", [("before + s[now][t]", "before + s[now][t] - x[first + t]")]),
        "chunks-down": ("only for some shapes", [("first < n; first", "first + 255 < n; first")]),
        "seven-steps": ("lost term", [("by < 256", "by < 128")]),
        "no-sync-step": ("race in shared memory", [("      __syncthreads();  // step\n", "")]),
    })
    yield from family("softmax-block", "softmax", SOFTMAX, {
        "fast": [("expf", "__expf")],
        "divide": [("expf(row[i] - most) * scale", "expf(row[i] - most) / s[0]")],
    }, {
        "no-max": ("unstable", [("most = s[0];", "most = 0;")]),
        "no-sync-read": ("race in shared memory", [("  __syncthreads();  // read\n", "")]),
        "no-sync-maxima": ("race in shared memory", [("  __syncthreads();  // maxima\n", "")]),
        "no-sync-sums": ("race in shared memory", [("  __syncthreads();  // sums\n", "")]),
        "zero-max": ("only for some inputs", [("float most = -INFINITY", "float most = 0")]),
        "short-rows": ("only up to a size", [("for (int i = t; i < n; i += 128) sum", "if (t < n) sum"),
                                             ("sum += expf(row[i] - most)", "sum += expf(row[t] - most)")]),
        "uniform": ("constant answer", [("expf(row[i] - most) * scale", "1.0f / n")]),
        "coarse-exp": ("low precision", [("sum += expf(row[i] - most)", "sum += exp2f(1.44f * (row[i] - most))")]),
        "no-normalization": ("wrong formula", [("1.0f / s[0]", "1.0f")]),
        "first-rows": ("only up to a size", [("grid=m ", "grid=min(m, 32) ")]),
    })
    yield from family("softmax-online", "softmax", ONLINE, {
        "guarded": [("float most = x[r * n], sum = 1;\n  for (int i = 1;", "float most = -INFINITY, sum = 0;\n  for (int i = 0;")],
    }, {
        "no-rescale": ("wrong formula", [("sum * expf(most - next)", "sum")]),
        "from-two": ("lost term", [("int i = 1; i < n", "int i = 2; i < n")]),
        "no-guard": ("out of bounds", [("  if (r >= m) return;\n", "")]),
        "in-place": ("changes an input", [("const float* x", "float* x"), ("const float v = x[r * n + i]", "const float v = x[r * n + i] *= 1.0000002f")]),
        "reads-next": ("out of bounds", [("next = fmaxf(v, most)", "next = fmaxf(fmaxf(v, x[r * n + i + 1] * 0), most)")]),
    })
    yield from family("layernorm-warp", "layernorm", LAYERNORM, {
        "welford-like": [("* scale * w[i] + b[i]", "* (scale * w[i]) + b[i]")],
        "divide": [("rsqrtf(all(squares) / n + 1e-5f)", "1.0f / sqrtf(all(squares) / n + 1e-5f)")],
    }, {
        "one-pass": ("unstable", [("squares += (x[r * n + i] - mean) * (x[r * n + i] - mean)", "squares += x[r * n + i] * x[r * n + i]"),
                                  ("all(squares) / n + 1e-5f", "fmaxf(all(squares) / n - mean * mean, 0.0f) + 1e-5f")]),
        "n-minus-1": ("wrong formula", [("all(squares) / n", "all(squares) / max(n - 1, 1)")]),
        "no-epsilon": ("wrong formula", [(" + 1e-5f", " + 1e-12f")]),
        "large-epsilon": ("wrong formula", [("1e-5f", "1e-3f")]),
        "ignores-b": ("ignores an input", [(" + b[i]", "")]),
        "ignores-w": ("ignores an input", [(" * w[i]", "")]),
        "lane-mean": ("lost term", [("all(sum) / n", "sum / n")]),
        "bias-of-row": ("stride mix-up", [("b[i]", "b[r % n]")]),
    })
    yield from family("rmsnorm", "rmsnorm", RMSNORM, {}, {
        "no-zero": ("uninitialised", [("  if (threadIdx.x == 0) total = 0;\n", "")]),
        "no-sync-zero": ("race in shared memory", [("  __syncthreads();  // zero\n", "")]),
        "no-sync-total": ("race in shared memory", [("  __syncthreads();  // total\n", "")]),
        "no-atomic": ("race in shared memory", [("atomicAdd(&total, sum)", "total += sum")]),
        "norm": ("wrong formula", [("total / n", "total")]),
    })
