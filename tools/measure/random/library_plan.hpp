#pragma once
// The configuration that the library uses for a call.

#include <string_view>

#include "backends/cuda/gpu.hpp"
#include "core/call.hpp"
#include "device/cuda/entry/launch.hpp"

namespace rung {

struct LibraryPlan {
  std::string_view rung;  // id in the catalog
  cuda::GemmConfig config;
  int threads = 0;  // of a CPU rung; 0 on a GPU
};

/// True if the library chooses this rung of gemm/cpu for any problem.
bool library_uses(std::string_view rung);

/// The plan on the CPU with at most `threads` threads.
LibraryPlan library_plan(const GemmCall& call, int threads);

/// The plan for a call on the device, with the driver that the library currently uses. Throws
/// rung::Error.
LibraryPlan library_plan(cuda::Gpu& gpu, const GemmCall& call);

}  // namespace rung
