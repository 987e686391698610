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
#endif

#define __APPLE__ 1
#define __MACH__ 1
