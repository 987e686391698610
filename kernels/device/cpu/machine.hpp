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
