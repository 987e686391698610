// Programmatic dependent launches in streams and graphs, as in unordered.cu. Each function has one pair of
// accesses that nothing orders, unless `right` is set. Some are small copies of public faults.
//   dependent_launches right|wrong [FUNCTION]
#include <cuda_runtime.h>

#include <cstdio>
#include <string>

constexpr int n = 2048, threads = 128, blocks = n / threads, bytes = n * sizeof(float);

__device__ int place() { return blockIdx.x * blockDim.x + threadIdx.x; }
__global__ void produce(float* to, float value) {
  cudaTriggerProgrammaticLaunchCompletion();
  to[place()] = value;
}
__global__ void produce_in_silence(float* to, float value) { to[place()] = value; }
__global__ void produce_after_wait(float* to, float value) {
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
  to[place()] = value;
}
__global__ void consume(float* to, const float* from, bool waits) {
  if (waits) cudaGridDependencySynchronize();
  to[place()] = from[place()];
}
// As in a butterfly transform that llama.cpp launched without the call that waits (pull request 23690).
__global__ void transform(float* data, int step, bool waits) {
  if (waits) cudaGridDependencySynchronize();
  const float low = data[2 * place()], high = data[2 * place() + 1];
  data[2 * place()] = low + step * high;
  data[2 * place() + 1] = low - step * high;
}
// Loads of memory that is const and __restrict__ may move above the wait, as in llama.cpp's flash attention
// (pull request 23825).
__global__ void consume_plainly(float* to, const float* from) {
  cudaGridDependencySynchronize();
  to[place()] = from[place()];
}
__global__ void consume_restricted(float* __restrict__ to, const float* __restrict__ from) {
  cudaGridDependencySynchronize();
  to[place()] = from[place()];
}
// One warp loads scales and does not wait, as in a product of CUTLASS (TensorRT-LLM, pull request 14668).
__global__ void warp_specialized(float* to, const float* from, const float* scales, bool all_wait) {
  __shared__ float scale;
  const bool loads_scales = threadIdx.x / 32 == 0;
  if (all_wait || !loads_scales) cudaGridDependencySynchronize();
  if (threadIdx.x == 0) scale = scales[blockIdx.x];
  __syncthreads();
  to[place()] = from[place()] * scale;
}
// The merge of CUB's sort loaded the partitions, which the previous kernel writes, before it waited (CCCL, issue
// 5297).
__global__ void merge_partitions(float* to, const float* from, const float* partitions,
                                 bool waits) {
  if (waits) cudaGridDependencySynchronize();
  const float begin = partitions[blockIdx.x];
  if (!waits) cudaGridDependencySynchronize();
  to[place()] = from[place()] + begin;
}
// The grouped products of CUTLASS for Hopper load the sizes and pointers of their groups in any case, and did not
// wait at all (issues 2760 and 2962).
struct Group {
  const float* from;
  float* to;
  float scale;
};
__global__ void set_groups(Group* groups, const float* from, float* to) {
  cudaTriggerProgrammaticLaunchCompletion();
  groups[blockIdx.x] = {from, to, 2};
}
__global__ void grouped_product(const Group* groups, bool waits) {
  if (waits) cudaGridDependencySynchronize();
  const Group group = groups[blockIdx.x];
  group.to[place()] = group.scale * group.from[place()];
}
// Weights that no recent kernel writes may be loaded before the wait.
__global__ void load_weights_early(float* to, const float* from, const float* weights) {
  const float weight = weights[place()];
  cudaGridDependencySynchronize();
  to[place()] = from[place()] * weight;
}
__global__ void pass_on(bool waits) {
  if (waits) cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
}

float *x, *y, *z;
cudaStream_t s;

cudaLaunchConfig_t early(int grid) {
  static cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = threads;
  config.stream = s;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return config;
}
// A macro, so that reports name the line that uses it.
#define LAUNCH(kernel, grid, ...)                                                                \
  do {                                                                                           \
    const cudaLaunchConfig_t config = early(grid);                                               \
    if (cudaLaunchKernelEx(&config, kernel, __VA_ARGS__) != cudaSuccess) std::puts("no launch"); \
  } while (false)

void missing_wait(bool right) {
  produce<<<blocks, threads, 0, s>>>(x, 1);
  LAUNCH(transform, blocks / 2, x, 1, right);  // unordered
}
void no_trigger(bool right) {
  produce_in_silence<<<blocks, threads, 0, s>>>(x, 1);
  LAUNCH(consume, blocks, y, (const float*)x, right);  // unordered
}
void restricted(bool right) {
  produce<<<blocks, threads, 0, s>>>(x, 1);
  const auto kernel = right ? consume_plainly : consume_restricted;
  LAUNCH(kernel, blocks, y, (const float*)x);  // unordered
}
void one_warp_does_not_wait(bool right) {
  produce<<<blocks, threads, 0, s>>>(z, 1);
  LAUNCH(warp_specialized, blocks, y, (const float*)x, (const float*)z, right);  // unordered
}
// A kernel that was compiled without griddepcontrol is launched early, as CUB did (CCCL, issue 9134).
void middle_without_wait(bool right) {
  produce<<<blocks, threads, 0, s>>>(x, 1);
  LAUNCH(pass_on, blocks, right);
  LAUNCH(consume, blocks, y, (const float*)x, true);  // unordered
}
void write_after_read(bool right) {
  consume<<<blocks, threads, 0, s>>>(y, x, false);
  LAUNCH(pass_on, blocks, right);
  LAUNCH(produce_after_wait, blocks, x, 2.0f);  // unordered
}
void captured(bool right) {
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  produce<<<blocks, threads, 0, s>>>(x, 1);
  LAUNCH(consume, blocks, y, (const float*)x, right);  // unordered
  cudaGraph_t graph;
  cudaStreamEndCapture(s, &graph);
  cudaGraphExec_t executable;
  cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphLaunch(executable, s);
  cudaStreamSynchronize(s);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}

cudaKernelNodeParams node(void* kernel, void** arguments) {
  cudaKernelNodeParams node = {};
  node.func = kernel;
  node.gridDim = blocks;
  node.blockDim = threads;
  node.kernelParams = arguments;
  return node;
}
#define NODE(name, kernel, arguments)                                                      \
  cudaGraphNode_t name;                                                                    \
  const cudaKernelNodeParams of_##name = node(reinterpret_cast<void*>(kernel), arguments); \
  cudaGraphAddKernelNode(&name, graph, nullptr, 0, &of_##name)
void connect(cudaGraph_t graph, cudaGraphNode_t from, cudaGraphNode_t to, int port) {
  cudaGraphEdgeData edge = {};
  edge.type = port == 0 ? cudaGraphDependencyTypeDefault : cudaGraphDependencyTypeProgrammatic;
  edge.from_port = port;
  if (cudaGraphAddDependencies_v2(graph, &from, &to, &edge, 1) != cudaSuccess) std::puts("edge");
}
void run(cudaGraph_t graph) {
  cudaGraphExec_t executable;
  cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphLaunch(executable, s);
  cudaStreamSynchronize(s);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}

void edge(bool right) {
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
  float one = 1;
  void *writes[] = {&x, &one}, *reads[] = {&y, &x, &right};
  NODE(first, produce, writes);
  NODE(second, consume, reads);  // unordered
  connect(graph, first, second, cudaGraphKernelNodePortProgrammatic);
  run(graph);
}
void edge_at_start(bool right) {
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
  float one = 1;
  bool waits = true;
  void *writes[] = {&x, &one}, *passes[] = {&waits}, *reads[] = {&y, &x, &right};
  NODE(first, produce, writes);
  NODE(second, pass_on, passes);
  NODE(third, consume, reads);  // unordered
  connect(graph, first, second, cudaGraphKernelNodePortProgrammatic);
  connect(graph, second, third, cudaGraphKernelNodePortLaunchCompletion);
  run(graph);
}
void edge_without_port(
    bool right) {  // an edge of the other kind also orders what comes before the wait
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
  float one = 1;
  bool waits = false;
  void *writes[] = {&x, &one}, *reads[] = {&y, &x, &waits};
  NODE(first, produce, writes);
  NODE(second, consume, reads);  // unordered
  connect(graph, first, second,
          right ? cudaGraphKernelNodePortDefault : cudaGraphKernelNodePortProgrammatic);
  run(graph);
}
void chain_of_edges(bool right) {
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
  float one = 1;
  bool waits = true;
  void *writes[] = {&x, &one}, *passes[] = {&right}, *reads[] = {&y, &x, &waits};
  NODE(first, produce, writes);
  NODE(second, pass_on, passes);
  NODE(third, consume, reads);  // unordered
  connect(graph, first, second, cudaGraphKernelNodePortProgrammatic);
  connect(graph, second, third, cudaGraphKernelNodePortProgrammatic);
  run(graph);
}
void two_edges(bool right) {  // it waits for both
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
  float one = 1;
  void *writes[] = {&x, &one}, *others[] = {&z, &one}, *reads[] = {&y, &z, &right};
  NODE(first, produce, writes);
  NODE(second, produce, others);
  NODE(third, consume, reads);  // unordered
  connect(graph, first, third, cudaGraphKernelNodePortProgrammatic);
  connect(graph, second, third, cudaGraphKernelNodePortProgrammatic);
  run(graph);
}

void partitions_before_the_wait(bool right) {
  produce<<<blocks, threads, 0, s>>>(z, 1);
  LAUNCH(merge_partitions, blocks, y, (const float*)x, (const float*)z, right);  // unordered
}
void groups_before_the_wait(bool right) {
  auto* const groups = reinterpret_cast<Group*>(z);
  set_groups<<<blocks, threads, 0, s>>>(groups, x, y);
  LAUNCH(grouped_product, blocks, (const Group*)groups, right);  // unordered
}
void weights_before_the_wait(bool right) {
  produce<<<blocks, threads, 0, s>>>(right ? x : z, 1);
  LAUNCH(load_weights_early, blocks, y, (const float*)x, (const float*)z);  // unordered
}
// A launch that follows a copy or a fill waits for it, and for the kernels before it.
void fill_between(bool right) {
  produce<<<blocks, threads, 0, s>>>(x, 1);
  if (right) cudaMemsetAsync(z, 0, sizeof(float), s);
  LAUNCH(consume, blocks, y, (const float*)x, false);  // unordered
}

cudaStream_t t;
cudaEvent_t event;
void launch_with_event(cudaLaunchAttributeID id, float* to, bool at_start = false) {
  cudaLaunchAttribute attribute = {};
  attribute.id = id;
  if (id == cudaLaunchAttributeProgrammaticEvent) {
    attribute.val.programmaticEvent.event = event;
    attribute.val.programmaticEvent.triggerAtBlockStart = at_start ? 1 : 0;
  } else {
    attribute.val.launchCompletionEvent.event = event;
  }
  cudaLaunchConfig_t config = early(blocks);
  config.attrs = &attribute;
  cudaLaunchKernelEx(&config, produce, to, 1.0f);
}
void programmatic_event(bool right) {
  launch_with_event(cudaLaunchAttributeProgrammaticEvent, x);
  cudaStreamWaitEvent(t, event, 0);
  consume<<<blocks, threads, 0, t>>>(y, x, right);  // unordered
}
void event_recorded_again(bool right) {
  launch_with_event(cudaLaunchAttributeProgrammaticEvent, x, true);
  if (right) cudaEventRecord(event, s);
  cudaStreamWaitEvent(t, event, 0);
  consume<<<blocks, threads, 0, t>>>(y, x, false);  // unordered
}
// The event says that the kernel's blocks run: all work before the kernel is done.
void completion_event(bool right) {
  produce<<<blocks, threads, 0, s>>>(x, 1);
  launch_with_event(cudaLaunchAttributeLaunchCompletionEvent, right ? z : y);
  cudaStreamWaitEvent(t, event, 0);
  consume<<<blocks, threads, 0, t>>>(y, x, false);  // unordered
}
void captured_event(bool right) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  launch_with_event(cudaLaunchAttributeProgrammaticEvent, x);
  cudaStreamWaitEvent(t, event, 0);
  consume<<<blocks, threads, 0, t>>>(y, x, right);  // unordered
  cudaEventRecord(event, t);
  cudaStreamWaitEvent(s, event, 0);
  cudaStreamEndCapture(s, &graph);
  run(graph);
}
// The second kernel of the stream waits for the first one, but that has not waited for the event's.
void second_kernel_after_the_event(bool right) {
  launch_with_event(cudaLaunchAttributeProgrammaticEvent, x);
  cudaStreamWaitEvent(t, event, 0);
  pass_on<<<1, 1, 0, t>>>(right);
  consume<<<blocks, threads, 0, t>>>(y, x, true);  // unordered
}

struct Case {
  const char* name;
  void (*run)(bool right);
};
#define CASE(name) \
  Case { #name, name }
const Case cases[] = {CASE(missing_wait),
                      CASE(no_trigger),
                      CASE(restricted),
                      CASE(one_warp_does_not_wait),
                      CASE(middle_without_wait),
                      CASE(write_after_read),
                      CASE(captured),
                      CASE(edge),
                      CASE(edge_at_start),
                      CASE(edge_without_port),
                      CASE(chain_of_edges),
                      CASE(two_edges),
                      CASE(partitions_before_the_wait),
                      CASE(groups_before_the_wait),
                      CASE(weights_before_the_wait),
                      CASE(fill_between),
                      CASE(programmatic_event),
                      CASE(event_recorded_again),
                      CASE(completion_event),
                      CASE(captured_event),
                      CASE(second_kernel_after_the_event)};

int main(int count, char** arguments) {
  const bool right = count > 1 && std::string(arguments[1]) == "right";
  const std::string only = count > 2 ? arguments[2] : "";
  for (float** memory : {&x, &y, &z}) {
    cudaMalloc(memory, bytes);
    cudaMemset(*memory, 0, bytes);
  }
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  for (const Case& each : cases) {
    if (!only.empty() && only != each.name) continue;
    cudaDeviceSynchronize();
    each.run(right);
    if (cudaDeviceSynchronize() != cudaSuccess) std::printf("%s failed\n", each.name);
  }
  for (cudaStream_t stream : {s, t}) cudaStreamDestroy(stream);
  cudaEventDestroy(event);
  for (float* memory : {x, y, z}) cudaFree(memory);
}
