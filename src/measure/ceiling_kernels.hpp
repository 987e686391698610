#pragma once
// The instruction sequences whose speed is the ceiling: nothing but multiply-adds, nothing but
// loads.

#include <cstddef>
#include <cstdint>
#include <span>

namespace rung {

/// Runs `iterations` rounds of independent multiply-adds in registers; each function returns a
/// number that depends on all of them, so that none can be left out.
struct FmaKernel {
  double (*run)(std::int64_t iterations);
  double flops_per_iteration;
};

/// For the best instruction set of this machine. T: float, double or std::int32_t.
template <class T>
FmaKernel fma_kernel();

/// Memory to read. Best aligned to 64 bytes.
struct Region {
  const void* data;
  std::int64_t bytes;
};

/// Loads every byte of all regions, where asked as eight streams with software prefetch, and all of
/// it again `repeats` times: small regions are read without the cost of a call. Returns the
/// bits that are set in any of them.
using ReadKernel = std::uint64_t (*)(std::span<const Region> regions, std::int64_t repeats,
                                     bool prefetch);
ReadKernel read_kernel();

}  // namespace rung
