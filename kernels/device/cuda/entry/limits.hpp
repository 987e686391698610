#pragma once
// The inputs of configuration choice: the size of a problem and the limits of a device.

#include <cstdint>

namespace rung::cuda {

struct GemmSize {
  std::int64_t m, n, k;
};

/// The size in bytes of the workspaces that the library allocates.
inline constexpr std::int64_t default_workspace_bytes = 32 << 20;

/// The limits of a launch on a device.
struct Limits {
  std::int64_t shared_bytes;  // per block
  int multiprocessors;
  /// For partial sums of split-K. Negative: split-K is not allowed.
  std::int64_t workspace_bytes = default_workspace_bytes;
  bool may_pack = true;  // there is memory for packed operands
};

}  // namespace rung::cuda
