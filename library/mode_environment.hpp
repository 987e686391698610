#pragma once
// The floating-point environment of each mode (docs/library.md).

#include "device/cpu/float_environment.hpp"
#include "rung/options.hpp"

namespace rung {

/// True for modes that guarantee bits, which would change with the caller's rounding mode and
/// flush-to-zero setting.
constexpr bool promises_bits(ComputeMode mode) {
  return mode == ComputeMode::reproducible || mode == ComputeMode::batch_invariant;
}
constexpr bool promises_bits(DotMode mode) { return mode != DotMode::fast; }

/// For modes that guarantee bits, sets the default environment for the lifetime of the result;
/// other modes keep the caller's. Every entry point creates one before it converts or computes a
/// number.
template <class Mode>
[[nodiscard]] cpu::ScopedFloatControl environment_of(Mode mode) {
  return promises_bits(mode) ? cpu::ScopedFloatControl(cpu::default_float_control)
                             : cpu::ScopedFloatControl();
}

}  // namespace rung
