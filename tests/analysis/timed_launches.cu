// Times every kernel launch of a program, when linked into it with nvcc 13:
// nvcc -arch=sm_90 -Xlinker --wrap=__cudaLaunchKernel,--wrap=__cudaGetKernel,--wrap=cudaMalloc
// Each repeat starts with the memory that the first launch found, so that kernels that change their
// input (insertions, counters, searches) do the same work again.
// Prints a line of JSON per launch with minimum and median of 20 repeats in microseconds: "cold",
// after reading 256 MB to evict L2; "warm", after the same launch; and "in_a_row", the mean of 20
// back-to-back launches.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

// nvcc 13 compiles <<<>>> to these calls: one for the kernel's handle, once, and one per launch.
extern "C" cudaError_t __real___cudaGetKernel(cudaKernel_t* handle, const void* kernel);
extern "C" cudaError_t __real___cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block,
                                                 void** arguments, std::size_t shared,
                                                 cudaStream_t stream);
extern "C" cudaError_t __real_cudaMalloc(void** data, std::size_t bytes);

// The SCALE that the program is built with, copied to the output.
#ifndef SCALE
#define SCALE 1
#endif

namespace {

constexpr int max_repeats = 20;
constexpr double long_microseconds = 1e4;  // launches longer than this repeat 4 times
int repeats = max_repeats;                 // of the current launch
constexpr int evicting_bytes = 256 << 20;  // larger than the L2 of any GPU

__global__ void read_all(const float4* x, int count, float* result) {
  float sum = 0;
  const int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) sum += x[i].x;
  if (sum == 1.5f) *result = sum;
}

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

struct Allocation {
  void* data;
  std::size_t bytes;
  void* copy;  // of what the current launch found
};

std::vector<Allocation>& allocations() {
  static std::vector<Allocation> all;
  return all;
}

void copy_on_gpu(void* to, const void* from, std::size_t bytes) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice));
}

void save_memory() {
  for (Allocation& one : allocations()) {
    if (one.copy == nullptr) check(__real_cudaMalloc(&one.copy, one.bytes));
    copy_on_gpu(one.copy, one.data, one.bytes);
  }
}

void restore_memory() {
  for (const Allocation& one : allocations()) copy_on_gpu(one.data, one.copy, one.bytes);
}

/// Keeps the GPU busy until the launches after it are queued.
__global__ void wait_microseconds(int count) {
  for (int i = 0; i < count; ++i) __nanosleep(1000);
}

std::map<cudaKernel_t, const char*>& names() {
  static std::map<cudaKernel_t, const char*> all;
  return all;
}

void start(const void* kernel, dim3 grid, dim3 block, void** arguments) {
  check(cudaLaunchKernel(kernel, grid, block, arguments, 0, nullptr));
}

void evict_all() {
  restore_memory();
  static float4* scratch = [] {
    float4* data;
    check(__real_cudaMalloc(reinterpret_cast<void**>(&data), evicting_bytes));
    check(cudaMemset(data, 0, evicting_bytes));
    return data;
  }();
  int count = evicting_bytes / 16;
  float* result = reinterpret_cast<float*>(scratch);
  void* arguments[] = {&scratch, &count, &result};
  start(reinterpret_cast<const void*>(read_all), dim3(1056), dim3(512), arguments);
}

void pause() {
  int count = 40;
  void* arguments[] = {&count};
  start(reinterpret_cast<const void*>(wait_microseconds), dim3(1), dim3(1), arguments);
}

template <class Before, class Timed>
double microseconds(const Before& before, const Timed& timed) {
  static cudaEvent_t events[2] = {};
  if (events[0] == nullptr) {
    for (cudaEvent_t& event : events) check(cudaEventCreate(&event));
  }
  before();
  check(cudaEventRecord(events[0]));
  timed();
  check(cudaEventRecord(events[1]));
  check(cudaEventSynchronize(events[1]));
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, events[0], events[1]));
  return 1000.0 * milliseconds;
}

template <class Before, class Timed>
void report(const char* what, const Before& before, const Timed& timed) {
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) times.push_back(microseconds(before, timed));
  std::sort(times.begin(), times.end());
  std::printf(", \"%s\": [%.3f, %.3f]", what, times.front(),
              (times[repeats / 2 - 1] + times[repeats / 2]) / 2);
}

}  // namespace

extern "C" cudaError_t __wrap_cudaMalloc(void** data, std::size_t bytes) {
  const cudaError_t error = __real_cudaMalloc(data, bytes);
  if (error == cudaSuccess) allocations().push_back({*data, bytes, nullptr});
  return error;
}

extern "C" cudaError_t __wrap___cudaGetKernel(cudaKernel_t* handle, const void* kernel) {
  const cudaError_t error = __real___cudaGetKernel(handle, kernel);
  const char* symbol = "";
  check(cudaFuncGetName(&symbol, kernel));
  names()[*handle] = symbol;
  return error;
}

extern "C" cudaError_t __wrap___cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block,
                                                 void** arguments, std::size_t shared,
                                                 cudaStream_t stream) {
  const auto launch = [&] {
    check(__real___cudaLaunchKernel(kernel, grid, block, arguments, shared, stream));
  };
  save_memory();
  launch();
  check(cudaDeviceSynchronize());
  repeats = microseconds([] {}, launch) < long_microseconds ? max_repeats : 4;
  std::printf("{\"symbol\": \"%s\", \"scale\": %d", names()[kernel], SCALE);
  std::printf(", \"grid\": [%u, %u], \"block\": [%u, %u]", grid.x, grid.y, block.x, block.y);
  report("cold", evict_all, launch);
  report("warm", pause, launch);
  const double together = microseconds(pause, [&] {
    for (int i = 0; i < repeats; ++i) launch();
  });
  std::printf(", \"in_a_row\": %.3f}\n", together / repeats);
  return cudaSuccess;
}
