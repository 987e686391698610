#pragma once
// The launch of a dot or sum kernel, and the reduction of its blocks' sums.

#include <cstdint>

#include "device/cuda/entry/launch.hpp"

namespace rung::cuda {

/// The memory to which a launch stores its sums, which have the accumulator type.
struct DotTarget {
  void* result;     // the sum, or an array of sums if Finish says so
  void* workspace;  // Launch::workspace_bytes
};

/// The steps that complete a launch.
enum class Finish {
  none,    // none: the result is the sum
  zeroed,  // blocks add atomically to the result, which must be 0 before
  passes,  // each block stores a sum; the rung sums these in further launches until one is left
  host,    // the CPU adds the stored sums
};

/// The launch for one problem.
struct DotLaunch {
  Launch launch;
  Finish finish = Finish::none;
  std::int64_t sums = 1;  // number of sums stored, for Finish::passes and Finish::host
};

}  // namespace rung::cuda
