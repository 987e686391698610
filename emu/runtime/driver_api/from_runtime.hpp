#pragma once
// Calls of the driver API that are made of the runtime's.

#define RUNG_EMU_WITHOUT_VERSIONS
#include "cuda.h"
#include "emu/runtime/runtime.hpp"

namespace rung::emu::driver_api {

/// The numbers are the same on all three sides.
inline CUresult to_result(cudaError_t error) { return static_cast<CUresult>(error); }
inline CUresult to_result(cuda::Result result) { return static_cast<CUresult>(result); }

inline cuda::Stream driver_stream(CUstream stream) {
  return reinterpret_cast<cuda::Stream>(stream);
}

}  // namespace rung::emu::driver_api
