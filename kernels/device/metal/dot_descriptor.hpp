#pragma once
// Host-side descriptor of a Metal dot rung: the names of its kernels, their launch, and the
// reduction of the threadgroups' sums.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>

#include "device/metal/descriptor.hpp"

namespace rung::metal {

/// The steps that complete a launch.
enum class Finish {
  host_terms,  // the kernel stores products, and the CPU adds them
  host,        // each threadgroup stores a sum, and the CPU adds the sums
  passes,  // each threadgroup stores a sum, and further launches reduce the sums until one is left
  zeroed,  // threadgroups add atomically to the result, which must be 0 before
};

inline constexpr std::int64_t any_threadgroups = std::numeric_limits<std::int64_t>::max();

/// A dot rung. The kernel for a type is `<entry>_<dtype>`; its buffers are DotScalars, x, y,
/// result.
struct DotRung {
  std::string_view entry;
  int threads;  // per threadgroup
  int terms;    // per threadgroup
  Finish finish;
  /// The maximum number of threadgroups in a launch: for longer vectors, each threadgroup loops.
  std::int64_t max_threadgroups = any_threadgroups;
  /// Elements of scratch memory per threadgroup, stored after the sums.
  int scratch = 0;

  constexpr Launch launch(std::int64_t n) const {
    const std::int64_t least = finish == Finish::passes ? 1 : 0;
    return {{std::clamp(ceil_div(n, terms), least, max_threadgroups)}, {threads}};
  }
  /// The number of values that a launch stores.
  constexpr std::int64_t sums(std::int64_t n) const {
    if (finish == Finish::zeroed) return 1;
    return finish == Finish::host_terms ? n : launch(n).threadgroups.x;
  }
};

}  // namespace rung::metal
