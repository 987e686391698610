#pragma once
// The descriptors that the files of kernels/*/cpu define, declared from their rungs.inc.

#include "device/cpu/rung.hpp"

namespace rung {

#define RUNG(number, slug) extern const cpu::GemmRung gemm_cpu_##number##_##slug;
#include "gemm/cpu/rungs.inc"
#undef RUNG

#define RUNG(number, slug) extern const cpu::DotRung dot_cpu_##number##_##slug;
#include "dot/cpu/rungs.inc"
#undef RUNG

}  // namespace rung
