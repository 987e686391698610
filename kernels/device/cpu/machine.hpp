#pragma once
// The CPU of this machine: instruction set, caches, processors.

#include <cstdint>
#include <string>

#include "device/cpu/isa.hpp"

namespace rung::cpu {

/// Sizes in bytes of the data caches that one core sees; l3 may be shared with other cores.
struct Caches {
  std::int64_t l1 = 32 << 10;
  std::int64_t l2 = 512 << 10;
  std::int64_t l3 = 4 << 20;
};

// Of an L1 data cache, which has 64 sets of 64-byte lines: its ways, the fewest, and the bytes of one.
inline constexpr std::int64_t l1_ways = 8, l1_way_bytes = 4096;

/// Whether elements this far apart, counted in elements, are all in the same set of an L1.
template <class T>
bool shares_a_set(std::int64_t stride) {
  return stride * std::int64_t{sizeof(T)} % l1_way_bytes == 0;
}

struct Machine {
  Isa isa;  // that kernels may use: find_isa()
  Caches caches;
};

/// Read once, at the first call, without allocating memory.
const Machine& machine();

/// The processors that the calling thread may run on now: its affinity mask, which the cpuset of a
/// cgroup limits, too. The CPU quota of a cgroup does not count. Read at each call.
int available_threads();

/// What the operating system calls this CPU. Read at each call.
std::string model();

}  // namespace rung::cpu
