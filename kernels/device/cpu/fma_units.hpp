#pragma once
// The number of vector FMAs that a core issues per cycle, by CPU family and model.

#include <optional>
#include <string_view>

namespace rung::cpu {

/// A CPU as identified by CPUID; `family` and `model` include their extensions.
struct CpuModel {
  char vendor[13] = {};  // "GenuineIntel"; empty where there is no CPUID
  int family = 0, model = 0;
};

/// This machine's CPU. Source: Intel SDM, volume 2, CPUID; AMD64 APM, volume 3, appendix E.
CpuModel cpu_model();

/// FMAs of `bits`-bit vectors (256 or 512) that a core issues per cycle: 1 or 2. Nothing for
/// unknown models, for models with two kinds of cores, and if variants of one model differ (512
/// bits on Skylake Xeons). Sources: Intel's optimization reference manual, chapter 2; AMD's
/// software optimization guides of families 17h and 19h, section 2.11; Fog, "Instruction tables".
std::optional<int> fmas_per_cycle(const CpuModel& cpu, int bits);

}  // namespace rung::cpu
