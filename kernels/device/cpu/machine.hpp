#pragma once
// What this CPU is: instruction set, caches, processors.

#include <cstdint>
#include <string>
#include <string_view>

namespace rung::cpu {

/// The instruction sets that the SIMD rungs are compiled for, each containing those before it on
/// the same architecture.
enum class Isa { scalar, neon, sse2, sse4, avx2, avx512 };

std::string_view name(Isa isa);

/// Sizes in bytes of the data caches that one core sees; l3 may be shared with other cores.
struct Caches {
  std::int64_t l1 = 32 << 10;
  std::int64_t l2 = 512 << 10;
  std::int64_t l3 = 4 << 20;
};

struct Machine {
  std::string model;  // as the operating system names it
  Isa isa;            // the best one, or the one that RUNG_ISA asks for if the CPU has it
  Caches caches;
  int threads;  // processors in this process's affinity mask
};

/// Read once, at the first call.
const Machine& machine();

}  // namespace rung::cpu
