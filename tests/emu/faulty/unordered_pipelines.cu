// More pairs of operations that nothing orders, as in unordered.cu: pipelines, pools, graphs, memory of the host.
//   unordered_pipelines right|wrong [FUNCTION]
#include <cooperative_groups.h>
#include <cuda.h>
#include <cuda_runtime.h>
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

constexpr int n = 4096, bytes = n * sizeof(float), threads = 128, blocks = n / threads;
__global__ void scale(float* to, const float* from, float by) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = from[i] * by;
}
__global__ void set(float* to, float value) { to[blockIdx.x * blockDim.x + threadIdx.x] = value; }
__global__ void strided(float* to, int start, int step) {
  const int i = start + step * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) to[i] = 1.0f;
}
__global__ void flag_set(float* data, volatile int* flag) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] = 3;
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x == 0) *flag = 1;
}
__global__ void pdl_write(float* to) {
  cudaGridDependencySynchronize();
  to[blockIdx.x * blockDim.x + threadIdx.x] = 2;
}
__global__ void pdl_write_early(float* to) {
  to[blockIdx.x * blockDim.x + threadIdx.x] = 2;
  cudaGridDependencySynchronize();
}
__global__ void pdl_read_trigger(float* to, const float* from) {
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = from[i];
}
__global__ void raise_flag(float* data, int* flag, bool releases) {
  data[threadIdx.x] = 3;
  if (releases) __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) atomicExch(flag, 1);
}
__global__ void await_flag(float* to, const float* data, int* flag) {
  if (threadIdx.x == 0) {
    while (atomicCAS(flag, 1, 2) == 0) {
    }
    __threadfence();
  }
  __syncthreads();
  to[threadIdx.x] = data[threadIdx.x];
}
__global__ void mirror(float* data) {
  const auto grid = cooperative_groups::this_grid();
  data[grid.thread_rank()] = 1;
  grid.sync();
  data[grid.size() - 1 - grid.thread_rank()] += 1;
}

float *d0, *d1, *d2, *h0, *m0;
cudaStream_t s, t, u, v;
cudaEvent_t e, f;

cudaLaunchConfig_t early(cudaStream_t stream) {
  static cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = blocks;
  config.blockDim = threads;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return config;
}

void double_buffer(bool right) {
  float* slot[2] = {h0, h0 + n};
  cudaEvent_t done[2];
  for (auto& x : done) cudaEventCreateWithFlags(&x, cudaEventDisableTiming);
  for (int i = 0; i < 4; ++i) {
    if (i >= 2 && right) cudaEventSynchronize(done[i % 2]);
    for (int j = 0; j < n; ++j) slot[i % 2][j] = static_cast<float>(i);  // unordered
    cudaMemcpyAsync(d0, slot[i % 2], bytes, cudaMemcpyHostToDevice, s);
    cudaEventRecord(done[i % 2], s);
    scale<<<blocks, threads, 0, s>>>(d1, d0, 2);
  }
  cudaStreamSynchronize(s);
  for (auto& x : done) cudaEventDestroy(x);
}
void join_of_three(bool right) {
  cudaEvent_t each[3];
  cudaStream_t streams[3] = {s, t, u};
  for (int i = 0; i < 3; ++i) {
    cudaEventCreate(&each[i]);
    strided<<<blocks, threads, 0, streams[i]>>>(d0, i, 3);
    cudaEventRecord(each[i], streams[i]);
  }
  for (int i = 0; i < (right ? 3 : 2); ++i) cudaStreamWaitEvent(v, each[i], 0);
  scale<<<blocks, threads, 0, v>>>(d1, d0, 2);  // unordered
  cudaStreamSynchronize(v);
  for (auto& x : each) cudaEventDestroy(x);
}
void columns(bool right) {
  cudaMemset2DAsync(d0, 64, 0, 32, 16, s);
  char* const second = reinterpret_cast<char*>(d0) + (right ? 32 : 28);
  cudaMemset2DAsync(second, 64, 0, 32, 16, t);  // unordered
}
void rows_to_host(bool right) {
  set<<<blocks, threads, 0, s>>>(d0, 1);
  cudaMemcpy2DAsync(h0, 256, d0, 256, 128, 16, cudaMemcpyDeviceToHost, right ? s : t);  // unordered
}
void pageable(bool right) {
  std::vector<float> host(n, 1.0f);
  cudaMemcpyAsync(d0, host.data(), bytes, cudaMemcpyHostToDevice, s);
  host[0] = 2;                                              // was staged
  scale<<<blocks, threads, 0, right ? s : t>>>(d1, d0, 2);  // unordered
  cudaMemcpyAsync(host.data(), d1, bytes, cudaMemcpyDeviceToHost, right ? s : t);
  if (host[3] != 2) std::printf("pageable: %g\n", host[3]);
}
void destroyed_stream(bool right) {
  cudaStream_t w;
  cudaStreamCreateWithFlags(&w, cudaStreamNonBlocking);
  set<<<blocks, threads, 0, w>>>(d0, 1);
  cudaMemcpyAsync(h0, d0, bytes, cudaMemcpyDeviceToHost, w);
  if (right) cudaStreamSynchronize(w);
  cudaStreamDestroy(w);
  if (h0[5] != 1) std::printf("destroyed\n");  // unordered
}
void odd_and_even(bool right) {
  strided<<<blocks, threads, 0, s>>>(d0, 0, 2);
  strided<<<blocks, threads, 0, t>>>(d0, right ? 1 : 2, 2);  // unordered
}
void query(bool right) {
  set<<<blocks, threads, 0, s>>>(d0, 1);
  if (right)
    while (cudaStreamQuery(s) == cudaErrorNotReady) {
    }
  scale<<<blocks, threads, 0, u>>>(d1, d0, 2);  // unordered
}
void diamond(bool right) {
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
  cudaGraphNode_t top, left, rightn, join;
  float one = 1, two = 2;
  void *pt[] = {&d0, &one}, *pl[] = {&d1, &d0, &two}, *pr[] = {&d2, &d0, &two},
       *pj[] = {&d1, &d2, &one};
  cudaKernelNodeParams k = {};
  k.gridDim = blocks;
  k.blockDim = threads;
  k.func = reinterpret_cast<void*>(set);
  k.kernelParams = pt;
  cudaGraphAddKernelNode(&top, graph, nullptr, 0, &k);
  k.func = reinterpret_cast<void*>(scale);
  k.kernelParams = pl;
  cudaGraphAddKernelNode(&left, graph, &top, 1, &k);
  k.kernelParams = pr;
  cudaGraphAddKernelNode(&rightn, graph, &top, 1, &k);
  k.kernelParams = pj;
  cudaGraphNode_t both[] = {rightn, left};
  cudaGraphAddKernelNode(&join, graph, both, right ? 2 : 1, &k);  // unordered
  cudaGraphExec_t x;
  cudaGraphInstantiate(&x, graph, 0);
  cudaGraphLaunch(x, s);
  cudaGraphLaunch(x, t);
  cudaDeviceSynchronize();
  cudaGraphExecDestroy(x);
  cudaGraphDestroy(graph);
}
void empty_node(bool right) {
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
  cudaGraphNode_t a, b, c;
  cudaMemsetParams m = {d0, 0, 0, 1, bytes, 1};
  cudaGraphAddMemsetNode(&a, graph, nullptr, 0, &m);
  cudaGraphAddEmptyNode(&b, graph, &a, right ? 1 : 0);
  cudaGraphAddMemcpyNode1D(&c, graph, &b, 1, h0, d0, bytes, cudaMemcpyDeviceToHost);  // unordered
  cudaGraphExec_t x;
  cudaGraphInstantiate(&x, graph, 0);
  cudaGraphLaunch(x, s);
  cudaStreamSynchronize(s);
  cudaGraphExecDestroy(x);
  cudaGraphDestroy(graph);
}
void graph_then_kernel(bool right) {
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  set<<<blocks, threads, 0, s>>>(d0, 1);
  cudaGraph_t graph;
  cudaStreamEndCapture(s, &graph);
  cudaGraphExec_t x;
  cudaGraphInstantiate(&x, graph, 0);
  cudaGraphLaunch(x, s);
  if (right) {
    cudaEventRecord(e, s);
    cudaStreamWaitEvent(t, e, 0);
  }
  scale<<<blocks, threads, 0, t>>>(d1, d0, 2);  // unordered
  cudaDeviceSynchronize();
  cudaGraphExecDestroy(x);
  cudaGraphDestroy(graph);
}
void pool_reuse(bool right) {
  for (int i = 0; i < 3; ++i) {
    float* p;
    cudaMallocAsync(&p, bytes, s);
    set<<<blocks, threads, 0, s>>>(p, 1);
    if (right || i != 1) {
      cudaEventRecord(e, s);
      cudaStreamWaitEvent(t, e, 0);
    }
    cudaMemcpyAsync(d1, p, bytes, cudaMemcpyDeviceToDevice, t);  // unordered
    cudaEventRecord(f, t);
    cudaStreamWaitEvent(s, f, 0);
    cudaFreeAsync(p, s);
  }
}
void driver_kernel(bool right) {
  cudaFunction_t k;
  cudaGetFuncBySymbol(&k, reinterpret_cast<void*>(set));
  float one = 1;
  void* p[] = {&d0, &one};
  cuLaunchKernel(reinterpret_cast<CUfunction>(k), blocks, 1, 1, threads, 1, 1, 0, s, p, nullptr);
  if (right) cuStreamSynchronize(s);
  cuMemcpyDtoHAsync(h0, reinterpret_cast<CUdeviceptr>(d0), bytes, u);  // unordered
}
void callback(bool right) {
  static std::atomic<bool> done;
  done = false;
  cudaMemcpyAsync(h0, d0, bytes, cudaMemcpyDeviceToHost, s);
  if (right) {
    cudaLaunchHostFunc(s, [](void*) { done = true; }, nullptr);
    while (!done) {
    }
  }
  if (h0[9] == -5) std::printf("callback\n");  // unordered
}
void managed_write(bool right) {
  scale<<<blocks, threads>>>(d0, m0, 2);
  if (right) cudaDeviceSynchronize();
  m0[7] = 3;  // unordered
}
void zero_copy(bool right) {
  set<<<blocks, threads, 0, s>>>(h0, 4);
  if (right) cudaStreamSynchronize(s);
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += h0[i];  // unordered
  if (sum < 0) std::printf("sum\n");
}
void registered(bool right) {
  static float* memory = static_cast<float*>(std::aligned_alloc(4096, 2 * bytes));
  std::memset(memory, 0, 2 * bytes);
  cudaHostRegister(memory, bytes, 0);
  cudaMemcpyAsync(d0, memory, bytes, cudaMemcpyHostToDevice, s);
  memory[n + 5] = 1;  // not registered
  if (right) cudaStreamSynchronize(s);
  std::memset(memory, 1, bytes);  // unordered
  cudaDeviceSynchronize();
  cudaHostUnregister(memory);
}
void pdl_waw(bool right) {
  set<<<blocks, threads, 0, s>>>(d0, 1);
  const cudaLaunchConfig_t config = early(s);
  cudaLaunchKernelEx(&config, right ? pdl_write : pdl_write_early, d0);  // unordered
}
void pdl_trigger_no_flush(bool right) {
  set<<<blocks, threads, 0, s>>>(d0, 1);
  const cudaLaunchConfig_t config = early(s);
  cudaLaunchKernelEx(&config, pdl_read_trigger, d1, static_cast<const float*>(d0));
  cudaLaunchKernelEx(&config, right ? pdl_write : pdl_write_early, d0);  // unordered
}
void default_between(bool right) {
  // The default stream is no barrier for non-blocking streams.
  set<<<blocks, threads, 0, right ? s : u>>>(d0, 1);
  set<<<1, 1>>>(d2, 1);
  scale<<<blocks, threads, 0, right ? t : v>>>(d1, d0, 2);  // unordered
}
void peer_copy(bool right) {
  set<<<blocks, threads, 0, s>>>(d0, 1);
  if (right) {
    cudaEventRecord(e, s);
    cudaStreamWaitEvent(t, e, 0);
  }
  cudaMemcpyPeerAsync(d1, 0, d0, 0, bytes, t);  // unordered
}
void slots_of_one_buffer(bool right) {
  cudaMemcpyAsync(d0, h0, bytes / 2, cudaMemcpyHostToDevice, s);
  for (int i = 0; i < n / 2; ++i) h0[i + (right ? n / 2 : 0)] = 1;  // unordered
}
void flag_by_kernel(bool right) {
  int* flag = nullptr;
  cudaMallocHost(&flag, sizeof(int));
  *flag = 0;
  flag_set<<<1, n / 8, 0, s>>>(m0, flag);
  if (right)
    while (*static_cast<volatile int*>(flag) == 0) {
    }
  if (m0[1] == -3) std::printf("flag\n");  // unordered
  cudaFreeHost(flag);
}
// Functions of the host run when something waits for them, at the latest after 0.2 s.
void function_fills(bool right) {
  const auto fill = [](void* given) {
    for (int i = 0; i < n; ++i) static_cast<float*>(given)[i] = 1;  // unordered
  };
  cudaLaunchHostFunc(s, fill, h0);
  if (right) {
    cudaEventRecord(e, s);
    cudaStreamWaitEvent(t, e, 0);
  }
  cudaMemcpyAsync(d0, h0, bytes, cudaMemcpyHostToDevice, t);
}
void function_beside_a_copy(bool right) {
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
  cudaGraphNode_t function, copy;
  cudaHostNodeParams params = {};
  params.fn = [](void* given) {
    static_cast<float*>(given)[7] = 1;  // unordered
  };
  params.userData = h0;
  cudaGraphAddHostNode(&function, graph, nullptr, 0, &params);
  const int edges = right ? 1 : 0;
  constexpr auto kind = cudaMemcpyHostToDevice;
  cudaGraphAddMemcpyNode1D(&copy, graph, &function, edges, d0, h0, bytes, kind);
  cudaGraphExec_t x;
  cudaGraphInstantiate(&x, graph, 0);
  cudaGraphLaunch(x, s);
  cudaStreamSynchronize(s);
  cudaGraphExecDestroy(x);
  cudaGraphDestroy(graph);
}
void flag_by_atomics(bool right) {
  auto* const flag = reinterpret_cast<int*>(d2);
  cudaMemset(d2, 0, bytes);
  cudaDeviceSynchronize();
  raise_flag<<<1, threads, 0, u>>>(d0, flag, right);
  await_flag<<<1, threads, 0, v>>>(d1, d0, flag);  // unordered
}
void part_of_a_page(bool right) {
  set<<<1, 64, 0, s>>>(m0 + 32, 1);
  for (int i = 0; i < 32; ++i) m0[i] = 2;  // no kernel accesses these
  if (right) cudaStreamSynchronize(s);
  if (m0[40] == -1) std::printf("part\n");  // unordered
}
void system_call(bool right) {
  static const int file = open("/dev/null", O_WRONLY);
  set<<<blocks, threads, 0, s>>>(h0, 1);
  if (right) cudaStreamSynchronize(s);
  const ssize_t written = write(file, h0, bytes);  // unordered
  if (written != bytes) std::printf("written: %zd\n", written);
}
void event_of_a_node(bool right) {
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
  cudaGraphNode_t kernel, record;
  float one = 1;
  void* arguments[] = {&d0, &one};
  cudaKernelNodeParams k = {};
  k.gridDim = blocks;
  k.blockDim = threads;
  k.func = reinterpret_cast<void*>(set);
  k.kernelParams = arguments;
  cudaGraphAddKernelNode(&kernel, graph, nullptr, 0, &k);
  cudaGraphAddEventRecordNode(&record, graph, &kernel, right ? 1 : 0, e);
  cudaGraphExec_t x;
  cudaGraphInstantiate(&x, graph, 0);
  cudaGraphLaunch(x, s);
  cudaStreamWaitEvent(u, e, 0);
  scale<<<blocks, threads, 0, u>>>(d1, d0, 2);  // unordered
  cudaDeviceSynchronize();
  cudaGraphExecDestroy(x);
  cudaGraphDestroy(graph);
}
void cooperative(bool right) {
  void* arguments[] = {&d0};
  auto* const kernel = reinterpret_cast<void*>(mirror);
  cudaLaunchCooperativeKernel(kernel, 2, threads, arguments, 0, u);
  cudaStream_t second = right ? u : v;
  cudaLaunchCooperativeKernel(kernel, 2, threads, arguments, 0, second);  // unordered
}

struct Case {
  const char* name;
  void (*run)(bool);
};
#define CASE(x) {#x, x}
Case cases[] = {CASE(double_buffer),
                CASE(join_of_three),
                CASE(columns),
                CASE(rows_to_host),
                CASE(pageable),
                CASE(destroyed_stream),
                CASE(odd_and_even),
                CASE(query),
                CASE(diamond),
                CASE(empty_node),
                CASE(graph_then_kernel),
                CASE(pool_reuse),
                CASE(driver_kernel),
                CASE(callback),
                CASE(managed_write),
                CASE(zero_copy),
                CASE(registered),
                CASE(pdl_waw),
                CASE(pdl_trigger_no_flush),
                CASE(default_between),
                CASE(peer_copy),
                CASE(slots_of_one_buffer),
                CASE(flag_by_kernel),
                CASE(function_fills),
                CASE(function_beside_a_copy),
                CASE(flag_by_atomics),
                CASE(part_of_a_page),
                CASE(system_call),
                CASE(event_of_a_node),
                CASE(cooperative)};

int main(int count, char** arguments) {
  const bool right = count > 1 && std::string(arguments[1]) == "right";
  const std::string only = count > 2 ? arguments[2] : "";
  for (float** p : {&d0, &d1, &d2}) {
    cudaMalloc(p, bytes);
    cudaMemset(*p, 0, bytes);
  }
  cudaMallocHost(&h0, 2 * bytes);
  cudaMallocManaged(&m0, bytes);
  std::memset(h0, 0, 2 * bytes);
  std::memset(m0, 0, bytes);
  cudaStreamCreate(&s);
  cudaStreamCreateWithPriority(&t, cudaStreamDefault, 0);
  cudaStreamCreateWithFlags(&u, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&v, cudaStreamNonBlocking);
  cudaEventCreate(&e);
  cudaEventCreate(&f);
  for (const Case& each : cases) {
    if (!only.empty() && only != each.name) continue;
    cudaDeviceSynchronize();
    each.run(right);
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) std::printf("%s failed: %s\n", each.name, cudaGetErrorString(error));
  }
  for (float* memory : {d0, d1, d2, m0}) cudaFree(memory);
  cudaFreeHost(h0);
  for (cudaStream_t stream : {s, t, u, v}) cudaStreamDestroy(stream);
  for (cudaEvent_t used : {e, f}) cudaEventDestroy(used);
}
