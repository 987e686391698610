"""Right host functions in rarer styles: descriptors of TMA, counters that only grow, graphs that are updated, workspaces by
stream, textures, exceptions, forked streams. The texts are our own.
"""

from .family import Specimen

_ALL = []


def _right(name, task, text):
    _ALL.append(Specimen(f"idiom-{name}", "right", text, {"operation": task} if isinstance(task, str) else task))


_HEAD = "#include <cuda_runtime.h>\n"
_SMALL = {"hidden": 12, "limits": {"n": 5000}}

_right("tma", {"operation": "add", **_SMALL}, r"""
#include <cuda.h>
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
__device__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__global__ void add(const __grid_constant__ CUtensorMap x, const __grid_constant__ CUtensorMap z, float* y, int n) {
  __shared__ alignas(128) float tx[256], tz[256];
  __shared__ alignas(8) unsigned long long bar;
  const int first = blockIdx.x * 256;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&bar)));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 2048;" ::"r"(shared_address(&bar)) : "memory");
    asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2}], [%3];"
                 ::"r"(shared_address(tx)), "l"(&x), "r"(first), "r"(shared_address(&bar)) : "memory");
    asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2}], [%3];"
                 ::"r"(shared_address(tz)), "l"(&z), "r"(first), "r"(shared_address(&bar)) : "memory");
  }
  __syncthreads();
  asm volatile("{\n.reg .pred p;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n@!p bra again;\n}"
               ::"r"(shared_address(&bar)) : "memory");
  const int i = first + threadIdx.x;
  if (i < n) y[i] = tx[threadIdx.x] + tz[threadIdx.x];
}
using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*,
                            const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                            CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
static Encode encoder() {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result;
  if (cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &found, cudaEnableDefault, &result) != cudaSuccess || !found) {
    std::fprintf(stderr, "no cuTensorMapEncodeTiled\n");
    std::exit(1);
  }
  return (Encode)found;
}
static CUtensorMap map_of(const float* p, int n) {
  static Encode encode = encoder();
  CUtensorMap map;
  cuuint64_t size[1] = {(cuuint64_t)n};
  cuuint32_t box[1] = {256}, step[1] = {1};
  cuuint64_t strides[1] = {0};
  encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 1, (void*)p, size, strides, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
         CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return map;
}
void solve(const float* x, const float* z, float* y, int n, cudaStream_t stream) {
  add<<<(n + 255) / 256, 256, 0, stream>>>(map_of(x, n), map_of(z, n), y, n);
}
""")
_right("epoch-barrier", {"operation": "sum", "hidden": 12}, _HEAD + r"""
// A barrier of the grid whose counter only grows, so that nothing needs to be reset between launches.
__device__ unsigned arrived;
__device__ float part[64];
__device__ void grid_barrier(unsigned blocks) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    const unsigned ticket = atomicAdd(&arrived, 1u);
    const unsigned goal = (ticket / blocks + 1) * blocks;
    while ((int)(atomicAdd(&arrived, 0u) - goal) < 0) {}
    __threadfence();
  }
  __syncthreads();
}
__global__ void total(const float* x, float* result, int n) {
  __shared__ float s[4];
  float v = 0;
  for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128) v += x[i];
  for (int by = 16; by > 0; by /= 2) v += __shfl_xor_sync(0xffffffffu, v, by);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x == 0) part[blockIdx.x] = s[0] + s[1] + s[2] + s[3];
  grid_barrier(gridDim.x);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    float all = 0;
    for (unsigned i = 0; i < gridDim.x; ++i) all += part[i];
    *result = all;
  }
}
extern "C" void solve(const float* x, float* result, int n) {
  int sms = 0, each = 0;
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, total, 128, 0);
  int blocks = sms * each < 64 ? sms * each : 64;
  void* args[] = {&x, &result, &n};
  cudaLaunchCooperativeKernel((void*)total, dim3(blocks), dim3(128), args, 0, 0);
}
""")
_right("updated-graph", {"operation": "mul", **_SMALL}, _HEAD + r"""
__global__ void mul(const float* x, const float* z, float* y, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = x[i] * z[i];
}
extern "C" void solve(const float* x, const float* z, float* y, int n) {
  static cudaGraph_t graph;
  static cudaGraphNode_t node;
  static cudaGraphExec_t ready;
  void* args[] = {&x, &z, &y, &n};
  cudaKernelNodeParams p = {};
  p.func = (void*)mul, p.gridDim = dim3((n + 255) / 256), p.blockDim = dim3(256), p.kernelParams = args;
  if (!ready) {
    cudaGraphCreate(&graph, 0);
    cudaGraphAddKernelNode(&node, graph, nullptr, 0, &p);
    cudaGraphInstantiate(&ready, graph, 0);
  } else {
    cudaGraphExecKernelNodeSetParams(ready, node, &p);
  }
  cudaGraphLaunch(ready, 0);
}
""")
_right("stream-workspaces", {"operation": "sum", **_SMALL}, _HEAD + r"""
#include <map>
#include <mutex>
__global__ void parts(const float* x, float* out, int n) {
  __shared__ float s[256];
  float v = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) v += x[i];
  s[threadIdx.x] = v;
  __syncthreads();
  for (int by = 128; by > 0; by /= 2) {
    if (threadIdx.x < by) s[threadIdx.x] += s[threadIdx.x + by];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}
namespace {
struct Workspace { float* memory = nullptr; size_t bytes = 0; };
std::map<cudaStream_t, Workspace> workspaces;
std::mutex guard;
float* workspace(cudaStream_t stream, size_t bytes) {
  std::lock_guard<std::mutex> lock(guard);
  Workspace& w = workspaces[stream];
  if (w.bytes < bytes) {
    if (w.memory) cudaFreeAsync(w.memory, stream);
    cudaMallocAsync((void**)&w.memory, bytes, stream);
    w.bytes = bytes;
  }
  return w.memory;
}
}
void solve(const float* x, float* result, int n, cudaStream_t stream) {
  const int blocks = (n + 1023) / 1024;
  float* t = workspace(stream, 4 * blocks);
  parts<<<blocks, 256, 0, stream>>>(x, t, n);
  parts<<<1, 256, 0, stream>>>(t, result, blocks);
}
""")
_right("texture", {"operation": "transpose", "hidden": 12, "limits": {"m": 100, "n": 100}}, _HEAD + r"""
__global__ void transpose(cudaTextureObject_t x, float* y, int m, int n) {
  const int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;
  if (r < m && c < n) y[c * m + r] = tex1Dfetch<float>(x, r * n + c);
}
void solve(const float* x, float* y, int m, int n, cudaStream_t stream) {
  // A texture starts at a multiple of 512 bytes, so that the input is copied.
  float* copy;
  cudaMallocAsync((void**)&copy, 4 * (size_t)m * n, stream);
  cudaMemcpyAsync(copy, x, 4 * (size_t)m * n, cudaMemcpyDeviceToDevice, stream);
  cudaResourceDesc memory = {};
  memory.resType = cudaResourceTypeLinear;
  memory.res.linear.devPtr = copy;
  memory.res.linear.desc = cudaCreateChannelDesc<float>();
  memory.res.linear.sizeInBytes = 4 * (size_t)m * n;
  cudaTextureDesc how = {};
  how.readMode = cudaReadModeElementType;
  cudaTextureObject_t texture = 0;
  cudaCreateTextureObject(&texture, &memory, &how, nullptr);
  transpose<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16), 0, stream>>>(texture, y, m, n);
  cudaStreamSynchronize(stream);
  cudaDestroyTextureObject(texture);
  cudaFreeAsync(copy, stream);
}
""".replace("cudaStreamSynchronize(stream);\n  ", "cudaStreamCaptureStatus status;\n  cudaStreamIsCapturing(stream, &status);\n  if (status != cudaStreamCaptureStatusNone) return;\n  cudaStreamSynchronize(stream);\n  "))
_right("raii", {"operation": "gemv", "hidden": 12}, _HEAD + r"""
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>
namespace {
void check(cudaError_t e) { if (e != cudaSuccess) throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(e)); }
struct Free { void operator()(float* p) const { cudaFree(p); } };
std::unique_ptr<float, Free> made(size_t count) {
  float* p = nullptr;
  check(cudaMalloc(&p, count * sizeof(float)));
  return std::unique_ptr<float, Free>(p);
}
__global__ void partial(const float* a, const float* x, float* t, int m, int n, int width) {
  const int r = blockIdx.x * 64 + threadIdx.x, part = blockIdx.y;
  if (r >= m) return;
  float sum = 0;
  for (int i = part * width; i < min(n, (part + 1) * width); ++i) sum += a[(size_t)r * n + i] * x[i];
  t[part * m + r] = sum;
}
__global__ void finish(const float* t, float* y, int m, int parts) {
  const int r = blockIdx.x * 64 + threadIdx.x;
  if (r >= m) return;
  float sum = 0;
  for (int p = 0; p < parts; ++p) sum += t[p * m + r];
  y[r] = sum;
}
}
extern "C" void solve(const float* a, const float* x, float* y, int m, int n) {
  const int width = 200, parts = (n + width - 1) / width;
  auto t = made((size_t)m * parts);
  partial<<<dim3((m + 63) / 64, parts), 64>>>(a, x, t.get(), m, n, width);
  check(cudaGetLastError());
  finish<<<(m + 63) / 64, 64>>>(t.get(), y, m, parts);
  check(cudaGetLastError());
  check(cudaDeviceSynchronize());
}
""")
_right("switch-on-k", {"operation": "conv1d", **_SMALL}, _HEAD + r"""
template <int K> __global__ void conv(const float* __restrict__ x, const float* __restrict__ w, float* y, int n, int k) {
  const int i = blockIdx.x * 128 + threadIdx.x, taps = K > 0 ? K : k;
  if (i > n - taps) return;
  float sum = 0;
#pragma unroll
  for (int j = 0; j < taps; ++j) sum += x[i + j] * w[j];
  y[i] = sum;
}
extern "C" void solve(const float* x, const float* w, float* y, int n, int k) {
  const int blocks = (n - k + 128) / 128;
  switch (k) {
    case 1: conv<1><<<blocks, 128>>>(x, w, y, n, k); break;
    case 3: conv<3><<<blocks, 128>>>(x, w, y, n, k); break;
    case 5: conv<5><<<blocks, 128>>>(x, w, y, n, k); break;
    case 7: conv<7><<<blocks, 128>>>(x, w, y, n, k); break;
    default: conv<0><<<blocks, 128>>>(x, w, y, n, k);
  }
}
""")
_right("functor", {"operation": "gelu", **_SMALL}, _HEAD + r"""
struct Job { const float* from; float* to; long long count; float root; };
template <class F> __global__ void for_each(const __grid_constant__ Job job, F f) {
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < job.count; i += step)
    job.to[i] = f(job.from[i]);
}
struct Gelu {
  float root;
  __device__ float operator()(float v) const { return 0.5f * v * erfcf(-v * root); }
};
void solve(const float* x, float* y, int n, cudaStream_t stream) {
  const Job job{x, y, n, 0.70710678118f};
  for_each<<<(n + 1023) / 1024, 256, 0, stream>>>(job, Gelu{job.root});
}
""")
_right("fork-join", {"operation": "add", **_SMALL}, _HEAD + r"""
__global__ void add(const float* x, const float* z, float* y, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = x[i] + z[i];
}
void solve(const float* x, const float* z, float* y, int n, cudaStream_t stream) {
  static cudaStream_t side = [] { cudaStream_t s; cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking); return s; }();
  static cudaEvent_t fork = [] { cudaEvent_t e; cudaEventCreateWithFlags(&e, cudaEventDisableTiming); return e; }();
  static cudaEvent_t join = [] { cudaEvent_t e; cudaEventCreateWithFlags(&e, cudaEventDisableTiming); return e; }();
  const int half = n / 2, rest = n - half;
  cudaEventRecord(fork, stream);
  cudaStreamWaitEvent(side, fork, 0);
  if (half) add<<<(half + 255) / 256, 256, 0, stream>>>(x, z, y, half);
  add<<<(rest + 255) / 256, 256, 0, side>>>(x + half, z + half, y + half, rest);
  cudaEventRecord(join, side);
  cudaStreamWaitEvent(stream, join, 0);
}
""")
_right("tagged-flags", {"operation": "scan", "hidden": 12, "limits": {"n": 3000}}, _HEAD + r"""
// Flags hold the number of the call, so that no memory is cleared between calls.
__device__ unsigned long long total[64];
__device__ unsigned ticket;
__global__ void scan(const float* x, float* y, int n, unsigned tag) {
  __shared__ float s[128];
  __shared__ float before;
  __shared__ unsigned block;
  const int t = threadIdx.x;
  if (t == 0) block = atomicAdd(&ticket, 1u) % gridDim.x;
  __syncthreads();
  const int i = block * 128 + t;
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
    if (block > 0) {
      unsigned long long seen;
      do seen = atomicAdd(&total[block - 1], 0ull);
      while ((unsigned)(seen >> 32) != tag);
      before = __uint_as_float((unsigned)seen);
    }
    atomicExch(&total[block], (unsigned long long)tag << 32 | __float_as_uint(before + s[127]));
    if (block == gridDim.x - 1) atomicExch(&ticket, 0u);
  }
  __syncthreads();
  if (i < n) y[i] = before + s[t];
}
extern "C" void solve(const float* x, float* y, int n) {
  static unsigned calls = 0;
  ++calls;
  scan<<<(n + 127) / 128, 128>>>(x, y, n, calls);
}
""")

def specimens():
    """Yields all of this file."""
    yield from _ALL
