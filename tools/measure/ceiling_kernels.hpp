#pragma once
// The instruction sequences that define the CPU's ceilings: only FMAs, or only loads.

#include <cstddef>
#include <cstdint>
#include <span>

namespace rung {

struct bfloat16;

/// Runs `iterations` rounds of independent multiply-adds in registers. Each function returns a
/// number that depends on all of them, so that the compiler cannot drop any.
struct FmaKernel {
  double (*run)(std::int64_t iterations);
  double flops_per_iteration;
};

/// The kernel for the best instruction set of this machine. T: float, double or std::int32_t.
template <class T>
FmaKernel fma_kernel();

/// The kernel with dot-product instructions. T: bfloat16 (the function is null if not supported) or
/// std::int8_t.
template <class T>
FmaKernel dot_kernel();

/// A range of memory to read, preferably aligned to 64 bytes.
struct Region {
  const void* data;
  std::int64_t bytes;
};

/// Loads every byte of all regions, optionally as eight streams with software prefetching. Repeats
/// this `repeats` times, to amortize the call for small regions. Returns the OR of all bits.
using ReadKernel = std::uint64_t (*)(std::span<const Region> regions, std::int64_t repeats,
                                     bool prefetch);
ReadKernel read_kernel();

}  // namespace rung
