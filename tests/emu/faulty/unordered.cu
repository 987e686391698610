// Each function has one pair of operations that nothing orders, and does it right if `right` is set. The line
// of the pair's later operation has the comment "unordered".
//   unordered right|wrong [FUNCTION]
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <string>

constexpr int n = 2048, bytes = n * sizeof(int);

__global__ void fill(int* to, int value, int count = n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) to[i] = value;
}
__global__ void add(int* to, const int* from, int count = n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) to[i] = from[i] + 1;
}
__global__ void count_up(int* counter) { atomicAdd(counter, 1); }
__global__ void count_plainly(int* counter) { *counter += 1; }
__global__ void add_after_wait(int* to, const int* from, bool waits_first) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (waits_first) cudaGridDependencySynchronize();
  const int value = from[i];
  if (!waits_first) cudaGridDependencySynchronize();
  to[i] = value;
}
__global__ void pass(int* to, bool waits) {
  if (waits) cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
  if (to != nullptr) to[blockIdx.x * blockDim.x + threadIdx.x] = 5;
}

constexpr int threads = 256, blocks = n / threads;
int *x, *y, *z, *table_copy, *pinned, *managed;
cudaStream_t a, b, c;
cudaEvent_t event, other;
__constant__ int table[16];
__global__ void look_up(int* to) { to[threadIdx.x] = table[threadIdx.x % 16]; }

void link(cudaEvent_t by, cudaStream_t from, cudaStream_t to) {
  cudaEventRecord(by, from);
  cudaStreamWaitEvent(to, by, 0);
}

void kernel_to_kernel(bool right) {
  fill<<<blocks, threads, 0, a>>>(x, 1);
  cudaEventRecord(event, a);
  if (right) cudaStreamWaitEvent(b, event, 0);
  add<<<blocks, threads, 0, b>>>(y, x);  // unordered
}

void kernel_to_copy(bool right) {
  fill<<<blocks, threads, 0, a>>>(x, 1);
  if (right) link(event, a, b);
  cudaMemcpyAsync(pinned, x, bytes, cudaMemcpyDeviceToHost, b);  // unordered
}

void copy_to_kernel(bool right) {
  std::memset(pinned, 0, bytes);
  cudaMemcpyAsync(x, pinned, bytes, cudaMemcpyHostToDevice, a);
  if (right) cudaStreamSynchronize(a);
  add<<<blocks, threads, 0, b>>>(y, x);  // unordered
}

void fill_to_kernel(bool right) {
  cudaMemsetAsync(x, 0, bytes, a);
  add<<<blocks, threads, 0, right ? a : b>>>(y, x);  // unordered
}

void two_writers(bool right) {
  fill<<<blocks, threads, 0, a>>>(x, 1);
  fill<<<blocks, threads, 0, right ? a : b>>>(x, 2);  // unordered
}

void write_after_read(bool right) {
  cudaMemset(x, 0, bytes);
  cudaDeviceSynchronize();
  add<<<blocks, threads, 0, a>>>(y, x);
  if (right) link(event, a, b);
  fill<<<blocks, threads, 0, b>>>(x, 2);  // unordered
}

void event_before_the_work(bool right) {
  if (!right) cudaEventRecord(event, a);
  fill<<<blocks, threads, 0, a>>>(x, 1);
  if (right) cudaEventRecord(event, a);
  cudaStreamWaitEvent(b, event, 0);
  add<<<blocks, threads, 0, b>>>(y, x);  // unordered
}

void event_of_another_stream(bool right) {
  fill<<<blocks, threads, 0, a>>>(x, 1);
  cudaEventRecord(event, a);
  cudaEventRecord(other, c);
  cudaStreamWaitEvent(b, right ? event : other, 0);
  add<<<blocks, threads, 0, b>>>(y, x);  // unordered
}

void chain_of_events(bool right) {
  fill<<<blocks, threads, 0, a>>>(x, 1);
  cudaEventRecord(event, a);
  if (!right) cudaEventRecord(other, b);
  cudaStreamWaitEvent(b, event, 0);
  if (right) cudaEventRecord(other, b);
  cudaStreamWaitEvent(c, other, 0);
  add<<<blocks, threads, 0, c>>>(y, x);  // unordered
}

void default_stream_to_non_blocking(bool right) {
  fill<<<blocks, threads>>>(x, 1);
  if (right) cudaStreamSynchronize(0);
  add<<<blocks, threads, 0, c>>>(y, x);  // unordered
}

void default_fill_to_non_blocking(bool right) {
  cudaMemset(x, 0, bytes);
  add<<<blocks, threads, 0, right ? a : c>>>(y, x);  // unordered
}

void device_copy_to_non_blocking(bool right) {
  cudaMemset(x, 0, bytes);
  cudaMemcpy(y, x, bytes, cudaMemcpyDeviceToDevice);
  if (right) cudaDeviceSynchronize();
  add<<<blocks, threads, 0, c>>>(z, y);  // unordered
}

void non_blocking_to_default(bool right) {
  fill<<<blocks, threads, 0, right ? a : c>>>(x, 1);
  add<<<blocks, threads>>>(y, x);  // unordered
}

void per_thread_default(bool right) {
  fill<<<blocks, threads, 0, cudaStreamPerThread>>>(x, 1);
  if (right) link(event, cudaStreamPerThread, a);
  add<<<blocks, threads, 0, a>>>(y, x);  // unordered
}

void overlapping_parts(bool right) {
  fill<<<blocks / 2, threads, 0, a>>>(x, 1);
  fill<<<blocks / 2, threads, 0, b>>>(x + n / 2 - (right ? 0 : 1), 2);  // unordered
}

void counters(bool right) {
  cudaMemset(x, 0, bytes);
  cudaDeviceSynchronize();
  count_up<<<1, 32, 0, a>>>(x);
  if (right) count_up<<<1, 32, 0, b>>>(x);
  if (!right) count_plainly<<<1, 1, 0, b>>>(x);  // unordered
}

void constants(bool right) {
  look_up<<<1, 32, 0, a>>>(x);
  if (right) cudaStreamSynchronize(a);
  cudaMemcpyToSymbolAsync(table, pinned, 64, 0, cudaMemcpyHostToDevice, b);  // unordered
}

void allocation_in_another_stream(bool right) {
  int* p;
  cudaMallocAsync(&p, bytes, a);
  if (right) link(event, a, b);
  fill<<<blocks, threads, 0, b>>>(p, 1);  // unordered
  cudaDeviceSynchronize();
  cudaFreeAsync(p, a);
}

void free_before_the_end(bool right) {
  int* p;
  cudaMallocAsync(&p, bytes, a);
  cudaStreamSynchronize(a);
  fill<<<blocks, threads, 0, b>>>(p, 1);
  if (right) link(event, b, a);
  cudaFreeAsync(p, a);  // unordered
}

void host_writes_staging_buffer(bool right) {
  cudaMemcpyAsync(x, pinned, bytes, cudaMemcpyHostToDevice, a);
  if (right) cudaStreamSynchronize(a);
  for (int i = 0; i < n; ++i) pinned[i] = i;  // unordered
}

void host_reads_result(bool right) {
  fill<<<blocks, threads, 0, a>>>(x, 1);
  cudaMemcpyAsync(pinned, x, bytes, cudaMemcpyDeviceToHost, a);
  cudaEventRecord(event, a);
  if (right) cudaEventSynchronize(event);
  if (pinned[3] != 1) std::printf("wrong\n");  // unordered
}

void host_reads_managed(bool right) {
  fill<<<blocks, threads>>>(managed, 1);
  if (right) cudaDeviceSynchronize();
  if (managed[3] != 1) std::printf("wrong\n");  // unordered
}

// The host's accesses to I/O memory are not observed.
alignas(4096) int registered[n];
void host_reads_registered(bool right) {
  cudaHostRegister(registered, bytes, right ? cudaHostRegisterIoMemory : cudaHostRegisterDefault);
  fill<<<blocks, threads>>>(registered, 1);
  if (registered[3] != 1) std::printf("wrong\n");  // unordered
  cudaHostUnregister(registered);
}

void copy_into_staging_buffer(bool right) {
  cudaMemcpyAsync(x, pinned, bytes, cudaMemcpyHostToDevice, a);
  if (right) link(event, a, b);
  cudaMemcpyAsync(pinned, y, bytes, cudaMemcpyDeviceToHost, b);  // unordered
}

void host_function(bool right) {
  cudaMemcpyAsync(pinned, x, bytes, cudaMemcpyDeviceToHost, a);
  if (right) link(event, a, b);
  const auto function = [](void* given) {
    if (static_cast<int*>(given)[1] == -7) std::printf("seven\n");  // unordered
  };
  cudaLaunchHostFunc(b, function, pinned);
}

void nodes_without_an_edge(bool right) {
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
  cudaGraphNode_t first, second;
  cudaMemsetParams memset = {x, 0, 0, 4, n, 1};
  cudaGraphAddMemsetNode(&first, graph, nullptr, 0, &memset);
  const int edges = right ? 1 : 0;
  constexpr auto kind = cudaMemcpyDeviceToDevice;
  cudaGraphAddMemcpyNode1D(&second, graph, &first, edges, y, x, bytes, kind);  // unordered
  cudaGraphExec_t executable;
  cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphLaunch(executable, a);
  cudaGraphLaunch(executable, a);
  cudaDeviceSynchronize();
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}

__global__ void count_down(cudaGraphConditionalHandle condition, int* left) {
  cudaGraphSetConditional(condition, --*left > 0);
}

// Adds a loop of kernels that ends after `left` reaches 0.
cudaGraphNode_t add_loop(cudaGraph_t graph, cudaGraphConditionalHandle condition,
                         const cudaGraphNode_t* before, int count) {
  cudaGraphNodeParams loop = {cudaGraphNodeTypeConditional};
  loop.conditional.handle = condition;
  loop.conditional.type = cudaGraphCondTypeWhile;
  loop.conditional.size = 1;
  cudaGraphNode_t node;
  cudaGraphAddNode(&node, graph, before, count, &loop);  // reads the condition
  const cudaGraph_t body = loop.conditional.phGraph_out[0];
  cudaStreamBeginCaptureToGraph(b, body, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal);
  add<<<blocks, threads, 0, b>>>(y, x);  // unordered
  count_down<<<1, 1, 0, b>>>(condition, z);
  cudaStreamEndCapture(b, nullptr);
  return node;
}

void launch_and_destroy(cudaGraph_t graph) {
  cudaGraphExec_t executable;
  cudaGraphInstantiate(&executable, graph, 0);
  for (int i = 0; i < 2; ++i) {
    cudaMemsetAsync(z, 0x02, 1, a);  // two iterations
    cudaGraphLaunch(executable, a);
  }
  cudaDeviceSynchronize();
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}

void loop_beside_a_node(bool right) {
  cudaMemset(z, 0, bytes);
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
  cudaGraphConditionalHandle condition;
  cudaGraphConditionalHandleCreate(&condition, graph, 1, cudaGraphCondAssignDefault);
  cudaGraphNode_t first;
  cudaMemsetParams memset = {x, 0, 0, 4, n, 1};
  cudaGraphAddMemsetNode(&first, graph, nullptr, 0, &memset);
  add_loop(graph, condition, &first, right ? 1 : 0);
  launch_and_destroy(graph);
}

// The copy must wait for the last run of the loop.
void node_after_a_loop(bool right) {
  cudaMemset(z, 0, bytes);
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
  cudaGraphConditionalHandle condition;
  cudaGraphConditionalHandleCreate(&condition, graph, 1, cudaGraphCondAssignDefault);
  cudaGraphNode_t loop = add_loop(graph, condition, nullptr, 0), last;
  constexpr auto kind = cudaMemcpyDeviceToDevice;
  const int edges = right ? 1 : 0;
  cudaGraphAddMemcpyNode1D(&last, graph, &loop, edges, table_copy, y, 64, kind);  // unordered
  launch_and_destroy(graph);
}

// The kernel that sets the condition is not before the node.
void condition_set_beside_its_node(bool right) {
  cudaMemset(z, 0, bytes);
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
  cudaGraphConditionalHandle condition;
  cudaGraphConditionalHandleCreate(&condition, graph, 0, cudaGraphCondAssignDefault);
  cudaGraphNode_t decide, branch;
  void* arguments[] = {&condition, &z};
  cudaKernelNodeParams kernel = {(void*)count_down, 1, 1, 0, arguments, nullptr};
  cudaGraphAddKernelNode(&decide, graph, nullptr, 0, &kernel);
  cudaGraphNodeParams given = {cudaGraphNodeTypeConditional};
  given.conditional.handle = condition;
  given.conditional.size = 1;
  cudaGraphAddNode(&branch, graph, &decide, right ? 1 : 0, &given);  // unordered
  launch_and_destroy(graph);
}

void captured_branches(bool right) {
  cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
  link(event, a, b);
  fill<<<blocks, threads, 0, a>>>(x, 1);
  if (right) link(event, a, b);
  add<<<blocks, threads, 0, b>>>(y, x);  // unordered
  link(other, b, a);
  cudaGraph_t graph;
  cudaStreamEndCapture(a, &graph);
  cudaGraphExec_t executable;
  cudaGraphInstantiate(&executable, graph, 0);
  for (int i = 0; i < 3; ++i) cudaGraphLaunch(executable, c);
  cudaStreamSynchronize(c);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}

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

void early_read(bool right) {
  fill<<<blocks, threads, 0, a>>>(x, 1);
  const cudaLaunchConfig_t config = early(a);
  cudaLaunchKernelEx(&config, add_after_wait, y, static_cast<const int*>(x), right);  // unordered
}

void chain_of_three(bool right) {
  fill<<<blocks, threads, 0, a>>>(x, 1);
  const cudaLaunchConfig_t config = early(a);
  cudaLaunchKernelEx(&config, pass, static_cast<int*>(nullptr), right);
  cudaLaunchKernelEx(&config, add_after_wait, y, static_cast<const int*>(x), true);  // unordered
}

void driver_calls(bool right) {
  const auto from = reinterpret_cast<CUdeviceptr>(x), to = reinterpret_cast<CUdeviceptr>(y);
  cuMemsetD32Async(from, 1, n, a);
  cuEventRecord(event, a);
  if (right) cuStreamWaitEvent(b, event, CU_EVENT_WAIT_DEFAULT);
  cuMemcpyDtoDAsync(to, from, bytes, b);  // unordered
}

struct Case {
  const char* name;
  void (*run)(bool right);
};
#define CASE(name) \
  Case { #name, name }
const Case cases[] = {CASE(kernel_to_kernel),
                      CASE(kernel_to_copy),
                      CASE(copy_to_kernel),
                      CASE(fill_to_kernel),
                      CASE(two_writers),
                      CASE(write_after_read),
                      CASE(event_before_the_work),
                      CASE(event_of_another_stream),
                      CASE(chain_of_events),
                      CASE(default_stream_to_non_blocking),
                      CASE(default_fill_to_non_blocking),
                      CASE(device_copy_to_non_blocking),
                      CASE(non_blocking_to_default),
                      CASE(per_thread_default),
                      CASE(overlapping_parts),
                      CASE(counters),
                      CASE(constants),
                      CASE(allocation_in_another_stream),
                      CASE(free_before_the_end),
                      CASE(host_writes_staging_buffer),
                      CASE(host_reads_result),
                      CASE(host_reads_managed),
                      CASE(host_reads_registered),
                      CASE(copy_into_staging_buffer),
                      CASE(host_function),
                      CASE(nodes_without_an_edge),
                      CASE(loop_beside_a_node),
                      CASE(node_after_a_loop),
                      CASE(condition_set_beside_its_node),
                      CASE(captured_branches),
                      CASE(early_read),
                      CASE(chain_of_three),
                      CASE(driver_calls)};

int main(int count, char** arguments) {
  const bool right = count > 1 && std::string(arguments[1]) == "right";
  const std::string only = count > 2 ? arguments[2] : "";
  cudaMalloc(&x, bytes);
  cudaMalloc(&y, bytes);
  cudaMalloc(&z, bytes);
  cudaMalloc(&table_copy, 64);
  cudaMallocHost(&pinned, bytes);
  cudaMallocManaged(&managed, bytes);
  std::memset(pinned, 0, bytes);
  cudaStreamCreate(&a);
  cudaStreamCreate(&b);
  cudaStreamCreateWithFlags(&c, cudaStreamNonBlocking);
  cudaEventCreate(&event);
  cudaEventCreateWithFlags(&other, cudaEventDisableTiming);
  cudaMemset(x, 0, bytes);
  cudaMemset(y, 0, bytes);
  cudaMemset(z, 0, bytes);
  cudaMemcpyToSymbol(table, pinned, 64);
  for (const Case& each : cases) {
    if (!only.empty() && only != each.name) continue;
    cudaDeviceSynchronize();
    each.run(right);
    if (cudaDeviceSynchronize() != cudaSuccess) std::printf("%s failed\n", each.name);
  }
  for (cudaStream_t stream : {a, b, c}) cudaStreamDestroy(stream);
  for (cudaEvent_t used : {event, other}) cudaEventDestroy(used);
  for (int* memory : {x, y, z, table_copy, managed}) cudaFree(memory);
  cudaFreeHost(pinned);
}
