#pragma once
// How many FMAs of whole vectors a core begins in a cycle, by the CPU's family and model.

#include <optional>
#include <string_view>

namespace rung::cpu {

/// A CPU as CPUID names it: `family` and `model` with their extensions added.
struct CpuModel {
  char vendor[13] = {};  // "GenuineIntel"; empty where there is no CPUID
  int family = 0, model = 0;
};

/// Of this processor. Source: Intel SDM, volume 2, CPUID; AMD64 APM, volume 3, appendix E.
CpuModel cpu_model();

/// FMAs of vectors of `bits` bits (256 or 512) that a core of `cpu` begins in a cycle: 1 or 2. Nothing
/// where models differ by name alone (Xeons of Skylake in 512 bits), or have cores of two kinds, or are unknown here.
/// Sources: Intel's optimization reference manual, chapter 2; AMD's software optimization guides of
/// families 17h and 19h, section 2.11; Fog, "Instruction tables".
std::optional<int> fmas_per_cycle(const CpuModel& cpu, int bits);

}  // namespace rung::cpu
