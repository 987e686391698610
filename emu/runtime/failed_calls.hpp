#pragma once
// Calls that failed and whose error the program has not asked for: at its end they are hazards.

#include <string>
#include <vector>

#include "cuda_runtime_api.h"
#include "emu/runtime/call_site.hpp"
#include "vgpu/model/hazard.hpp"

namespace rung::emu {

struct FailedCall {
  std::string error;   // "cudaErrorInvalidValue"
  std::string reason;  // empty if no more is known than the error
  std::string kernel;  // of a launch; otherwise empty
  std::string name;    // of the function, where the call site does not know it
};

/// Returns the error of a call of the runtime API after recording it as this thread's last one and noting the
/// call. `kernel` is empty for a call that is no launch.
cudaError_t fail(cudaError_t error, const std::string& reason, const std::string& kernel,
                 const CallSite& site);

/// Called where an error is returned to the program.
void note_failed_call(FailedCall call, CallSite site);

/// The program asks for this thread's errors (cudaGetLastError): it knows of its failed calls.
void ask_for_failed_calls();

/// The calls so far whose results the program discards and whose errors it has not asked for, as far as its
/// source is there to read. Forgets them.
std::vector<vgpu::Hazard> take_unchecked_calls();

}  // namespace rung::emu
