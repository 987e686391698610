// The last error of each thread, and the names of errors.

#include <fmt/format.h>

#include "cuda_runtime_api.h"
#include "emu/runtime/failed_calls.hpp"
#include "emu/runtime/memory_history.hpp"
#include "emu/runtime/report.hpp"
#include "emu/runtime/runtime.hpp"

namespace rung::emu {
namespace {

thread_local cudaError_t last_error = cudaSuccess;

// "Not ready" is a result, not an error.
bool is_failure(cudaError_t error) { return error != cudaSuccess && error != cudaErrorNotReady; }

// These errors destroy the context: every later call returns them until the device is reset (CUDA
// Runtime API, "Error Handling").
bool is_sticky(cudaError_t error) {
  return (error >= cudaErrorIllegalAddress && error <= cudaErrorLaunchTimeout &&
          error != cudaErrorLaunchOutOfResources) ||
         error == cudaErrorAssert ||
         (error >= cudaErrorHardwareStackError && error <= cudaErrorLaunchFailure);
}

}  // namespace

void clear_last_error() { last_error = cudaSuccess; }

cudaError_t fail(cudaError_t error, const std::string& reason, const std::string& kernel,
                 const CallSite& site) {
  last_error = error;
  if (is_sticky(error)) Runtime::get().set_lost();
  // After a fault, which is a hazard of the kernel, every call fails.
  if (Runtime::get().is_lost()) return error;
  note_failed_call(
      {cudaGetErrorName(error), reason.empty() ? cudaGetErrorString(error) : reason, kernel, {}},
      site);
  return error;
}

cudaError_t finish(cudaError_t error, const std::string& reason) {
  if (!is_failure(error)) return error;
  if (!reason.empty()) report_error(fmt::format("{}: {}", cudaGetErrorName(error), reason));
  return fail(error, reason, {}, CallSite::here());
}

cudaError_t finish(cuda::Result result) {
  const cudaError_t error = to_error(result);
  return is_failure(error) ? finish(error, with_history(driver_message())) : error;
}

}  // namespace rung::emu

using namespace rung::emu;

extern "C" {

cudaError_t cudaGetLastError(void) {
  ask_for_failed_calls();
  const cudaError_t error = last_error;
  if (!is_sticky(error)) last_error = cudaSuccess;
  return error;
}

cudaError_t cudaPeekAtLastError(void) {
  ask_for_failed_calls();
  return last_error;
}

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
#define RUNG_EMU_ERROR(name, value, text) \
  case name: return #name;
#include "rung_emu/errors.inc"
#undef RUNG_EMU_ERROR
  }
  return "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
#define RUNG_EMU_ERROR(name, value, text) \
  case name: return text;
#include "rung_emu/errors.inc"
#undef RUNG_EMU_ERROR
  }
  return "unrecognized error code";
}

}  // extern "C"
