// The last error of each thread, and the names of errors.

#include <fmt/format.h>

#include "cuda_runtime_api.h"
#include "emu/runtime/report.hpp"
#include "emu/runtime/runtime.hpp"

namespace rung::emu {
namespace {

thread_local cudaError_t last_error = cudaSuccess;

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

cudaError_t finish(cudaError_t error) {
  // "Not ready" is a result, not an error.
  if (error != cudaSuccess && error != cudaErrorNotReady) last_error = error;
  if (is_sticky(error)) Runtime::get().set_lost();
  return error;
}

cudaError_t finish(cuda::Result result) {
  const cudaError_t error = finish(to_error(result));
  if (error == cudaSuccess || error == cudaErrorNotReady) return error;
  if (const std::string reason = driver_message(); !reason.empty()) {
    report_error(fmt::format("{}: {}", cudaGetErrorName(error), reason));
  }
  return error;
}

}  // namespace rung::emu

using namespace rung::emu;

extern "C" {

cudaError_t cudaGetLastError(void) {
  const cudaError_t error = last_error;
  if (!is_sticky(error)) last_error = cudaSuccess;
  return error;
}

cudaError_t cudaPeekAtLastError(void) { return last_error; }

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
