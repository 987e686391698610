#pragma once
// Headers that others include in libc++, for which programs are written on macOS, but not in
// libstdc++. rung-metal includes this file in front of each source. Programs see macOS, where they choose Metal
// by __APPLE__.

#ifdef __cplusplus
#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iomanip>
#include <iterator>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

// libc++ has C's functions of float in std, too.
namespace std {
using ::acosf, ::asinf, ::atanf, ::atan2f, ::ceilf, ::cosf, ::coshf, ::expf, ::exp2f, ::fabsf,
    ::floorf, ::fmaf, ::fmaxf, ::fminf, ::fmodf, ::logf, ::log2f, ::log10f, ::powf, ::roundf,
    ::sinf, ::sinhf, ::sqrtf, ::tanf, ::tanhf;
}

#if defined(__clang__) && defined(__SSE2__)
/// A float rounded to __bf16, ties to even. clang calls this function; libgcc has it since version 13.
extern "C" __attribute__((weak)) __bf16 __truncsfbf2(float value) {
  const unsigned bits = __builtin_bit_cast(unsigned, value);
  const unsigned rounded = value != value ? bits | 0x400000 : bits + 0x7FFF + (bits >> 16 & 1);
  return __builtin_bit_cast(__bf16, static_cast<unsigned short>(rounded >> 16));
}
#endif
#endif

#define __APPLE__ 1
#define __MACH__ 1
