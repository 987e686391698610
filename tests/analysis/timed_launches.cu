// Times every launch of a program that is linked with it by nvcc 13:
// nvcc -arch=sm_90 -Xlinker --wrap=__cudaLaunchKernel -Xlinker --wrap=__cudaGetKernel
// A line of JSON for each, the minimum and the median of 20 in microseconds: "cold", after 256 MB
// were read, as in a program that does something else in between; "warm", after the same launch;
// "in_a_row", the mean of 20 without a pause.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

// What nvcc writes for <<<>>>: the handle of a kernel, once, and its launch.
extern "C" cudaError_t __real___cudaGetKernel(cudaKernel_t* handle, const void* kernel);
extern "C" cudaError_t __real___cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block,
                                                 void** arguments, std::size_t shared,
                                                 cudaStream_t stream);

// The scale of the program, for the output.
#ifndef SCALE
#define SCALE 1
#endif

namespace {

constexpr int most_repeats = 20;
constexpr double long_microseconds = 1e4;  // of which 4 are enough
int repeats = most_repeats;                // of the present launch
constexpr int evicting_bytes = 256 << 20;  // more than any L2 holds

__global__ void read_all(const float4* x, int count, float* result) {
  float sum = 0;
  const int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) sum += x[i].x;
  if (sum == 1.5f) *result = sum;
}

/// So that the launches behind it are queued before it ends.
__global__ void wait_microseconds(int count) {
  for (int i = 0; i < count; ++i) __nanosleep(1000);
}

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

std::map<cudaKernel_t, const char*>& names() {
  static std::map<cudaKernel_t, const char*> all;
  return all;
}

void start(const void* kernel, dim3 grid, dim3 block, void** arguments) {
  check(cudaLaunchKernel(kernel, grid, block, arguments, 0, nullptr));
}

void evict_all() {
  static float4* scratch = [] {
    float4* data;
    check(cudaMalloc(&data, evicting_bytes));
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
  launch();
  check(cudaDeviceSynchronize());
  repeats = microseconds([] {}, launch) < long_microseconds ? most_repeats : 4;
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
