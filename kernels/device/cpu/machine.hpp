#pragma once
// Properties of this machine's CPU: instruction set, caches, processors.

#include <cstdint>
#include <string>

#include "device/cpu/isa.hpp"

namespace rung::cpu {

/// Sizes in bytes of the data caches of one core; l3 may be shared with other cores.
struct Caches {
  std::int64_t l1 = 32 << 10;
  std::int64_t l2 = 512 << 10;
  std::int64_t l3 = 4 << 20;
};

// Geometry of an L1 data cache with 64 sets of 64-byte lines: the minimum number of ways, and the
// size of a way in bytes.
inline constexpr std::int64_t l1_ways = 8, l1_way_bytes = 4096;

/// True if elements with this stride (in elements) all map to one L1 set.
template <class T>
bool shares_a_set(std::int64_t stride) {
  return stride * std::int64_t{sizeof(T)} % l1_way_bytes == 0;
}

struct Machine {
  Isa isa;  // extensions that kernels may use: find_isa()
  Caches caches;
};

/// Detected once, at the first call, without allocating memory.
const Machine& machine();

/// The number of processors in the calling thread's affinity mask, which the cpuset of a cgroup
/// limits, too. Ignores CPU quotas of cgroups. Read at each call.
int available_threads();

/// The operating system's name of this CPU. Read at each call.
std::string model();

}  // namespace rung::cpu
