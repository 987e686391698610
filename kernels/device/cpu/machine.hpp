#pragma once
// The CPU of this machine: instruction set, caches, processors.

#include <cstdint>
#include <string>
#include <string_view>

namespace rung::cpu {

/// The instruction sets that the SIMD rungs are compiled for. On each architecture, later ones
/// include earlier ones.
enum class Isa { scalar, neon, sse2, sse4, avx2, avx512 };

std::string_view name(Isa isa);

/// Data cache sizes in bytes, as seen by one core; l3 may be shared with other cores.
struct Caches {
  std::int64_t l1 = 32 << 10;
  std::int64_t l2 = 512 << 10;
  std::int64_t l3 = 4 << 20;
};

struct Machine {
  std::string model;  // as the operating system names it
  Isa isa;            // the best supported one, or the one in RUNG_ISA if the CPU supports it
  Caches caches;
  int threads;  // processors in the affinity mask of this process
};

/// Detected once, at the first call.
const Machine& machine();

}  // namespace rung::cpu
