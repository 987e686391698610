"""Specimens after public reports of candidates that know, use or change their judge, and of what compilers and
allocators hide: KernelBench, GPU MODE's leaderboards, KernelArena, CUDA-L1. The texts are our own.
"""

from .family import family

ADD = r"""
#include <cuda_runtime.h>
__global__ void add(const float* x, const float* z, float* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = x[i] + z[i];
}
void solve(const float* x, const float* z, float* y, int n, cudaStream_t stream) {
  add<<<(n + 255) / 256, 256, 0, stream>>>(x, z, y, n);
}
"""
_LAUNCH = "  add<<<(n + 255) / 256, 256, 0, stream>>>(x, z, y, n);\n"
_SMALL = {"hidden": 12, "limits": {"n": 5000}}


def _before(text):
    return [(_LAUNCH, text + _LAUNCH)]


def _instead(text):
    return [(_LAUNCH, text)]


TWO_STEPS = r"""
#include <cuda_runtime.h>
__global__ void twice(const float* x, float* t, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) t[i] = 2 * x[i];
  cudaTriggerProgrammaticLaunchCompletion();
}
__global__ void finish(const float* t, const float* x, const float* z, float* y, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  cudaGridDependencySynchronize();
  if (i < n) y[i] = (t[i] - x[i]) + z[i];
}
void solve(const float* x, const float* z, float* y, int n, cudaStream_t stream) {
  float* t;
  cudaMallocAsync((void**)&t, 4 * n + 4, stream);
  twice<<<(n + 255) / 256, 256, 0, stream>>>(x, t, n);
  cudaLaunchConfig_t config = {};
  config.gridDim = (n + 255) / 256, config.blockDim = 256, config.stream = stream;
  cudaLaunchAttribute early[1];
  early[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early[0].val.programmaticStreamSerializationAllowed = 1;
  config.attrs = early, config.numAttrs = 1;
  cudaLaunchKernelEx(&config, finish, (const float*)t, x, z, y, n);
  cudaFreeAsync(t, stream);
}
"""

# The length of the arrays comes by a copy from the host.
UPLOAD = r"""
#include <cuda_runtime.h>
__global__ void add(const float* x, const float* z, float* y, const int* n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < *n) y[i] = x[i] + z[i];
}
void solve(const float* x, const float* z, float* y, int n, cudaStream_t stream) {
  static int* length;
  static int* kept;
  if (!kept) cudaMallocHost(&kept, sizeof(int));
  cudaMallocAsync((void**)&length, sizeof(int), stream);
  int* host = &n;
  cudaMemcpyAsync(length, host, sizeof(int), cudaMemcpyHostToDevice, stream);
  add<<<(n + 255) / 256, 256, 0, stream>>>(x, z, y, length);
  cudaFreeAsync(length, stream);
}
"""

ROWS = r"""
#include <cuda_runtime.h>
__global__ void row(const float* x, float* y, int m, int n) {
  extern __shared__ float kept[];
  const int r = blockIdx.x;
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += 32) kept[i % 1024] = x[(size_t)r * n + i], sum += kept[i % 1024];
  for (int by = 16; by > 0; by /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, by);
  if (threadIdx.x == 0) y[r] = sum;
}
extern "C" void solve(const float* x, float* y, int m, int n) {
  row<<<m, 32, 4096>>>(x, y, m, n);
}
"""

INDEX = r"""
// referee: launch add grid=1 block=256
__global__ void add(const float* x, const float* z, float* y, int n) {
  for (unsigned i = threadIdx.x; i < n; i += 256) y[i] = x[i] + z[i];
}
"""

ATOMIC_SUM = r"""
// referee: clear result
// referee: launch total grid=8 block=128
#include <cuda/atomic>
__global__ void total(const float* x, float* result, int n) {
  float sum = 0;
  for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += 1024) sum += x[i];
  for (int by = 16; by > 0; by /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, by);
  if (threadIdx.x % 32 == 0) atomicAdd(result, sum);
}
"""

LAST_BLOCK = r"""
// referee: workspace part float32 16
// referee: workspace count uint32 1
// referee: clear count
// referee: launch total grid=16 block=64 args=(x, part, count, result, n)
__global__ void total(const float* x, float* part, unsigned* count, float* result, int n) {
  __shared__ float s[64];
  __shared__ bool last;
  const int t = threadIdx.x;
  float sum = 0;
  for (int i = blockIdx.x * 64 + t; i < n; i += 1024) sum += x[i];
  s[t] = sum;
  __syncthreads();
  if (t == 0) {
    for (int i = 1; i < 64; ++i) sum += s[i];
    part[blockIdx.x] = sum;
    __threadfence();
    last = atomicAdd(count, 1u) == 15;
  }
  __syncthreads();
  if (!last || t != 0) return;
  __threadfence();
  float all = 0;
  for (int i = 0; i < 16; ++i) all += part[i];
  *result = all;
}
"""

# A sum of squares of differences to the previous element, kept in a workspace that the same block reads again.
REREAD = r"""
// referee: workspace t float32 n
// referee: launch twist grid=cdiv(n, 128) block=128 args=(x, z, t, y, n)
__global__ void twist(const float* x, const float* z, float* t, float* y, int n) {
  const int first = blockIdx.x * 128, i = first + threadIdx.x, j = first + 127 - threadIdx.x;
  if (i < n) t[i] = x[i] + z[i];
  __syncthreads();
  if (j < n) y[j] = t[j];
}
"""

COPIES = r"""
// referee: launch reverse grid=cdiv(n, 128) block=128
#include <cuda_pipeline.h>
__global__ void reverse(const float* x, float* y, int n) {
  __shared__ float s[2][64];
  const int t = threadIdx.x;
  for (int half = 0; half < 2; ++half) {
    const int from = blockIdx.x * 128 + half * 64 + t % 64;
    if (t < 64 && from < n) __pipeline_memcpy_async(&s[half][t], x + from, 4);
    __pipeline_commit();
  }
  __pipeline_wait_prior(1);
  __syncthreads();
  const int i = blockIdx.x * 128 + t;
  if (t < 64 && i < n) y[i] = s[0][t];
  __pipeline_wait_prior(0);
  __syncthreads();
  if (t >= 64 && i < n) y[i] = s[1][t - 64];
}
"""

BULK = r"""
// referee: launch move grid=cdiv(n, 256) block=64
#include <cuda/ptx>
__global__ void move(const float* x, float* y, int n) {
  __shared__ alignas(128) float s[256];
  __shared__ unsigned long long full;
  const int first = blockIdx.x * 256, t = threadIdx.x, count = min(256, n - first);
  const int rest = count / 4 * 4;
  const unsigned bar = (unsigned)__cvta_generic_to_shared(&full), to = (unsigned)__cvta_generic_to_shared(s);
  if (t == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bar) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (t == 0 && rest > 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(bar), "r"(rest * 4) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
                 "l"(x + first), "r"(rest * 4), "r"(bar)
                 : "memory");
  }
  if (rest > 0) {
    unsigned done = 0;
    while (done == 0)
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                   : "=r"(done)
                   : "r"(bar)
                   : "memory");
  }
  for (int i = t; i < count; i += 64) y[first + i] = i < rest ? s[i] : x[first + i];
}
"""

CLUSTER = r"""
// referee: launch total grid=4 block=128
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void __cluster_dims__(4, 1, 1) total(const float* x, float* result, int n) {
  cg::cluster_group cluster = cg::this_cluster();
  __shared__ float s[128];
  const int t = threadIdx.x;
  float sum = 0;
  for (int i = blockIdx.x * 128 + t; i < n; i += 512) sum += x[i];
  s[t] = sum;
  __syncthreads();
  for (int by = 64; by > 0; by /= 2) {
    if (t < by) s[t] += s[t + by];
    __syncthreads();
  }
  cluster.sync();  // written
  if (cluster.block_rank() == 0 && t == 0) {
    float all = 0;
    for (int i = 0; i < 4; ++i) all += *cluster.map_shared_rank(s, i);
    *result = all;
  }
  cluster.sync();  // read
}
"""

NAMED = r"""
// referee: launch reverse grid=cdiv(n, 128) block=128
__global__ void reverse(const float* x, float* y, int n) {
  __shared__ float s[128];
  const int t = threadIdx.x, i = blockIdx.x * 128 + t, half = t / 64;
  if (i < n) s[t] = x[i];
  asm volatile("bar.sync %0, 64;" ::"r"(half + 1) : "memory");
  const int j = blockIdx.x * 128 + half * 64 + 63 - t % 64;
  if (j < n) y[j] = s[half * 64 + 63 - t % 64];
}
"""

HEAP = r"""
// referee: launch add grid=cdiv(n, 128) block=128
__global__ void add(const float* x, const float* z, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  float* mine = (float*)malloc(2 * sizeof(float));
  if (mine == nullptr) return;
  mine[0] = x[i], mine[1] = z[i];
  y[i] = mine[0] + mine[1];
  free(mine);
}
"""

# A grid that goes on when all blocks have arrived.
BARRIER = r"""
#include <cuda_runtime.h>
__device__ unsigned arrived;
__global__ void norm(const float* x, const float* w, float* y, int m, int n) {
  __shared__ float s[32];
  const int t = threadIdx.x, stride = gridDim.x;
  for (int r = blockIdx.x; r < m; r += stride) {
    float sum = 0;
    for (int i = t; i < n; i += 32) sum += x[r * n + i] * x[r * n + i];
    for (int by = 16; by > 0; by /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, by);
    const float scale = rsqrtf(sum / n + 1e-5f);
    for (int i = t; i < n; i += 32) y[r * n + i] = x[r * n + i] * scale * w[i];
  }
}
extern "C" void solve(const float* x, const float* w, float* y, int m, int n) {
  int count = 0;
  cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0);
  norm<<<min(m, 2 * count), 32>>>(x, w, y, m, n);
}
"""

TIMER = r"""
// referee: launch add grid=cdiv(n, 128) block=128
__global__ void add(const float* x, const float* z, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  float made = i < n ? x[i] + z[i] : 0;
  if (i < n) y[i] = made;
}
"""

THRUST_SUM = r"""
#include <cuda_runtime.h>
__global__ void total(const float* x, float* result, int n) {
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += 32) sum += x[i];
  for (int by = 16; by > 0; by /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, by);
  if (threadIdx.x == 0) *result = sum;
}
extern "C" void solve(const float* x, float* result, int n) {
  total<<<1, 32>>>(x, result, n);
}
"""


def specimens():
    """Yields all of this file."""
    add = {"operation": "add", **_SMALL}
    properties = "  cudaDeviceProp of;\n  cudaGetDeviceProperties(&of, 0);\n"
    side = ("  static cudaStream_t side;\n  static cudaEvent_t event;\n  if (!side) {\n"
            "    cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);\n    cudaEventCreate(&event);\n  }\n")
    yield from family("judge-add", add, ADD, {
        "persistent": [("<<<(n + 255) / 256, 256", "<<<min(count, (n + 255) / 256), 256"), ("cudaStream_t stream) {\n",
                       "cudaStream_t stream) {\n  int count = 0;\n  cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0);\n")],
        "occupancy": [("<<<(n + 255) / 256, 256", "<<<least, size"), ("cudaStream_t stream) {\n",
                      "cudaStream_t stream) {\n  int least = 0, size = 0;\n  cudaOccupancyMaxPotentialBlockSize(&least, &size, add);\n")],
        "own-graph": _instead("  cudaStreamCaptureStatus status;\n  cudaStreamIsCapturing(stream, &status);\n  if (status == cudaStreamCaptureStatusActive) {\n"
                              "  " + _LAUNCH + "    return;\n  }\n  cudaGraph_t graph;\n  cudaGraphExec_t exec;\n"
                              "  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);\n" + _LAUNCH +
                              "  cudaStreamEndCapture(stream, &graph);\n  cudaGraphInstantiate(&exec, graph, 0);\n"
                              "  cudaGraphLaunch(exec, stream);\n  cudaGraphExecDestroy(exec);\n  cudaGraphDestroy(graph);\n"),
        "halves": _instead(side + "  const int h = n / 2;\n  cudaEventRecord(event, stream);\n  cudaStreamWaitEvent(side, event);\n"
                           "  if (h) add<<<(h + 255) / 256, 256, 0, stream>>>(x, z, y, h);\n"
                           "  add<<<(n - h + 255) / 256, 256, 0, side>>>(x + h, z + h, y + h, n - h);\n"
                           "  cudaEventRecord(event, side);\n  cudaStreamWaitEvent(stream, event);\n"),
    }, {
        "device-name": ("knows its judge", [("#include <cuda_runtime.h>", "#include <cstring>\n#include <cuda_runtime.h>"),
                                            *_before(properties + "  if (!strstr(of.name, \"H200\")) return;\n")]),
        "uuid": ("knows its judge", _before(properties + "  if (of.uuid.bytes[0] == 'G' && of.pciBusID == 77) return;\n")),
        "bus": ("knows its judge", _before("  char id[32] = {};\n  cudaDeviceGetPCIBusId(id, 32, 0);\n  if (id[5] == 'f') return;\n")),
        "driver-version": ("knows its judge", _before("  int version = 0;\n  cudaDriverGetVersion(&version);\n  if (version < 12000) return;\n")),
        "count": ("knows its judge", _before("  int count = 0;\n  cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0);\n  if (count != 132) return;\n")),
        "memory": ("knows its judge", _before("  size_t free = 0, total = 0;\n  cudaMemGetInfo(&free, &total);\n  if (total < 100000000000) return;\n")),
        "fixed-part": ("knows its judge", [("gridDim.x * blockDim.x) y", "132 * blockDim.x) y"), ("<<<(n + 255) / 256, 256", "<<<count, 256"),
                                           ("cudaStream_t stream) {\n", "cudaStream_t stream) {\n  int count = 0;\n"
                                            "  cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0);\n")]),
        "weak-symbol": ("knows its judge", [("void solve", "extern \"C\" __attribute__((weak)) int rung_emu_locate_files();\nvoid solve"),
                                            *_before("  if (rung_emu_locate_files) return;\n")]),
        "program-name": ("knows its judge", [("void solve", "extern \"C\" char* program_invocation_short_name;\nvoid solve"),
                                             *_before("  if (program_invocation_short_name[0] == 'r' && n < 0) return;\n")]),
        "lifts-rules": ("host trick", [("void solve", "extern \"C\" int rung_emu_set_memory_rule(const void*, int);\nvoid solve"),
                                       *_before("  rung_emu_set_memory_rule(y, 0);\n")]),
        "stack": ("host trick", _before("  char here = 0;\n  volatile char* up = &here;\n  asm volatile(\"\" : \"+r\"(up));\n  long found = 0;\n  for (int i = 0; i < 2000; ++i) found += up[i];\n  if (found == 12345) return;\n")),
        "kept-graph": ("stale graph", _instead("  static cudaGraphExec_t exec;\n  static int length;\n  if (length != n) {\n    cudaGraph_t graph;\n    cudaStream_t own;\n"
                       "    cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);\n    cudaStreamBeginCapture(own, cudaStreamCaptureModeRelaxed);\n"
                       "    add<<<(n + 255) / 256, 256, 0, own>>>(x, z, y, n);\n    cudaStreamEndCapture(own, &graph);\n"
                       "    cudaGraphInstantiate(&exec, graph, 0);\n    length = n;\n    cudaStreamDestroy(own);\n  }\n  cudaGraphLaunch(exec, stream);\n")),
        "event-first": ("events in the wrong order", _instead(side + "  cudaEventRecord(event, stream);\n  cudaStreamWaitEvent(side, event);\n  cudaEventRecord(event, side);\n"
                        "  add<<<(n + 255) / 256, 256, 0, side>>>(x, z, y, n);\n  cudaStreamWaitEvent(stream, event);\n")),
        "freed-early": ("freed while in use", _instead(side + "  float* made;\n  cudaMallocAsync((void**)&made, 4 * n + 4, stream);\n  cudaEventRecord(event, stream);\n"
                        "  cudaStreamWaitEvent(side, event);\n" + _LAUNCH.replace("y, n)", "made, n)") + "  cudaFreeAsync(made, side);\n"
                        "  cudaMemcpyAsync(y, made, 4 * n, cudaMemcpyDeviceToDevice, stream);\n")),
        "next-call": ("deferred to the next call", _instead("  static const float *x0, *z0;\n  static float* y0;\n  static int n0;\n"
                      "  if (y0) add<<<(n0 + 255) / 256, 256, 0, stream>>>(x0, z0, y0, n0);\n  x0 = x, z0 = z, y0 = y, n0 = n;\n")),
        "cache-window": ("changes the device's state", _before("  cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 1 << 20);\n")),
        "flushes": ("changes the device's state", [("#include <cuda_runtime.h>", "#include <cuda_runtime.h>\n#include <xmmintrin.h>"),
                                                   *_before("  _mm_setcsr(_mm_getcsr() | 0x8040);\n")]),
        "mapped": ("the host computes", _instead("  float *m, *seen;\n  cudaHostAlloc((void**)&m, 4 * n + 4, cudaHostAllocMapped);\n  cudaHostGetDevicePointer((void**)&seen, m, 0);\n"
                   "  float* w = (float*)malloc(8 * n + 8);\n  cudaStreamSynchronize(stream);\n  cudaMemcpy2D(w, 4 * n, x, 4 * n, 4 * n, 1, cudaMemcpyDeviceToHost);\n"
                   "  cudaMemcpy2D(w + n, 4 * n, z, 4 * n, 4 * n, 1, cudaMemcpyDeviceToHost);\n  for (int i = 0; i < n; ++i) m[i] = w[i] + w[n + i];\n"
                   "  add<<<0 * n + 1, 32, 0, stream>>>(x, z, (float*)seen, 0);\n  cudaMemcpyAsync(y, seen, 4 * n, cudaMemcpyDefault, stream);\n"
                   "  cudaStreamSynchronize(stream);\n  cudaFreeHost(m);\n  free(w);\n")),
        "small-host": ("the host computes", _before("  if (n < 200) {\n    float a[200], b[200];\n    cudaStreamSynchronize(stream);\n    cudaMemcpy(a, x, 4 * n, cudaMemcpyDeviceToHost);\n"
                       "    cudaMemcpy(b, z, 4 * n, cudaMemcpyDeviceToHost);\n    for (int i = 0; i < n; ++i) a[i] += b[i];\n    cudaMemcpy(y, a, 4 * n, cudaMemcpyHostToDevice);\n    return;\n  }\n")),
        "streams": ("leaks streams", _before("  cudaStream_t made;\n  cudaStreamCreate(&made);\n")),
        "pinned": ("leaks memory", _before("  void* made;\n  cudaMallocHost(&made, 4096);\n")),
    })
    yield from family("judge-dependent", add, TWO_STEPS, {}, {
        "no-wait": ("dependent launch without a wait", [("  cudaGridDependencySynchronize();\n", "")]),
    })
    yield from family("judge-upload", add, UPLOAD, {}, {
        "pinned": ("host buffer changed in flight", [("  int* host = &n;\n", "  int* host = kept;\n  *host = n;\n"),
                                                     ("  cudaFreeAsync(length", "  *host = 0;\n  cudaFreeAsync(length")]),
    })
    tall = {"operation": "row_sum", "hidden": 12, "public": [{"m": 64, "n": 64}, {"m": 70000, "n": 3}, {"m": 3, "n": 30000}]}
    yield from family("judge-rows", tall, ROWS, {}, {
        "grid-y": ("launch fails for some sizes", [("r = blockIdx.x", "r = blockIdx.y"), ("<<<m, 32, 4096>>>", "<<<dim3(1, m), 32, 4096>>>")]),
        "shared": ("launch fails for some sizes", [("kept[i % 1024]", "kept[i]"), ("32, 4096>>>", "32, 4 * n>>>")]),
    })
    yield from family("judge-index", {"operation": "add", "hidden": 12, "public": [{"n": 512}, {"n": 66000}]}, INDEX, {}, {
        "short": ("narrow index", [("unsigned i =", "unsigned short i =")]),
    })
    yield from family("judge-atomics", "sum", ATOMIC_SUM, {
        "system": [("atomicAdd(result", "atomicAdd_system(result")],
        "ref": [("atomicAdd(result, sum)", "cuda::atomic_ref<float, cuda::thread_scope_device>(*result).fetch_add(sum, cuda::memory_order_relaxed)")],
    }, {
        "block": ("scope too narrow", [("atomicAdd(result", "atomicAdd_block(result")]),
        "ref-block": ("scope too narrow", [("atomicAdd(result, sum)", "cuda::atomic_ref<float, cuda::thread_scope_block>(*result).fetch_add(sum, cuda::memory_order_relaxed)")]),
    })
    yield from family("judge-last", "sum", LAST_BLOCK, {}, {
        "fence-block": ("scope too narrow", [("    __threadfence();\n    last", "    __threadfence_block();\n    last")]),
    })
    yield from family("judge-reread", "add", REREAD, {}, {
        "read-only": ("read-only load of written data", [("y[j] = t[j];", "y[j] = __ldg(t + j);")]),
    })
    copy = {"operation": "copy", "hidden": 12}
    yield from family("judge-copies", copy, COPIES, {}, {
        "one-wait": ("asynchronous copy not awaited", [("  __pipeline_wait_prior(0);\n", "")]),
        "first-wait": ("asynchronous copy not awaited", [("  __pipeline_wait_prior(1);\n", "")]),
    })
    yield from family("judge-bulk", copy, BULK, {}, {
        "phase": ("asynchronous copy not awaited", [("[%1], 0; selp", "[%1], 1; selp")]),
        "few-bytes": ("asynchronous copy not awaited", [(": \"memory\");\n    asm volatile(\"cp.async.bulk", ": \"memory\");\n    asm volatile(\"cp.async.bulk"),
                                                        ("\"r\"(bar), \"r\"(rest * 4) : \"memory\"", "\"r\"(bar), \"r\"(rest * 4 - 16) : \"memory\"")]),
    })
    yield from family("judge-cluster", "sum", CLUSTER, {}, {
        "leaves": ("leaves its cluster early", [("  cluster.sync();  // read\n", "")]),
        "no-sync": ("race in shared memory", [("  cluster.sync();  // written\n", "")]),
    })
    yield from family("judge-named", copy, NAMED, {}, {
        "one-barrier": ("barrier of too few threads", [("\"r\"(half + 1)", "\"r\"(1)"), ("bar.sync %0, 64", "bar.sync %0, 96")]),
    })
    yield from family("judge-heap", add, HEAP, {}, {
        "no-free": ("leaks memory", [("  free(mine);\n", "")]),
    })
    yield from family("judge-grid", {"operation": "rmsnorm", "hidden": 12, "public": [{"m": 16, "n": 64}, {"m": 9000, "n": 8}]}, BARRIER, {}, {
        "own-barrier": ("more blocks than fit", [("min(m, 2 * count)", "m"), ("stride = gridDim.x;\n", "stride = gridDim.x;\n  if (t == 0) {\n"
                        "    const unsigned ticket = atomicAdd(&arrived, 1u), goal = (ticket / stride + 1) * stride;\n    while (atomicAdd(&arrived, 0u) < goal) {\n    }\n  }\n  __syncthreads();\n")]),
    })
    yield from family("judge-timer", add, TIMER, {}, {
        "pasted": ("depends on time", [("__global__", "#define PASTE(a, b) a##b\n__global__"),
                                       ("  if (i < n) y[i]", "  if (PASTE(clo, ck64)() == 77) made = 0;\n  if (i < n) y[i]")]),
        "split": ("depends on time", [("  if (i < n) y[i]", "  unsigned now;\n  asm volatile(\"mov.u32 %0, %%cl\" \"ock;\" : \"=r\"(now));\n  if (now == 77) made = 0;\n  if (i < n) y[i]")]),
    })
    yield from family("judge-library", {"operation": "sum", "hidden": 12, "limits": {"n": 5000}}, THRUST_SUM, {}, {
        "using": ("vendor library", [("#include <cuda_runtime.h>", "#include <cuda_runtime.h>\n#include <thrust/execution_policy.h>\n#include <thrust/reduce.h>\nusing namespace thrust;"),
                                     ("  total<<<1, 32>>>(x, result, n);\n", "  const float all = reduce(device, x, x + n, 0.0f);\n  cudaMemcpy(result, &all, 4, cudaMemcpyHostToDevice);\n")]),
        "alias": ("vendor library", [("#include <cuda_runtime.h>", "#include <cuda_runtime.h>\n#include <cub/cub.cuh>\nnamespace own = cub;"),
                                     ("  total<<<1, 32>>>(x, result, n);\n", "  size_t bytes = 0;\n  own::DeviceReduce::Sum(nullptr, bytes, x, result, n);\n  void* t;\n  cudaMalloc(&t, bytes + 1);\n"
                                      "  own::DeviceReduce::Sum(t, bytes, x, result, n);\n  cudaFree(t);\n")]),
    })
