#pragma once
// The floating-point environment of the calling thread. The control word holds the rounding mode,
// the flush-to-zero setting and the enabled traps: MXCSR without its flags on x86-64, FPCR on
// AArch64. The x87 control word is not changed, because no kernel uses x87. On other CPUs nothing
// is read or changed.

#include <cfenv>
#include <cstdint>

namespace rung::cpu {

#if defined(__x86_64__)

using FloatControl = std::uint32_t;
inline constexpr FloatControl float_flag_bits = 0x3f, float_mask_bits = float_flag_bits << 7;
/// Rounds to nearest, keeps subnormal numbers, and masks all exceptions.
inline constexpr FloatControl default_float_control = float_mask_bits;

inline std::uint32_t mxcsr() {
  std::uint32_t word;
  asm volatile("stmxcsr %0" : "=m"(word) : : "memory");
  return word;
}
inline void set_mxcsr(std::uint32_t word) { asm volatile("ldmxcsr %0" : : "m"(word) : "memory"); }

inline FloatControl float_control() { return mxcsr() & ~float_flag_bits; }
/// Sets the control word and keeps the flags.
inline void set_float_control(FloatControl control) {
  set_mxcsr(control | (mxcsr() & float_flag_bits));
}

/// The exceptions raised since the flags were last cleared: a combination of FE_INVALID,
/// FE_OVERFLOW and so on.
inline unsigned float_flags() { return mxcsr() & float_flag_bits; }
/// Sets the flags and keeps the control word. Flags set here do not trap.
inline void set_float_flags(unsigned flags) { set_mxcsr(float_control() | flags); }

constexpr FloatControl without_traps(FloatControl control) { return control | float_mask_bits; }
constexpr unsigned traps_of(FloatControl control) { return ~control >> 7 & float_flag_bits; }

static_assert(FE_INVALID == 1 && FE_DIVBYZERO == 4 && FE_OVERFLOW == 8 && FE_UNDERFLOW == 16 &&
              FE_INEXACT == 32);

#elif defined(__aarch64__)

using FloatControl = std::uint64_t;
inline constexpr FloatControl float_flag_bits = 0x9f, float_trap_bits = float_flag_bits << 8;
inline constexpr FloatControl default_float_control = 0;

inline FloatControl float_control() {
  FloatControl word;
  asm volatile("mrs %0, fpcr" : "=r"(word) : : "memory");
  return word;
}
inline void set_float_control(FloatControl word) {
  asm volatile("msr fpcr, %0" : : "r"(word) : "memory");
}

inline std::uint64_t fpsr() {
  std::uint64_t word;
  asm volatile("mrs %0, fpsr" : "=r"(word) : : "memory");
  return word;
}
inline unsigned float_flags() { return static_cast<unsigned>(fpsr() & float_flag_bits); }
inline void set_float_flags(unsigned flags) {
  asm volatile("msr fpsr, %0" : : "r"((fpsr() & ~float_flag_bits) | flags) : "memory");
}

constexpr FloatControl without_traps(FloatControl control) { return control & ~float_trap_bits; }
constexpr unsigned traps_of(FloatControl control) { return control >> 8 & float_flag_bits; }

static_assert(FE_INVALID == 1 && FE_DIVBYZERO == 2 && FE_OVERFLOW == 4 && FE_UNDERFLOW == 8 &&
              FE_INEXACT == 16);

#else

using FloatControl = std::uint32_t;
inline constexpr FloatControl default_float_control = 0;
inline FloatControl float_control() { return default_float_control; }
inline void set_float_control(FloatControl) {}
inline unsigned float_flags() { return 0; }
inline void set_float_flags(unsigned) {}
constexpr FloatControl without_traps(FloatControl control) { return control; }
constexpr unsigned traps_of(FloatControl) { return 0; }

#endif

/// Changes the control word for a scope, if it differs. Flags raised in the scope are kept. Not
/// inlined, because there are many entry points.
class ScopedFloatControl {
 public:
  /// Changes nothing.
  ScopedFloatControl() = default;
  [[gnu::noinline]] explicit ScopedFloatControl(FloatControl wanted)
      : before_(float_control()), changes_(before_ != wanted) {
    if (changes_) [[unlikely]]
      set_float_control(wanted);
  }
  [[gnu::noinline]] ~ScopedFloatControl() {
    if (changes_) [[unlikely]]
      set_float_control(before_);
  }
  ScopedFloatControl(const ScopedFloatControl&) = delete;
  ScopedFloatControl& operator=(const ScopedFloatControl&) = delete;

 private:
  FloatControl before_ = default_float_control;
  bool changes_ = false;
};

}  // namespace rung::cpu
