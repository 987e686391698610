#pragma once
// Reference implementations of common instructions in plain C++, on one thread's registers.

#include <array>
#include <cstdint>
#include <vector>

#include "vgpu/tests/fuzz/ptx_kernels.hpp"

namespace rung::vgpu {

/// A thread's registers, in the order in which kernels load and store them.
struct PtxRegisters {
  std::array<std::uint64_t, PtxKernel::doublewords> d;
  std::array<std::uint32_t, PtxKernel::words> r;
  std::array<std::uint16_t, PtxKernel::halves> h;
  std::uint32_t p;  // one bit per predicate
};

bool has_reference(const PtxStep& step);

/// Executes steps that all have a reference.
void follow(const std::vector<PtxStep>& steps, PtxRegisters& registers);

}  // namespace rung::vgpu
