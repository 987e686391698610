#pragma once
// Common code of the attacks on a real GPU: the driver, kernels that misbehave, and the report of
// failures.

#include <sys/resource.h>

#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/cuda_driver/api.hpp"
#include "core/cuda_driver/real_driver.hpp"
#include "product.hpp"
#include "rung/rung.hpp"

namespace rung::cuda {

/// Thrown to fail an attack.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void expect(bool holds, const std::string& what) {
  if (!holds) throw Failure(what);
}

inline const DriverApi& driver_api() {
  const RealDriver real = real_driver();
  if (real.api == nullptr) throw std::runtime_error(real.why_not);
  return *real.api;
}

inline void ok(Result result, const char* call) { demand(driver_api(), result, call); }
#define RUNG_OK(call, ...) ok(driver_api().call(__VA_ARGS__), #call)

/// Retains the primary context and makes it current.
inline Context use_primary() {
  Context context = nullptr;
  RUNG_OK(cuDevicePrimaryCtxRetain, &context, 0);
  RUNG_OK(cuCtxSetCurrent, context);
  return context;
}

inline Stream new_stream() {
  Stream stream = nullptr;
  RUNG_OK(cuStreamCreate, &stream, stream_non_blocking);
  return stream;
}

inline void synchronise() { RUNG_OK(cuCtxSynchronize); }

/// spin waits for this many nanoseconds; trap ends the context.
inline constexpr const char* misbehaving_kernels = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry spin(.param .u64 nanoseconds)
{
  .reg .u64 %begin, %now, %wait;
  .reg .pred %more;
  ld.param.u64 %wait, [nanoseconds];
  mov.u64 %begin, %globaltimer;
again:
  mov.u64 %now, %globaltimer;
  sub.u64 %now, %now, %begin;
  setp.lt.u64 %more, %now, %wait;
  @%more bra again;
  ret;
}
.visible .entry die()
{
  trap;
}
)";

/// Loads one of these kernels into the current context.
inline Function misbehaving(const char* name) {
  Module module = nullptr;
  Function function = nullptr;
  RUNG_OK(cuModuleLoadData, &module, misbehaving_kernels);
  RUNG_OK(cuModuleGetFunction, &function, module, name);
  return function;
}

inline void launch(Function function, Stream stream, void** arguments = nullptr) {
  RUNG_OK(cuLaunchKernel, function, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr);
}

inline void spin(Function function, Stream stream, std::uint64_t milliseconds) {
  std::uint64_t nanoseconds = milliseconds * 1'000'000;
  void* arguments[] = {&nanoseconds};
  launch(function, stream, arguments);
}

/// The message of an exception thrown by f; "" if it does not throw.
template <class F>
std::string error_of(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  } catch (const std::bad_alloc&) {
    return "bad_alloc";
  }
  return "";
}

inline std::int64_t free_device_bytes() {
  std::size_t free = 0, total = 0;
  RUNG_OK(cuMemGetInfo, &free, &total);
  return static_cast<std::int64_t>(free);
}

/// Resident memory of this process, in bytes.
inline std::int64_t resident_bytes() {
  long pages = 0, resident = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = 0;
  if (file != nullptr) std::fclose(file);
  return resident * 4096;
}

// The attacks. Each runs in its own process.
void memory_filled();
void sticky_error();
void contexts_come_and_go();
void context_destroyed();
void device_reset();
void stream_handles_reused();
void threads_on_one_stream();
void threads_with_two_contexts();
void captures_of_others();
void first_call_is_captured();
void graph_after_release();
void graphs_in_parallel();
void a_million_calls();
void every_alignment();
void fork_after_use();
void exit_in_flight();
void calls_at_exit();

}  // namespace rung::cuda
