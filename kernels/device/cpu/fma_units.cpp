#include "device/cpu/fma_units.hpp"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace rung::cpu {
namespace {

/// Models `first` to `last` of a family and their FMAs per cycle; 0 if unknown.
struct KnownModels {
  std::string_view vendor;
  int family, first, last;
  int of_256_bits, of_512_bits;
};

constexpr auto known_models = std::to_array<KnownModels>({
    {"AuthenticAMD", 0x17, 0x00, 0x2f, 1, 0},  // Zen
    {"AuthenticAMD", 0x17, 0x30, 0xff, 2, 0},  // Zen 2
    {"AuthenticAMD", 0x19, 0x00, 0xff, 2, 1},  // Zen 3 and 4
    {"AuthenticAMD", 0x1a, 0x00, 0xff, 2, 0},  // Zen 5: 256-bit or 512-bit units
    {"GenuineIntel", 6, 0x3c, 0x3d, 2, 0},     // Haswell, Broadwell
    {"GenuineIntel", 6, 0x3f, 0x3f, 2, 0},
    {"GenuineIntel", 6, 0x45, 0x47, 2, 0},
    {"GenuineIntel", 6, 0x4e, 0x4f, 2, 0},  // Skylake, Broadwell
    {"GenuineIntel", 6, 0x55, 0x56, 2, 0},  // Xeons: Skylake to Cooper Lake, Broadwell
    {"GenuineIntel", 6, 0x5e, 0x5e, 2, 0},
    {"GenuineIntel", 6, 0x6a, 0x6c, 2, 2},  // Xeons: Ice Lake
    {"GenuineIntel", 6, 0x7d, 0x7e, 2, 1},  // Ice Lake
    {"GenuineIntel", 6, 0x8c, 0x8d, 2, 1},  // Tiger Lake
    {"GenuineIntel", 6, 0x8e, 0x8e, 2, 0},
    {"GenuineIntel", 6, 0x8f, 0x8f, 2, 2},  // Sapphire Rapids
    {"GenuineIntel", 6, 0x9e, 0x9e, 2, 0},
    {"GenuineIntel", 6, 0xa5, 0xa6, 2, 0},
    {"GenuineIntel", 6, 0xa7, 0xa7, 2, 1},  // Rocket Lake
    {"GenuineIntel", 6, 0xad, 0xae, 2, 2},  // Granite Rapids
    {"GenuineIntel", 6, 0xcf, 0xcf, 2, 2},  // Emerald Rapids
});

}  // namespace

CpuModel cpu_model() {
  CpuModel found;
#if defined(__x86_64__)
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(0, &eax, &ebx, &ecx, &edx) == 0) return found;
  std::memcpy(found.vendor, &ebx, 4);
  std::memcpy(found.vendor + 4, &edx, 4);
  std::memcpy(found.vendor + 8, &ecx, 4);
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0) return found;
  const unsigned family = eax >> 8 & 0xf, model = eax >> 4 & 0xf;
  const bool is_extended = family == 0xf || family == 6;
  found.family = static_cast<int>(family == 0xf ? family + (eax >> 20 & 0xff) : family);
  found.model = static_cast<int>(is_extended ? model | (eax >> 16 & 0xf) << 4 : model);
#endif
  return found;
}

std::optional<int> fmas_per_cycle(const CpuModel& cpu, int bits) {
  for (const KnownModels& known : known_models) {
    if (known.vendor != cpu.vendor || known.family != cpu.family) continue;
    if (cpu.model < known.first || cpu.model > known.last) continue;
    const int fmas = bits == 512 ? known.of_512_bits : bits == 256 ? known.of_256_bits : 0;
    if (fmas != 0) return fmas;
  }
  return std::nullopt;
}

}  // namespace rung::cpu
