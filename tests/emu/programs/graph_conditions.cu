// Conditional nodes of graphs: if, else, while and switch, nested, launched again and changed.
#include <cuda_runtime.h>

#include <cstdio>

__device__ int trace[64], length;
__global__ void note(int value) { trace[length++] = value; }
__global__ void choose(cudaGraphConditionalHandle handle, const int* value) {
  cudaGraphSetConditional(handle, static_cast<unsigned>(*value));
}
__global__ void count_down(cudaGraphConditionalHandle handle, int* left) {
  cudaGraphSetConditional(handle, --*left > 0);
}

cudaStream_t stream;

void show() {
  int host[64], count = 0;
  cudaMemcpyFromSymbol(&count, length, sizeof(int));
  cudaMemcpyFromSymbol(host, trace, sizeof(host));
  for (int i = 0; i < count; ++i) std::printf("%d ", host[i]);
  std::printf("\n");
  count = 0;
  cudaMemcpyToSymbol(length, &count, sizeof(int));
}

cudaGraphNode_t add_kernel(cudaGraph_t graph, const cudaGraphNode_t* before, void* kernel,
                           void** arguments) {
  cudaKernelNodeParams launch = {kernel, dim3(1), dim3(1), 0, arguments, nullptr};
  cudaGraphNode_t node = nullptr;
  cudaGraphAddKernelNode(&node, graph, before, before != nullptr, &launch);
  return node;
}

cudaGraphNode_t add_note(cudaGraph_t graph, const cudaGraphNode_t* before, int value) {
  void* arguments[] = {&value};
  return add_kernel(graph, before, reinterpret_cast<void*>(note), arguments);
}

cudaGraphNode_t add_choice(cudaGraph_t graph, const cudaGraphNode_t* before,
                           cudaGraphConditionalHandle handle, int* value, bool counts = false) {
  void* arguments[] = {&handle, &value};
  void* const kernel =
      counts ? reinterpret_cast<void*>(count_down) : reinterpret_cast<void*>(choose);
  return add_kernel(graph, before, kernel, arguments);
}

cudaGraphNode_t add_conditional(cudaGraph_t graph, const cudaGraphNode_t* before,
                                cudaGraphConditionalHandle handle,
                                cudaGraphConditionalNodeType type, unsigned size,
                                cudaGraph_t*& bodies) {
  cudaGraphNodeParams given = {cudaGraphNodeTypeConditional};
  given.conditional.handle = handle;
  given.conditional.type = type;
  given.conditional.size = size;
  cudaGraphNode_t node = nullptr;
  cudaGraphAddNode(&node, graph, before, before != nullptr, &given);
  bodies = given.conditional.phGraph_out;
  return node;
}

int main() {
  cudaStreamCreate(&stream);
  int* value;
  cudaMallocManaged(&value, sizeof(int));
  cudaGraph_t graph, *branches, *loop, *cases;
  cudaGraphCreate(&graph, 0);
  cudaGraphConditionalHandle of_branch, of_loop, of_switch;
  cudaGraphConditionalHandleCreate(&of_branch, graph);
  cudaGraphConditionalHandleCreate(&of_loop, graph, 1, cudaGraphCondAssignDefault);
  cudaGraphConditionalHandleCreate(&of_switch, graph, 7, cudaGraphCondAssignDefault);

  // if (value) { while (--value) note(2); } else { note(3); } switch (condition) {} note(9);
  const cudaGraphNode_t first = add_choice(graph, nullptr, of_branch, value);
  const cudaGraphNode_t branch =
      add_conditional(graph, &first, of_branch, cudaGraphCondTypeIf, 2, branches);
  const cudaGraphNode_t outer = add_note(branches[0], nullptr, 1);
  add_conditional(branches[0], &outer, of_loop, cudaGraphCondTypeWhile, 1, loop);
  const cudaGraphNode_t in_loop = add_note(loop[0], nullptr, 2);
  add_choice(loop[0], &in_loop, of_loop, value, true);
  cudaStreamBeginCaptureToGraph(stream, branches[1], nullptr, nullptr, 0,
                                cudaStreamCaptureModeGlobal);
  note<<<1, 1, 0, stream>>>(3);
  cudaGraph_t same;
  cudaStreamEndCapture(stream, &same);
  const cudaGraphNode_t by_case =
      add_conditional(graph, &branch, of_switch, cudaGraphCondTypeSwitch, 2, cases);
  add_note(cases[0], nullptr, 10);
  add_note(cases[1], nullptr, 11);
  add_note(graph, &by_case, 9);

  cudaGraphExec_t executable;
  cudaGraphInstantiate(&executable, graph, 0);
  for (const int start : {3, 0, 1}) {
    *value = start;
    cudaGraphLaunch(executable, stream);
    cudaStreamSynchronize(stream);
    show();
  }

  // Another value in the body of the loop.
  int four = 4;
  void* arguments[] = {&four};
  cudaKernelNodeParams changed = {
      reinterpret_cast<void*>(note), dim3(1), dim3(1), 0, arguments, nullptr};
  cudaGraphExecKernelNodeSetParams(executable, in_loop, &changed);
  *value = 2;
  cudaGraphLaunch(executable, stream);
  cudaStreamSynchronize(stream);
  show();

  // A second node for a condition; sizes that do not fit; a host function in a body.
  cudaGraphNodeParams refused = {cudaGraphNodeTypeConditional};
  refused.conditional.handle = of_switch;
  refused.conditional.size = 1;
  cudaGraphNode_t node;
  const cudaError_t again = cudaGraphAddNode(&node, graph, nullptr, 0, &refused);
  cudaGraphConditionalHandle other;
  cudaGraphConditionalHandleCreate(&other, graph, 0, cudaGraphCondAssignDefault);
  refused.conditional.handle = other;
  refused.conditional.type = cudaGraphCondTypeWhile;
  refused.conditional.size = 2;
  const cudaError_t size = cudaGraphAddNode(&node, graph, nullptr, 0, &refused);
  cudaHostNodeParams host = {[](void*) {}, nullptr};
  cudaGraphAddHostNode(&node, cases[1], nullptr, 0, &host);
  cudaGraphExec_t none;
  const cudaError_t function = cudaGraphInstantiate(&none, graph, 0);
  cudaGraphNodeType type;
  cudaGraphNodeGetType(by_case, &type);
  std::printf("%d %d %d %d %d\n", again, size, function, type, same == branches[1]);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
  cudaFree(value);
}
