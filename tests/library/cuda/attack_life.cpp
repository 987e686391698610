// Attacks on the library's environment: contexts, the device, the process.

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "attack.hpp"

namespace rung::cuda {
namespace {

constexpr ProductShape split = {40, 24, 8192};
constexpr ProductShape copied = {.m = 65, .n = 33, .k = 129, .placement = {1, 1}};

/// Solves problems in the current context that use kernels, a workspace and the pool.
void compute(Stream stream) {
  Product<float, float> in_parts(driver_api(), split);
  Product<bfloat16, float> unaligned(driver_api(), copied);
  Product<bfloat16, float> large(driver_api(),
                                 {.m = 33 * 8192, .n = 8, .k = 1, .placement = {0, 1}});
  DotProduct<float, float> sum(driver_api(), 100'000);
  in_parts.run(CudaStream(stream));
  unaligned.run(CudaStream(stream));
  large.run(CudaStream(stream));
  sum.run(CudaStream(stream));
  expect(sum.returned(CudaStream(stream)) == sum.expected(), "a wrong dot");
  synchronise();
  expect(in_parts.is_right() && unaligned.is_right() && large.is_right() && sum.is_right(),
         "a wrong result");
}

/// Allocates the result of an empty dot product in a context.
float* result_in_memory() {
  DevicePointer pointer = 0;
  RUNG_OK(cuMemAlloc, &pointer, sizeof(float));
  return reinterpret_cast<float*>(pointer);
}

/// The library's message for a call that needs only the driver.
std::string refusal(float* result) {
  const float* const nothing = nullptr;
  return error_of([&] { dot(0, nothing, 1, nothing, 1, result, CudaStream(nullptr)); });
}

float* result_at_exit = nullptr;

/// Expects a right result, or a refusal because the driver has shut down.
void call_at_exit() {
  const std::string error = refusal(result_at_exit);
  const std::string other = error_of([] { release_cuda_workspace(CudaStream(nullptr)); });
  std::printf("(%s) ", error.empty() ? "no error" : error.c_str());
  std::fflush(stdout);
  const bool is_clear = error.empty() || error.find("CUDA_ERROR_DEINITIALIZED") != error.npos;
  const bool is_same = other.empty() == error.empty();
  if (!is_clear || !is_same) _exit(1);
}

struct CallsAtExit {
  ~CallsAtExit() { call_at_exit(); }
};

}  // namespace

void sticky_error() {
  use_primary();
  compute(nullptr);
  float* const result = result_in_memory();
  launch(misbehaving("die"), nullptr);
  expect(driver_api().cuCtxSynchronize() != Result::success, "the kernel did not trap");
  const std::string error = refusal(result);
  std::printf("(%s) ", error.c_str());
  expect(error.find("CUDA_ERROR_") != error.npos, "no error");
  expect(error_of([] { release_cuda_workspace(CudaStream(nullptr)); }) != "", "no error");
}

void contexts_come_and_go() {
  use_primary();
  compute(nullptr);
  std::int64_t device = 0, host = 0;
  for (int i = 0; i < 60; ++i) {
    if (i == 20) device = free_device_bytes(), host = resident_bytes();
    Context context = nullptr;
    RUNG_OK(cuCtxCreate, &context, 0, 0);
    compute(i % 2 == 0 ? nullptr : new_stream());
    RUNG_OK(cuCtxDestroy, context);
  }
  const std::int64_t device_grown = device - free_device_bytes();
  const std::int64_t host_grown = resident_bytes() - host;
  std::printf("(40 contexts: device %+lld bytes, host %+lld) ",
              static_cast<long long>(device_grown), static_cast<long long>(host_grown));
  compute(nullptr);
  expect(device_grown < 64 << 20, "growth");
}

void context_destroyed() {
  use_primary();
  Context context = nullptr;
  RUNG_OK(cuCtxCreate, &context, 0, 0);
  compute(nullptr);
  RUNG_OK(cuCtxDestroy, context);
  compute(nullptr);  // in the primary context
  for (int i = 0; i < 5; ++i) {
    RUNG_OK(cuCtxCreate, &context, 0, 0);
    compute(nullptr);
    RUNG_OK(cuCtxDestroy, context);
  }
}

void device_reset() {
  use_primary();
  result_at_exit = result_in_memory();
  for (int i = 0; i < 5; ++i) {
    compute(nullptr);
    RUNG_OK(cuDevicePrimaryCtxReset, 0);
    if (i == 0) {
      const std::string error = refusal(result_at_exit);
      std::printf("(%s) ", error.c_str());
      expect(error.find("CUDA_ERROR_CONTEXT_IS_DESTROYED") != error.npos, "no clear error");
    }
    use_primary();
  }
  compute(nullptr);
}

void fork_after_use() {
  use_primary();
  compute(nullptr);
  result_at_exit = result_in_memory();
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    const std::string error = refusal(result_at_exit);
    const std::string other = error_of([] { release_cuda_workspace(CudaStream(nullptr)); });
    _exit(error.find("fork()") != error.npos && other == error ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  expect(WIFEXITED(status) && WEXITSTATUS(status) == 0,
         WIFSIGNALED(status) ? "the child died or hung" : "the child got no clear error");
  compute(nullptr);
}

void exit_in_flight() {
  use_primary();
  auto* const problem = new Product<float, float>(driver_api(), split);
  const Stream stream = new_stream();
  spin(misbehaving("spin"), stream, 500);
  for (int i = 0; i < 100; ++i) problem->run(CudaStream(stream));
  std::exit(0);
}

void calls_at_exit() {
  static const CallsAtExit before_the_driver;
  std::atexit(call_at_exit);
  use_primary();
  compute(nullptr);
  result_at_exit = result_in_memory();
  static const CallsAtExit after_the_driver;
  std::atexit(call_at_exit);
}

}  // namespace rung::cuda
