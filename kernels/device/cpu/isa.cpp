#include "device/cpu/isa.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

namespace rung::cpu {
namespace {

// The more capable one of two comparable sets comes later.
constexpr std::array<std::pair<std::string_view, Isa>, 6> named = {{{"scalar", Isa::scalar},
                                                                    {"neon", Isa::neon},
                                                                    {"sse2", Isa::sse2},
                                                                    {"sse4", Isa::sse4},
                                                                    {"avx2", Isa::avx2},
                                                                    {"avx512", Isa::avx512}}};

Isa supported() {
  Isa found = Isa::scalar;
#if defined(__x86_64__)
  found = Isa::sse2;
  if (__builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("sse4.2") &&
      __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("aes")) {
    found = Isa::sse4;
  }
  // Clang 16 cannot ask for F16C: every CPU with AVX2 has it.
  if (found == Isa::sse4 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi2")) {
    found = Isa::avx2;
  }
  if (found == Isa::avx2 && __builtin_cpu_supports("avx512f") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd")) {
    found = Isa::avx512;
  }
#elif defined(__aarch64__)
  found = Isa::neon;
#endif
  return found;
}

}  // namespace

std::string_view name(Isa isa) {
  std::string_view best;
  for (const auto& [text, set] : named) {
    if (isa.contains(set)) best = text;
  }
  return best;
}

Isa find_isa() {
  const Isa all = supported();
  const char* const wish = std::getenv("RUNG_ISA");
  if (wish == nullptr) return all;
  const auto* const wanted =
      std::ranges::find(named, std::string_view(wish), &decltype(named)::value_type::first);
  return wanted != named.end() && all.contains(wanted->second) ? wanted->second : all;
}

}  // namespace rung::cpu
