// Compiles a file of handlers once per SIMD instruction set. Code between HWY_BEFORE_NAMESPACE()
// and HWY_AFTER_NAMESPACE(), in namespace HWY_NAMESPACE, is compiled for each set; code under `#if
// HWY_ONCE` is compiled once and selects a set by RUNG_PICK_LANES. device/cpu/simd.hpp works in the
// same way. Here, the loops are plain C++, and x86 has only one 128-bit set, AVX2 and AVX-512,
// because there are many handlers and each set costs compile time. A file with many rarely used
// handlers defines RUNG_LANES_WITHOUT_AVX3 first and is compiled for one set fewer. Only the first
// lines have an include guard, because the file is intentionally included several times.

#ifndef RUNG_VGPU_ENGINE_TARGETS_HPP
#define RUNG_VGPU_ENGINE_TARGETS_HPP

#include <hwy/base.h>

#include "device/cpu/machine.hpp"

#define RUNG_HWY_VERSION (HWY_MAJOR * 10000 + HWY_MINOR * 100 + HWY_PATCH)
#if RUNG_HWY_VERSION >= 10006
#define RUNG_NEWER_TARGETS (HWY_AVX3_ZEN4 | HWY_AVX3_SPR)
#else
#define RUNG_NEWER_TARGETS 0
#endif
#ifdef RUNG_LANES_WITHOUT_AVX3
#define RUNG_RARE_TARGETS HWY_AVX3
#else
#define RUNG_RARE_TARGETS 0
#endif
// The baseline target, given by the compiler flags, is always enabled.
#define HWY_DISABLED_TARGETS                                                        \
  (((HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | RUNG_RARE_TARGETS | RUNG_NEWER_TARGETS) & \
    ~HWY_BASELINE_TARGETS) |                                                        \
   HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)

// Tells the compiler that the lanes of a loop are independent: if a row is both source and
// destination, each lane is read before it is written.
#ifdef __clang__
#define RUNG_LANES _Pragma("clang loop vectorize(assume_safety) interleave(enable)")
#else
#define RUNG_LANES _Pragma("GCC ivdep")
#endif

#endif  // RUNG_VGPU_ENGINE_TARGETS_HPP

// clang-format off
#include <hwy/foreach_target.h>  // re-includes the file; must come before highway.h
#include <hwy/highway.h>
// clang-format on

#if HWY_ONCE && !defined(RUNG_PICK_LANES)

#if HWY_TARGETS & HWY_AVX3
#define RUNG_LANES_AVX3(fn) \
  if (::rung::cpu::machine().isa.contains(::rung::cpu::Isa::avx512)) return &N_AVX3::fn;
#else
#define RUNG_LANES_AVX3(fn)
#endif
#if HWY_TARGETS & HWY_AVX2
#define RUNG_LANES_AVX2(fn) \
  if (::rung::cpu::machine().isa.contains(::rung::cpu::Isa::avx2)) return &N_AVX2::fn;
#else
#define RUNG_LANES_AVX2(fn)
#endif

/// Selects the function `fn` for the best instruction set of this CPU. Use where the N_<target>
/// namespaces are in scope. The last one, HWY_NAMESPACE, is the baseline of the whole program.
#define RUNG_PICK_LANES(fn)                                            \
  []() -> decltype(&HWY_NAMESPACE::fn) {                               \
    RUNG_LANES_AVX3(fn) RUNG_LANES_AVX2(fn) return &HWY_NAMESPACE::fn; \
  }()

#endif  // HWY_ONCE
