#pragma once
// What a configuration is chosen for: the size of a problem, and the limits of a device.

#include <cstdint>

namespace rung::cuda {

struct GemmSize {
  std::int64_t m, n, k;
};

/// The limits of a device.
struct Limits {
  std::int64_t shared_bytes;  // per block
  int multiprocessors;
};

}  // namespace rung::cuda
