#pragma once
// How a kernel of dot or sum is launched, and how its blocks' sums become one.

#include <cstdint>

#include "device/cuda/entry/launch.hpp"

namespace rung::cuda {

/// Where a launch stores its sums, in the type that it sums in.
struct DotTarget {
  void* result;     // the sum; if Finish says that it leaves several, an array of them
  void* workspace;  // Launch::workspace_bytes
};

/// What remains to be done around a launch.
enum class Finish {
  none,    // the result is the sum
  zeroed,  // blocks add to the result: it must be 0 before
  passes,  // blocks leave a sum each, and the rung sums those in its next launch, until one is left
  host,    // the launch leaves sums that the CPU adds up
};

/// For one problem.
struct DotLaunch {
  Launch launch;
  Finish finish = Finish::none;
  std::int64_t sums = 1;  // that it leaves, for Finish::passes and Finish::host
};

}  // namespace rung::cuda
