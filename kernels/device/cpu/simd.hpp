// SIMD with run-time dispatch. A file that includes this header is compiled once per instruction
// set. Code between HWY_BEFORE_NAMESPACE() and HWY_AFTER_NAMESPACE(), in namespace HWY_NAMESPACE,
// exists once per set; code under `#if HWY_ONCE` exists once and dispatches with RUNG_PICK_TARGET.
// Only the first lines have an include guard, because the header must be included repeatedly.
//
//     #undef HWY_TARGET_INCLUDE
//     #define HWY_TARGET_INCLUDE "ladder/gemm/cpu/05_micro_kernel.cpp"
//     #include "device/cpu/simd.hpp"

#ifndef RUNG_DEVICE_CPU_SIMD_HPP
#define RUNG_DEVICE_CPU_SIMD_HPP

#include <hwy/base.h>

#include <initializer_list>
#include <utility>

#include "device/cpu/machine.hpp"

// One target per register file is enough; more would only increase compile time. Scalable vectors
// (SVE, RVV) cannot be elements of accumulator arrays. Older versions of Highway lack some of these
// names.
#define RUNG_HWY_VERSION (HWY_MAJOR * 10000 + HWY_MINOR * 100 + HWY_PATCH)
#if RUNG_HWY_VERSION >= 10006
#define RUNG_NEWER_TARGETS (HWY_AVX3_ZEN4 | HWY_AVX3_SPR)
#else
#define RUNG_NEWER_TARGETS 0
#endif
#define HWY_DISABLED_TARGETS                                                         \
  (HWY_SSSE3 | HWY_AVX3_DL | RUNG_NEWER_TARGETS | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | \
   HWY_SVE2_128 | HWY_RVV)

namespace rung::cpu {

/// The last choice whose instruction set this machine supports. Choices are in ascending order, and
/// the first one is always supported.
template <class F>
F pick_target(std::initializer_list<std::pair<Isa, F>> choices) {
  F picked = choices.begin()->second;
  for (const auto& [isa, function] : choices) {
    if (machine().isa.contains(isa)) picked = function;
  }
  return picked;
}

}  // namespace rung::cpu

#endif  // RUNG_DEVICE_CPU_SIMD_HPP

// clang-format off
#include <hwy/foreach_target.h>  // re-includes the file; must come before highway.h
#include <hwy/highway.h>
// clang-format on

// True if a masked load of 4-byte or 8-byte elements accesses no other elements. AVX2 has such
// instructions; Highway reports that masked operations may fault only because AVX2 lacks them for
// smaller elements.
#ifndef RUNG_MASKS_LOADS
#define RUNG_MASKS_LOADS (!HWY_MEM_OPS_MIGHT_FAULT || HWY_TARGET == HWY_AVX2)
#endif

#if HWY_ONCE && !defined(RUNG_PICK_TARGET)

#if HWY_TARGETS & HWY_SCALAR
#define RUNG_TARGET_BASE(fn) {Isa::scalar, &N_SCALAR::fn},
#elif HWY_TARGETS & HWY_EMU128
#define RUNG_TARGET_BASE(fn) {Isa::scalar, &N_EMU128::fn},
#else
#define RUNG_TARGET_BASE(fn)
#endif
#if HWY_TARGETS & HWY_NEON
#define RUNG_TARGET_NEON(fn) {Isa::neon, &N_NEON::fn},
#elif defined(HWY_NEON_WITHOUT_AES) && (HWY_TARGETS & HWY_NEON_WITHOUT_AES)
#define RUNG_TARGET_NEON(fn) {Isa::neon, &N_NEON_WITHOUT_AES::fn},
#else
#define RUNG_TARGET_NEON(fn)
#endif
#if defined(HWY_SSE2) && (HWY_TARGETS & HWY_SSE2)
#define RUNG_TARGET_SSE2(fn) {Isa::sse2, &N_SSE2::fn},
#else
#define RUNG_TARGET_SSE2(fn)
#endif
#if HWY_TARGETS & HWY_SSE4
#define RUNG_TARGET_SSE4(fn) {Isa::sse4, &N_SSE4::fn},
#else
#define RUNG_TARGET_SSE4(fn)
#endif
#if HWY_TARGETS & HWY_AVX2
#define RUNG_TARGET_AVX2(fn) {Isa::avx2, &N_AVX2::fn},
#else
#define RUNG_TARGET_AVX2(fn)
#endif
#if HWY_TARGETS & HWY_AVX3
#define RUNG_TARGET_AVX3(fn) {Isa::avx512, &N_AVX3::fn},
#else
#define RUNG_TARGET_AVX3(fn)
#endif

/// The function `fn` for the best instruction set of this machine. Use it where the N_<target>
/// namespaces are in scope.
#define RUNG_PICK_TARGET(fn)                                                                 \
  [] {                                                                                       \
    using ::rung::cpu::Isa;                                                                  \
    return ::rung::cpu::pick_target<decltype(&HWY_NAMESPACE::fn)>(                           \
        {RUNG_TARGET_BASE(fn) RUNG_TARGET_NEON(fn) RUNG_TARGET_SSE2(fn) RUNG_TARGET_SSE4(fn) \
             RUNG_TARGET_AVX2(fn) RUNG_TARGET_AVX3(fn)});                                    \
  }()

#endif  // HWY_ONCE
