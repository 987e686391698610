#include "device/cpu/machine.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <thread>

namespace rung::cpu {
namespace {

constexpr std::array<std::string_view, 6> isa_names = {"scalar", "neon", "sse2",
                                                       "sse4",   "avx2", "avx512"};

#if defined(__x86_64__)
bool has(Isa isa) {
  switch (isa) {
    case Isa::scalar:
    case Isa::sse2: return true;
    case Isa::sse4:
      return __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("sse4.2") &&
             __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("aes");
    case Isa::avx2:  // and F16C, which Clang 16 cannot query; every CPU with AVX2 has it
      return has(Isa::sse4) && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
             __builtin_cpu_supports("bmi2");
    case Isa::avx512:
      return has(Isa::avx2) && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd");
    case Isa::neon: return false;
  }
  return false;
}
#elif defined(__aarch64__)
bool has(Isa isa) { return isa == Isa::scalar || isa == Isa::neon; }
#else
bool has(Isa isa) { return isa == Isa::scalar; }
#endif

Isa find_isa() {
  Isa best = Isa::scalar;
  const char* wish = std::getenv("RUNG_ISA");
  for (std::size_t i = 0; i < isa_names.size(); ++i) {
    const Isa isa{static_cast<int>(i)};
    if (has(isa)) best = isa;
    if (wish != nullptr && isa_names[i] == wish && has(isa)) return isa;
  }
  return best;
}

std::string find_model() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.starts_with("model name")) {
      return line.substr(std::min(line.size(), line.find(':') + 2));
    }
  }
  return "unknown CPU";
}

// Prefer sysfs: getconf does not report the caches of most Arm cores.
Caches find_caches() {
  Caches caches;
  const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index";
  for (int index = 0; index < 8; ++index) {
    std::ifstream level_file(folder + std::to_string(index) + "/level");
    std::ifstream type_file(folder + std::to_string(index) + "/type");
    std::ifstream size_file(folder + std::to_string(index) + "/size");
    int level = 0;
    std::string type;
    std::int64_t size = 0;
    char unit = 0;
    if (!(level_file >> level && type_file >> type && size_file >> size) || type == "Instruction") {
      continue;
    }
    size_file >> unit;
    size <<= unit == 'K' ? 10 : unit == 'M' ? 20 : 0;
    if (size <= 0) continue;
    if (level == 1) caches.l1 = size;
    if (level == 2) caches.l2 = size;
    if (level == 3) caches.l3 = size;
  }
  return caches;
}

int find_threads() {
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace

std::string_view name(Isa isa) { return isa_names[static_cast<std::size_t>(isa)]; }

const Machine& machine() {
  static const Machine found{find_model(), find_isa(), find_caches(), find_threads()};
  return found;
}

}  // namespace rung::cpu
