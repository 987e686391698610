#pragma once
// What the host knows of a Metal rung of the dot product: its kernels' names, its launch, and how
// the sums of threadgroups become one.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>

#include "device/metal/descriptor.hpp"

namespace rung::metal {

/// What remains to be done around a launch.
enum class Finish {
  host_terms,  // the launch leaves the terms, which the CPU adds up
  host,        // threadgroups leave a sum each, which the CPU adds up
  passes,      // likewise, and the rung sums those in its next launch, until one is left
  zeroed,      // threadgroups add to the result: it must be 0 before
};

inline constexpr std::int64_t any_threadgroups = std::numeric_limits<std::int64_t>::max();

/// One rung. The kernel of a type is `<entry>_<dtype>`; its buffers are DotScalars, x, y, result.
struct DotRung {
  std::string_view entry;
  int threads;  // of a threadgroup
  int terms;    // of a threadgroup
  Finish finish;
  /// Beyond so many threadgroups, each takes several turns.
  std::int64_t most_threadgroups = any_threadgroups;
  /// Elements behind the sums, for each threadgroup to work in.
  int scratch = 0;

  constexpr Launch launch(std::int64_t n) const {
    const std::int64_t least = finish == Finish::passes ? 1 : 0;
    return {{std::clamp(ceil_div(n, terms), least, most_threadgroups)}, {threads}};
  }
  /// That a launch leaves.
  constexpr std::int64_t sums(std::int64_t n) const {
    if (finish == Finish::zeroed) return 1;
    return finish == Finish::host_terms ? n : launch(n).threadgroups.x;
  }
};

}  // namespace rung::metal
