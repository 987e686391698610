#pragma once
// The configuration that the library uses for a call.

#include <string_view>

#include "backends/cuda/gpu.hpp"
#include "core/call.hpp"
#include "device/cuda/entry/launch.hpp"

namespace rung {

struct LibraryPlan {
  std::string_view rung;  // id, as in the catalog
  cuda::GemmConfig config;
  int threads = 0;  // of a rung of the CPU; 0 on a GPU
};

/// Whether the library chooses that rung of gemm/cpu for any problem.
bool library_uses(std::string_view rung);

/// On the CPU, for at most so many threads.
LibraryPlan library_plan(const GemmCall& call, int threads);

/// For a call on the device, with the driver that the library's calls use now. Throws rung::Error.
LibraryPlan library_plan(cuda::Gpu& gpu, const GemmCall& call);

}  // namespace rung
