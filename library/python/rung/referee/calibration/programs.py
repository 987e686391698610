"""Specimens with a host function, and the cheats that only a host can do."""

from .family import family

GEMM = r"""
#include <cuda_runtime.h>
__global__ void multiply(const float* a, const float* b, float* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];
  c[row * n + col] = sum;
}
extern "C" void solve(const float* A, const float* B, float* C, int M, int N, int K) {
  const dim3 block(16, 16), grid((N + 15) / 16, (M + 15) / 16);
  multiply<<<grid, block>>>(A, B, C, M, N, K);
}
"""

ADD = r"""
#include <cuda_runtime.h>
__global__ void add(const float* x, const float* z, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + z[i];
}
void solve(const float* x, const float* z, float* y, int n, cudaStream_t stream) {
  add<<<(n + 255) / 256, 256, 0, stream>>>(x, z, y, n);
}
"""

SUM = r"""
#include <cuda_runtime.h>
__global__ void sum(const float* x, float* total, int n) {
  float mine = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) mine += x[i];
  for (int by = 16; by > 0; by /= 2) mine += __shfl_down_sync(0xffffffffu, mine, by);
  if (threadIdx.x % 32 == 0) atomicAdd(total, mine);
}
extern "C" void solve(const float* input, float* output, int N) {
  cudaMemset(output, 0, sizeof(float));
  sum<<<16, 256>>>(input, output, N);
}
"""

CONSTANT_WEIGHTS = r"""
#include <cuda_runtime.h>
__constant__ float weights[64];
__global__ void conv(const float* x, float* y, int n, int k) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i > n - k) return;
  float sum = 0;
  for (int j = 0; j < k; ++j) sum += x[i + j] * weights[j];
  y[i] = sum;
}
extern "C" void solve(const float* x, const float* w, float* y, int n, int k) {
  cudaMemcpyToSymbol(weights, w, k * sizeof(float), 0, cudaMemcpyDeviceToDevice);
  conv<<<(n - k + 128) / 128, 128>>>(x, y, n, k);
}
"""

_LAUNCH = "  add<<<(n + 255) / 256, 256, 0, stream>>>(x, z, y, n);"
_SMALL = {"hidden": 12, "limits": {"n": 5000}}


def specimens():
    yield from family("program-gemm", {"operation": "gemm", "hidden": 12}, GEMM, {
        "cpp": [('extern "C" ', "")],
        "sync": [("(A, B, C, M, N, K);\n}", "(A, B, C, M, N, K);\n  cudaDeviceSynchronize();\n}")],
        "workspace": [("  multiply<<<", "  float* copy;\n  cudaMalloc(&copy, sizeof(float) * (M * K + 1));\n"
                       "  cudaMemcpy(copy, A, sizeof(float) * M * K, cudaMemcpyDeviceToDevice);\n  multiply<<<"),
                      ("(A, B, C, M, N, K);\n}", "(copy, B, C, M, N, K);\n  cudaFree(copy);\n}")],
    }, {
        "nothing": ("does nothing", [("  multiply<<<grid, block>>>(A, B, C, M, N, K);\n", "")]),
        "memset": ("constant answer", [("multiply<<<grid, block>>>(A, B, C, M, N, K)", "cudaMemset(C, 0, sizeof(float) * M * N)")]),
        "cublas": ("vendor library", [("#include <cuda_runtime.h>", "#include <cublas_v2.h>\n#include <cuda_runtime.h>"),
                                      ("  multiply<<<", "  cublasHandle_t handle;\n  cublasCreate(&handle);\n  float one = 1, zero = 0;\n"
                                       "  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, M, K, &one, B, N, A, K, &zero, C, N);\n"
                                       "  cublasDestroy(handle);\n  if (M < 0) multiply<<<")]),
        "cpu": ("computes on the host", [("#include <cuda_runtime.h>", "#include <cuda_runtime.h>\n#include <vector>"),
                ("  multiply<<<", "  std::vector<float> a(M * K + 1), b(K * N + 1), c(M * N + 1);\n"
                 "  cudaMemcpy(a.data(), A, 4 * M * K, cudaMemcpyDeviceToHost);\n  cudaMemcpy(b.data(), B, 4 * K * N, cudaMemcpyDeviceToHost);\n"
                 "  for (int i = 0; i < M; ++i)\n    for (int j = 0; j < N; ++j)\n      for (int l = 0; l < K; ++l) c[i * N + j] += a[i * K + l] * b[l * N + j];\n"
                 "  cudaMemcpy(C, c.data(), 4 * M * N, cudaMemcpyHostToDevice);\n  if (M < 0) multiply<<<")]),
        "pointer-cache": ("caches", [("  multiply<<<", "  static const void* last[3];\n  if (last[0] == A && last[1] == B && last[2] == C) return;\n"
                                      "  last[0] = A, last[1] = B, last[2] = C;\n  multiply<<<")]),
        "result-cache": ("caches", [("  multiply<<<", "  static float* kept;\n  static int shape;\n  if (shape == M * N + K && kept) {\n"
                                     "    cudaMemcpy(C, kept, 4 * M * N, cudaMemcpyDeviceToDevice);\n    return;\n  }\n  multiply<<<"),
                                    ("(A, B, C, M, N, K);\n}", "(A, B, C, M, N, K);\n  if (kept) cudaFree(kept);\n  cudaMalloc(&kept, 4 * M * N + 4);\n"
                                     "  cudaMemcpy(kept, C, 4 * M * N, cudaMemcpyDeviceToDevice);\n  shape = M * N + K;\n}")]),
        "environment": ("host trick", [("#include <cuda_runtime.h>", "#include <cuda_runtime.h>\n#include <cstdlib>"),
                                       ("  multiply<<<", "  if (getenv(\"REFEREE\")) return;\n  multiply<<<")]),
        "file": ("host trick", [("#include <cuda_runtime.h>", "#include <cuda_runtime.h>\n#include <cstdio>"),
                                ("  multiply<<<", "  if (FILE* f = fopen(\"/proc/self/cmdline\", \"r\")) fclose(f);\n  multiply<<<")]),
        "thread": ("host trick", [("#include <cuda_runtime.h>", "#include <cuda_runtime.h>\n#include <thread>"),
                                  ("  multiply<<<grid, block>>>(A, B, C, M, N, K);", "  std::thread([=] { multiply<<<grid, block>>>(A, B, C, M, N, K); }).join();")]),
        "loader": ("host trick", [("#include <cuda_runtime.h>", "#include <cuda_runtime.h>\n#include <dlfcn.h>"),
                                  ("  multiply<<<", "  if (dlsym(nullptr, \"main\") == nullptr) return;\n  multiply<<<")]),
        "round-down": ("grid rounded down", [("(N + 15) / 16, (M + 15) / 16", "N / 16, M / 16")]),
        "leaves": ("host trick", [("#include <cuda_runtime.h>", "#include <cuda_runtime.h>\n#include <cstdlib>"),
                                  ("  multiply<<<", "  std::exit(0);\n  multiply<<<")]),
    })
    yield from family("program-stream", {"operation": "add", **_SMALL}, ADD, {
        "forked": [("  add<<<(n + 255) / 256, 256, 0, stream>>>(x, z, y, n);", "  cudaStream_t side;\n  cudaEvent_t event;\n"
                    "  cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);\n  cudaEventCreate(&event);\n  cudaEventRecord(event, stream);\n"
                    "  cudaStreamWaitEvent(side, event);\n  add<<<(n + 255) / 256, 256, 0, side>>>(x, z, y, n);\n  cudaEventRecord(event, side);\n"
                    "  cudaStreamWaitEvent(stream, event);\n  cudaEventDestroy(event);\n  cudaStreamDestroy(side);")],
    }, {
        "side-stream": ("launches where no timer sees", [("void solve", "static cudaStream_t side;\nvoid solve"),
                        ("  add<<<(n + 255) / 256, 256, 0, stream>>>", "  if (!side) cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);\n"
                         "  add<<<(n + 255) / 256, 256, 0, side>>>")]),
        "default-stream": ("launches where no timer sees", [("256, 0, stream>>>", "256>>>")]),
        "stale-pointers": ("caches", [("  add<<<", "  static const float *x0, *z0;\n  static int n0;\n  if (n0 != n) x0 = x, z0 = z, n0 = n;\n  add<<<"),
                                      ("(x, z, y, n);\n}", "(x0, z0, y, n);\n}")]),
        "first-calls": ("caches", [("  add<<<", "  static int calls;\n  if (++calls > 12) return;\n  add<<<")]),
        "captured": ("does nothing", [("  add<<<", "  cudaStreamCaptureStatus status;\n  cudaStreamIsCapturing(stream, &status);\n"
                                       "  if (status == cudaStreamCaptureStatusActive) return;\n  add<<<")]),
        "unchecked": ("bad launch", [("256, 0, stream", "2048, 0, stream")]),
        "first-stream": ("wrong on a second stream", [("  add<<<", "  static cudaStream_t mine = stream;\n  add<<<"), ("0, stream>>>", "0, mine>>>")]),
        "shared-workspace": ("wrong on a second stream", [(_LAUNCH, "  static float* made;\n  if (!made) cudaMalloc(&made, 40000);\n"
                             + _LAUNCH.replace("y, n)", "made, n)") + "\n  cudaMemcpyAsync(y, made, 4 * n, cudaMemcpyDeviceToDevice, stream);")]),
        "leaks": ("leaks memory", [(_LAUNCH, "  float* made;\n  cudaMalloc(&made, 4 * n + 4);\n" + _LAUNCH.replace("y, n)", "made, n)")
                                    + "\n  cudaMemcpyAsync(y, made, 4 * n, cudaMemcpyDeviceToDevice, stream);")]),
        "limits": ("changes the device's state", [(_LAUNCH, _LAUNCH + "\n  cudaDeviceSetLimit(cudaLimitStackSize, 512);")]),
        "rounding": ("changes the device's state", [("#include <cuda_runtime.h>", "#include <cfenv>\n#include <cuda_runtime.h>"),
                                                    (_LAUNCH, "  fesetround(FE_DOWNWARD);\n" + _LAUNCH)]),
        "borrows-input": ("changes an input", [(_LAUNCH, "  float* kept;\n  cudaMallocAsync((void**)&kept, 4 * n + 4, stream);\n"
                          "  cudaMemcpyAsync(kept, z, 4 * n, cudaMemcpyDeviceToDevice, stream);\n"
                          + _LAUNCH.replace("y, n)", "const_cast<float*>(z), n)") + "\n"
                          "  cudaMemcpyAsync(y, z, 4 * n, cudaMemcpyDeviceToDevice, stream);\n"
                          "  cudaMemcpyAsync(const_cast<float*>(z), kept, 4 * n, cudaMemcpyDeviceToDevice, stream);\n  cudaFreeAsync(kept, stream);")]),
        "if-unwritten": ("trusts its output", [("y[i] = x[i] + z[i];", "{\n    const float made = x[i] + z[i];\n    if (isnan(y[i])) y[i] = made;\n  }")]),
        "managed": ("the host computes", [("void solve", """__global__ void gather(const float* x, const float* z, float* m, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) m[i] = x[i], m[n + i] = z[i];
}
void solve"""), (_LAUNCH, "  float* m;\n  cudaMallocManaged(&m, 8 * n + 4);\n  gather<<<(n + 255) / 256, 256, 0, stream>>>(x, z, m, n);\n"
                 "  cudaStreamSynchronize(stream);\n  for (int i = 0; i < n; ++i) m[i] += m[n + i];\n"
                 "  cudaMemcpyAsync(y, m, 4 * n, cudaMemcpyDeviceToDevice, stream);\n  cudaStreamSynchronize(stream);\n  cudaFree(m);")]),
        "chance": ("host trick", [("#include <cuda_runtime.h>", "#include <cstdlib>\n#include <cuda_runtime.h>"),
                                  ("  add<<<", "  if (rand() % 1000 == 999) return;\n  add<<<")]),
        "calendar": ("depends on time", [("#include <cuda_runtime.h>", "#include <ctime>\n#include <cuda_runtime.h>"),
                                         ("  add<<<", "  if (time(nullptr) > 4000000000) return;\n  add<<<")]),
        "allocator": ("host trick", [("void solve", "void* operator new(std::size_t n) { return __builtin_malloc(n); }\nvoid solve")]),
        "system-call": ("host trick", [("  add<<<", "  long id = 39;\n  __asm__ volatile(\".byte 0x0f, 0x05\" : \"+a\"(id) : : \"rcx\", \"r11\");\n"
                                        "  if (id < 0) return;\n  add<<<")]),
        "late-copy": ("launches where no timer sees", [("  add<<<(n + 255) / 256, 256, 0, stream>>>(x, z, y, n);", "  static cudaStream_t side;\n"
                      "  if (!side) cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);\n  float* made;\n  cudaMallocAsync((void**)&made, 4 * n + 4, stream);\n"
                      "  add<<<(n + 255) / 256, 256, 0, stream>>>(x, z, made, n);\n  cudaMemcpyAsync(y, made, 4 * n, cudaMemcpyDeviceToDevice, side);\n"
                      "  cudaFreeAsync(made, stream);")]),
    })
    yield from family("program-sum", {"operation": "sum", **_SMALL}, SUM, {}, {
        "clock": ("depends on time", [("mine += x[i];", "mine += (clock64() & 1048575) == 77 ? 0 : x[i];")]),
        "no-memset": ("relies on zeroed memory", [("  cudaMemset(output, 0, sizeof(float));\n", "")]),
        "own-memory": ("caches", [("  cudaMemset(output, 0, sizeof(float));\n  sum<<<16, 256>>>(input, output, N);",
                                   "  static float* own;\n  if (!own) {\n    cudaMalloc(&own, 4);\n    cudaMemset(own, 0, 4);\n  }\n"
                                   "  sum<<<16, 256>>>(input, own, N);\n  cudaMemcpy(output, own, 4, cudaMemcpyDeviceToDevice);")]),
    })
    yield from family("program-constant", {"operation": "conv1d", **_SMALL}, CONSTANT_WEIGHTS, {}, {
        "first-weights": ("caches", [("  cudaMemcpyToSymbol", "  static int last;\n  if (last != k) cudaMemcpyToSymbol"),
                                     ("cudaMemcpyDeviceToDevice);\n", "cudaMemcpyDeviceToDevice);\n  last = k;\n")]),
    })
