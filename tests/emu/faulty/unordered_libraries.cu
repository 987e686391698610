// Calls of libraries, memory of graphs, flags of kernels and threads of the host, as in unordered.cu.
//   unordered_libraries right|wrong [FUNCTION]
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <curand.h>
#include <cusparse.h>

#include <cstdio>
#include <string>
#include <thread>

constexpr int side = 32, n = side * side, bytes = n * sizeof(float), threads = 128,
              blocks = n / threads;
__device__ int place() { return blockIdx.x * blockDim.x + threadIdx.x; }
__global__ void fill(float* to, float value) { to[place()] = value; }
__global__ void add(float* to, const float* from) { to[place()] = from[place()] + 1; }
__global__ void store_flag(float* data, int* flag, bool releases) {
  data[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x != 0) return;
  if (releases) asm volatile("st.release.gpu.s32 [%0], 1;" ::"l"(flag) : "memory");
  if (!releases) asm volatile("st.relaxed.gpu.s32 [%0], 1;" ::"l"(flag) : "memory");
}
__global__ void await_flag(float* to, const float* data, int* flag) {
  int seen = 0;
  while (seen == 0)
    asm volatile("ld.acquire.gpu.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
  to[threadIdx.x] = data[threadIdx.x];
}

float *a, *b, *c;
cudaStream_t s, t;
cudaEvent_t event;
cublasHandle_t blas;
const float one = 1, zero = 0;

void link(cudaStream_t from, cudaStream_t to) {
  cudaEventRecord(event, from);
  cudaStreamWaitEvent(to, event, 0);
}
void multiply() {
  constexpr auto op = CUBLAS_OP_N;
  cublasSgemm(blas, op, op, side, side, side, &one, a, side, b, side, &zero, c, side);  // unordered
}

void operand_of_a_product(bool right) {
  fill<<<blocks, threads, 0, t>>>(a, 1);
  if (right) link(t, s);
  multiply();
}
void result_of_a_product(bool right) {
  cublasSscal(blas, n, &one, c, 1);
  if (right) link(s, t);
  add<<<blocks, threads, 0, t>>>(b, c);  // unordered
}
// The host waits for a result in its memory, and for nothing else.
void result_for_the_host(bool right) {
  float sum = 0;
  fill<<<blocks, threads, 0, s>>>(a, 1);
  if (right) cublasSasum(blas, n, a, 1, &sum);
  if (!right) cublasSscal(blas, n, &one, a, 1);
  add<<<blocks, threads, 0, t>>>(b, a);  // unordered
}
void product_in_a_graph(bool right) {
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  link(s, t);
  cublasSscal(blas, n, &one, a, 1);  // unordered
  if (right) link(s, t);
  add<<<blocks, threads, 0, t>>>(b, a);
  link(t, s);
  cudaStreamEndCapture(s, &graph);
  cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphLaunch(executable, s);
  cudaDeviceSynchronize();
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}
void random_numbers(bool right) {
  curandGenerator_t generator;
  curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT);
  curandSetStream(generator, s);
  curandGenerateUniform(generator, a, n);
  add<<<blocks, threads, 0, right ? s : t>>>(b, a);  // unordered
  curandDestroyGenerator(generator);
}
void sparse_vector(bool right) {
  cusparseHandle_t sparse;
  cusparseSpVecDescr_t vector;
  cusparseDnVecDescr_t dense;
  cusparseCreate(&sparse);
  cusparseSetStream(sparse, s);
  cudaMemset(c, 0, bytes);  // indices
  cudaDeviceSynchronize();
  cusparseCreateSpVec(&vector, n, 1, c, b, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                      CUDA_R_32F);
  cusparseCreateDnVec(&dense, n, a, CUDA_R_32F);
  cusparseScatter(sparse, vector, dense);
  if (right) cudaStreamSynchronize(s);
  fill<<<blocks, threads, 0, t>>>(a, 1);  // unordered
  cudaDeviceSynchronize();
  cusparseDestroySpVec(vector);
  cusparseDestroyDnVec(dense);
  cusparseDestroy(sparse);
}

void memory_of_a_graph(bool right) {
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaGraphCreate(&graph, 0);
  cudaMemAllocNodeParams memory = {};
  memory.poolProps.allocType = cudaMemAllocationTypePinned;
  memory.poolProps.location.type = cudaMemLocationTypeDevice;
  memory.bytesize = bytes;
  cudaGraphNode_t allocation, fills, reads, frees;
  cudaGraphAddMemAllocNode(&allocation, graph, nullptr, 0, &memory);
  cudaMemsetParams set = {memory.dptr, 0, 0, 4, n, 1};
  cudaGraphAddMemsetNode(&fills, graph, &allocation, 1, &set);
  constexpr auto kind = cudaMemcpyDeviceToDevice;
  cudaGraphAddMemcpyNode1D(&reads, graph, &fills, 1, a, memory.dptr, bytes, kind);
  cudaGraphAddMemFreeNode(&frees, graph, right ? &reads : &fills, 1, memory.dptr);  // unordered
  cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphLaunch(executable, s);
  cudaDeviceSynchronize();
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}
void captured_free(bool right) {
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  float* memory;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  cudaMallocAsync(&memory, bytes, s);
  link(s, t);
  fill<<<blocks, threads, 0, t>>>(memory, 1);
  if (right) link(t, s);
  cudaFreeAsync(memory, s);  // unordered
  link(t, s);
  cudaStreamEndCapture(s, &graph);
  cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphLaunch(executable, s);
  cudaDeviceSynchronize();
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}
// A thread may get the std::thread::id of one that has ended, but not its stream.
void streams_of_two_threads(bool right) {
  std::thread([] {
    fill<<<blocks, threads, 0, cudaStreamPerThread>>>(a, 1);
    cudaEventRecord(event, cudaStreamPerThread);
  }).join();
  std::thread([right] {
    if (right) cudaStreamWaitEvent(cudaStreamPerThread, event, 0);
    add<<<blocks, threads, 0, cudaStreamPerThread>>>(b, a);  // unordered
  }).join();
}
void flag_without_release(bool right) {
  auto* const flag = reinterpret_cast<int*>(c);
  cudaMemset(c, 0, bytes);
  cudaDeviceSynchronize();
  store_flag<<<1, threads, 0, s>>>(a, flag, right);
  await_flag<<<1, threads, 0, t>>>(b, a, flag);  // unordered
}

struct Case {
  const char* name;
  void (*run)(bool right);
};
#define CASE(name) \
  Case { #name, name }
const Case cases[] = {CASE(operand_of_a_product),   CASE(result_of_a_product),
                      CASE(result_for_the_host),    CASE(product_in_a_graph),
                      CASE(random_numbers),         CASE(sparse_vector),
                      CASE(memory_of_a_graph),      CASE(captured_free),
                      CASE(streams_of_two_threads), CASE(flag_without_release)};

int main(int count, char** arguments) {
  const bool right = count > 1 && std::string(arguments[1]) == "right";
  const std::string only = count > 2 ? arguments[2] : "";
  for (float** memory : {&a, &b, &c}) {
    cudaMalloc(memory, bytes);
    cudaMemset(*memory, 0, bytes);
  }
  for (cudaStream_t* stream : {&s, &t}) cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  cublasCreate(&blas);
  cublasSetStream(blas, s);
  for (const Case& each : cases) {
    if (!only.empty() && only != each.name) continue;
    cudaDeviceSynchronize();
    each.run(right);
    if (cudaDeviceSynchronize() != cudaSuccess) std::printf("%s failed\n", each.name);
  }
  cublasDestroy(blas);
  for (cudaStream_t stream : {s, t}) cudaStreamDestroy(stream);
  cudaEventDestroy(event);
  for (float* memory : {a, b, c}) cudaFree(memory);
}
