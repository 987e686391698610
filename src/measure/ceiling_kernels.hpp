#pragma once
// The instruction sequences that define the CPU's ceilings: only FMAs, or only loads.

#include <cstddef>
#include <cstdint>
#include <span>

#include "rung/types.hpp"

namespace rung {

/// Runs `iterations` rounds of independent multiply-adds in registers. Each function returns a
/// number that depends on all of them, so that the compiler cannot drop any.
struct FmaKernel {
  double (*run)(std::int64_t iterations);
  double flops_per_iteration;
};

/// For the best instruction set of this machine. T: float, double or std::int32_t.
template <class T>
FmaKernel fma_kernel();

/// The same with dot-product instructions. T: bfloat16, for which the function is null if the
/// machine has none, or std::int8_t.
template <class T>
FmaKernel dot_kernel();

/// Memory to read, ideally aligned to 64 bytes.
struct Region {
  const void* data;
  std::int64_t bytes;
};

/// Loads every byte of all regions, optionally as eight streams with software prefetch, and repeats
/// that `repeats` times, so that small regions are read without the cost of a call. Returns the OR
/// of all bits.
using ReadKernel = std::uint64_t (*)(std::span<const Region> regions, std::int64_t repeats,
                                     bool prefetch);
ReadKernel read_kernel();

}  // namespace rung
