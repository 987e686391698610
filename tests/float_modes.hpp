#pragma once
// Floating-point environments that a caller of the library may have.

#include "device/cpu/float_environment.hpp"

namespace rung {

struct FloatMode {
  const char* name;
  cpu::FloatControl control;
};

#if defined(__x86_64__)
inline constexpr cpu::FloatControl upward = 0x4000, downward = 0x2000, toward_zero = 0x6000;
inline constexpr cpu::FloatControl flushing = 0x8040;  // flushes results and operands
#elif defined(__aarch64__)
inline constexpr cpu::FloatControl upward = 1 << 22, downward = 2 << 22, toward_zero = 3 << 22;
inline constexpr cpu::FloatControl flushing = 1 << 24;
#else
inline constexpr cpu::FloatControl upward = 0, downward = 0, toward_zero = 0, flushing = 0;
#endif

/// The first one is the default.
inline constexpr FloatMode float_modes[] = {
    {"default", cpu::default_float_control},
    {"upward", cpu::default_float_control | upward},
    {"downward", cpu::default_float_control | downward},
    {"toward zero", cpu::default_float_control | toward_zero},
    {"flushing", cpu::default_float_control | flushing},
};

}  // namespace rung
