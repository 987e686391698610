#pragma once
// IEEE rounding modes of the CPU, for PTX's .rz, .rm and .rp.

#include <cfenv>

namespace rung::vgpu {

/// Sets the CPU's rounding mode during its lifetime. The compiler does not know that arithmetic
/// depends on it, but operands are read from memory after the barrier in the constructor, and
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
