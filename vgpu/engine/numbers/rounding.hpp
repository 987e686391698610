#pragma once
// The CPU's floating-point environment: the one in which the virtual GPU computes, and rounding
// modes for PTX's .rz, .rm and .rp.

#include <cfenv>

namespace rung::vgpu {

/// During its lifetime, sets rounding to nearest, no flushing of subnormal numbers and no trapping
/// exceptions. Then restores the caller's environment with its exception flags.
class DefaultEnvironment {
 public:
  DefaultEnvironment() {
    std::fegetenv(&callers_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultEnvironment() { std::fesetenv(&callers_); }
  DefaultEnvironment(const DefaultEnvironment&) = delete;
  DefaultEnvironment& operator=(const DefaultEnvironment&) = delete;

 private:
  std::fenv_t callers_;
};

/// Sets the CPU's rounding mode during its lifetime. The compiler does not know that arithmetic
/// depends on it, but operands are loaded from memory after the barrier in the constructor, and
/// results are stored before the one in the destructor.
class RoundingScope {
 public:
  explicit RoundingScope(int mode) {
    std::fesetround(mode);
    barrier();
  }
  ~RoundingScope() {
    barrier();
    std::fesetround(FE_TONEAREST);
  }
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;

 private:
  static void barrier() { __asm__ volatile("" ::: "memory"); }
};

}  // namespace rung::vgpu
