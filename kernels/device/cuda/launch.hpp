#pragma once
// How a kernel is launched.

#include <cstdint>

namespace rung::cuda {

struct Dim3 {
  std::int64_t x = 1, y = 1, z = 1;

  constexpr std::int64_t count() const { return x * y * z; }
};

/// For one problem.
struct Launch {
  Dim3 grid;  // in blocks; 0 where C is empty
  Dim3 block;
  std::int64_t shared_bytes = 0;     // dynamic
  std::int64_t workspace_bytes = 0;  // device memory that the entry's second parameter points to
};

}  // namespace rung::cuda
