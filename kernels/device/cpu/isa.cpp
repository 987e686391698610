#include "device/cpu/isa.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <utility>

#include "core/ignored_variable.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#elif defined(__aarch64__) && defined(__APPLE__)
#include <sys/sysctl.h>
#endif

namespace rung::cpu {
namespace {

// If two sets are comparable, the larger one comes later.
constexpr auto named = std::to_array<std::pair<std::string_view, Isa>>({
    {"scalar", Isa::scalar},
    {"neon", Isa::neon},
    {"neon_dotprod", Isa::neon_dotprod},
    {"neon_bf16", Isa::neon_bf16},
    {"sse2", Isa::sse2},
    {"sse4", Isa::sse4},
    {"avx2", Isa::avx2},
    {"avx_vnni", Isa::avx_vnni},
    {"avx512", Isa::avx512},
    {"avx512_vnni", Isa::avx512_vnni},
    {"avx512_bf16", Isa::avx512_bf16},
    {"amx", Isa::amx},
});

#if defined(__x86_64__)

/// CPUID registers, for features that compilers cannot query by name.
struct Cpuid {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;

  Cpuid(unsigned leaf, unsigned subleaf) {
    __get_cpuid_count(leaf, subleaf, &eax, &ebx, &ecx, &edx);
  }
};

bool has(unsigned bits, unsigned wanted) { return (bits & wanted) == wanted; }

/// True if the operating system saves tile registers: bits 17 and 18 of XCR0. XGETBV requires
/// OSXSAVE, which AVX implies.
[[gnu::target("xsave")]] bool saves_tiles() { return (__builtin_ia32_xgetbv(0) >> 17 & 3) == 3; }

/// Adds the dot-product extensions of this CPU to `found`.
Isa with_dot_products(Isa found) {
  const Cpuid features(7, 0), more(7, 1);
  const unsigned avx512_vnni = 1u << 11, avx_vnni = 1u << 4, avx512_bf16 = 1u << 5;
  const unsigned amx = 1u << 22 | 1u << 24 | 1u << 25;  // bf16, tiles, int8
  if (found.contains(Isa::avx2) && has(more.eax, avx_vnni)) found = found | Isa::avx_vnni;
  if (!found.contains(Isa::avx512) || !has(features.ecx, avx512_vnni)) return found;
  found = found | Isa::avx512_vnni;
  if (!has(more.eax, avx512_bf16)) return found;
  found = found | Isa::avx512_bf16;
  return has(features.edx, amx) && saves_tiles() ? found | Isa::amx : found;
}

#elif defined(__aarch64__)

bool has_dotprod() {
#if defined(__linux__)
  return (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
#elif defined(__APPLE__)
  int found = 0;
  std::size_t size = sizeof found;
  return sysctlbyname("hw.optional.arm.FEAT_DotProd", &found, &size, nullptr, 0) == 0 && found != 0;
#else
  return false;
#endif
}

bool has_bf16() {
#if defined(__linux__) && defined(HWCAP2_BF16)
  return (getauxval(AT_HWCAP2) & HWCAP2_BF16) != 0;
#elif defined(__APPLE__)
  int found = 0;
  std::size_t size = sizeof found;
  return sysctlbyname("hw.optional.arm.FEAT_BF16", &found, &size, nullptr, 0) == 0 && found != 0;
#else
  return false;
#endif
}

#endif

Isa supported() {
  Isa found = Isa::scalar;
#if defined(__x86_64__)
  found = Isa::sse2;
  if (__builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("sse4.2") &&
      __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("aes")) {
    found = Isa::sse4;
  }
  // Clang 16 cannot query F16C, but every CPU with AVX2 has it.
  if (found == Isa::sse4 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi2")) {
    found = Isa::avx2;
  }
  if (found == Isa::avx2 && __builtin_cpu_supports("avx512f") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd")) {
    found = Isa::avx512;
  }
  found = with_dot_products(found);
#elif defined(__aarch64__)
  found = Isa::neon;
  if (has_dotprod()) found = has_bf16() ? Isa::neon_bf16 : Isa::neon_dotprod;
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
  if (wish == nullptr || *wish == '\0') return all;
  const auto* const wanted =
      std::ranges::find(named, std::string_view(wish), &decltype(named)::value_type::first);
  if (wanted != named.end() && all.contains(wanted->second)) return wanted->second;
  std::string allowed;
  for (const auto& [text, set] : named) {
    if (all.contains(set)) allowed.append(allowed.empty() ? "" : ", ").append(text);
  }
  ignore_variable("RUNG_ISA", wish,
                  "is no instruction set of this CPU, which has " + allowed + "; the last is used");
  return all;
}

}  // namespace rung::cpu
