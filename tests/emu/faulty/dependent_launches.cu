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
                      CASE(two_edges)};

int main(int count, char** arguments) {
  const bool right = count > 1 && std::string(arguments[1]) == "right";
  const std::string only = count > 2 ? arguments[2] : "";
  for (float** memory : {&x, &y, &z}) {
    cudaMalloc(memory, bytes);
    cudaMemset(*memory, 0, bytes);
  }
  cudaStreamCreate(&s);
  for (const Case& each : cases) {
    if (!only.empty() && only != each.name) continue;
    cudaDeviceSynchronize();
    each.run(right);
    if (cudaDeviceSynchronize() != cudaSuccess) std::printf("%s failed\n", each.name);
  }
  cudaStreamDestroy(s);
  for (float* memory : {x, y, z}) cudaFree(memory);
}
