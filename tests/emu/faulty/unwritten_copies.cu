// Copies to the host of memory that nothing has written, and copies that are right although they take
// bytes that nothing has written. A condition of a graph that nothing has set.
//   unwritten_copies NAME
#include <cstdio>
#include <string>
#include <vector>

struct Padded {
  double value;
  float weight;
};

__global__ void square(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * x[i];
}
__global__ void keep_even(const int* x, int* y, int* count, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] % 2 == 0) y[atomicAdd(count, 1)] = x[i];
}
__global__ void inner(const float* x, float* y, int width) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, c = i % width, r = i / width;
  if (c == 0 || r == 0 || c == width - 1 || r == width - 1) return;
  y[i] = x[i - 1] + x[i + 1];
}
__global__ void set(Padded* to) { to[threadIdx.x] = {1.0, 2.0f}; }

__global__ void decide(cudaGraphConditionalHandle condition) {
  cudaGraphSetConditional(condition, 1);
}

// The first launch sets the condition after the node has read it.
void launch_branch(bool is_set_before) {
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
  cudaGraphConditionalHandle condition;
  cudaGraphConditionalHandleCreate(&condition, graph);
  void* arguments[] = {&condition};
  const cudaKernelNodeParams kernel = {(void*)decide, 1, 1, 0, arguments, nullptr};
  cudaGraphNodeParams branch = {cudaGraphNodeTypeConditional};
  branch.conditional.handle = condition;
  branch.conditional.size = 1;
  cudaGraphNode_t first, second;
  if (is_set_before) cudaGraphAddKernelNode(&first, graph, nullptr, 0, &kernel);
  cudaGraphAddNode(&second, graph, &first, is_set_before, &branch);
  if (!is_set_before) cudaGraphAddKernelNode(&first, graph, &second, 1, &kernel);
  cudaGraphExec_t executable;
  cudaGraphInstantiate(&executable, graph, 0);
  for (int i = 0; i < 2; ++i) cudaGraphLaunch(executable, 0);
  cudaDeviceSynchronize();
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}

constexpr int n = 1000, threads = 256;

int main(int, char** arguments) {
  const std::string name = arguments[1];
  std::vector<float> x(1024, 2), y(1024);
  std::vector<int> integers(1024), kept(1024);
  for (int i = 0; i < 1024; ++i) integers[i] = i;
  float *a, *b, *result;
  int *input, *output, *count;
  Padded* padded;
  cudaMalloc(&a, 4096);
  cudaMalloc(&b, 4096);
  cudaMalloc(&result, 4096);
  for (int** each : {&input, &output, &count}) cudaMalloc(each, 4096);
  cudaMalloc(&padded, sizeof(Padded));
  cudaMemcpy(a, x.data(), 4096, cudaMemcpyHostToDevice);
  cudaMemcpy(input, integers.data(), 4096, cudaMemcpyHostToDevice);
  cudaMemset(count, 0, 4);
  if (name == "wrong_buffer") {
    square<<<4, threads>>>(a, b, n);
    cudaMemcpy(y.data(), result, n * sizeof(float), cudaMemcpyDeviceToHost);
  } else if (name == "too_few_blocks") {
    square<<<n / threads, threads>>>(a, b, n);
    cudaMemcpy(y.data(), b, n * sizeof(float), cudaMemcpyDeviceToHost);
  } else if (name == "no_thread_writes") {
    square<<<4, threads>>>(a, b, 0);
    cudaMemcpyAsync(y.data(), b, n * sizeof(float), cudaMemcpyDeviceToHost);
  } else if (name == "compacted") {
    keep_even<<<4, threads>>>(input, output, count, 1024);
    cudaMemcpy(kept.data(), output, 4096, cudaMemcpyDeviceToHost);
  } else if (name == "border") {
    inner<<<4, threads>>>(a, b, 32);
    cudaMemcpy(y.data(), b, 4096, cudaMemcpyDeviceToHost);
  } else if (name == "padding") {
    Padded host;
    set<<<1, 1>>>(padded);
    cudaMemcpy(&host, padded, sizeof host, cudaMemcpyDeviceToHost);
  } else if (name == "condition" || name == "condition_set") {
    launch_branch(name == "condition_set");
  } else if (name == "bandwidth") {
    cudaMemcpy(y.data(), b, 4096, cudaMemcpyDeviceToHost);
  }
  cudaDeviceSynchronize();
  for (float* each : {a, b, result}) cudaFree(each);
  for (int* each : {input, output, count}) cudaFree(each);
  cudaFree(padded);
}
