// Programs whose results depend on the order of threads, blocks or streams, unless `right` is set.
//   schedules right|wrong lost_update|missing_barrier|streams|graph|last_writer
#include <cuda_runtime.h>

#include <cstdio>
#include <string>

constexpr int n = 256;

__global__ void count_plainly(int* counter) { *counter += 1; }
__global__ void count(int* counter) { atomicAdd(counter, 1); }
__global__ void reverse(int* data, bool right) {
  __shared__ int tile[n];
  tile[threadIdx.x] = data[threadIdx.x];
  if (right) __syncthreads();
  data[threadIdx.x] = tile[n - 1 - threadIdx.x];
}
__global__ void add(int* to, const int* from) { to[threadIdx.x] = from[threadIdx.x] + 1; }
__global__ void set(int* to, int value) { to[threadIdx.x] = value; }
__global__ void number(int* last) { atomicExch(last, blockIdx.x); }

int *x, *y;
cudaStream_t a, b;
cudaEvent_t event;

void lost_update(bool right) {
  if (right) {
    count<<<16, 1>>>(x);
  } else {
    count_plainly<<<16, 1>>>(x);
  }
}
void missing_barrier(bool right) { reverse<<<1, n>>>(x, right); }
void streams(bool right) {
  set<<<1, n, 0, a>>>(x, 7);
  cudaEventRecord(event, a);
  if (right) cudaStreamWaitEvent(b, event, 0);
  add<<<1, n, 0, b>>>(y, x);
}
void graph(bool right) {
  cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
  cudaEventRecord(event, a);
  cudaStreamWaitEvent(b, event, 0);
  set<<<1, n, 0, a>>>(x, 7);
  add<<<1, n, 0, right ? a : b>>>(y, x);
  cudaEventRecord(event, b);
  cudaStreamWaitEvent(a, event, 0);
  cudaGraph_t made;
  cudaStreamEndCapture(a, &made);
  cudaGraphExec_t executable;
  cudaGraphInstantiate(&executable, made, 0);
  cudaGraphLaunch(executable, a);
  cudaStreamSynchronize(a);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(made);
}
// No race, but the result depends on the order of blocks.
void last_writer(bool right) { number<<<right ? 1 : 16, 1>>>(x); }

int main(int count, char** arguments) {
  const bool right = count > 1 && std::string(arguments[1]) == "right";
  const std::string which = count > 2 ? arguments[2] : "";
  int host[n] = {};
  for (int i = 0; i < n; ++i) host[i] = which == "missing_barrier" ? i : 0;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&y, sizeof host);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemset(y, 0, sizeof host);
  cudaStreamCreate(&a);
  cudaStreamCreate(&b);
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  if (which == "lost_update") lost_update(right);
  if (which == "missing_barrier") missing_barrier(right);
  if (which == "streams") streams(right);
  if (which == "graph") graph(right);
  if (which == "last_writer") last_writer(right);
  cudaDeviceSynchronize();
  cudaMemcpy(host, which == "streams" || which == "graph" ? y : x, sizeof host,
             cudaMemcpyDeviceToHost);
  long sum = 0;
  for (int i = 0; i < n; ++i) sum += (i + 1L) * host[i];
  std::printf("%ld\n", sum);
  cudaFree(x);
  cudaFree(y);
  cudaStreamDestroy(a);
  cudaStreamDestroy(b);
  cudaEventDestroy(event);
}
