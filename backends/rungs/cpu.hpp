#pragma once
// Declares the descriptors that the files of ladder/*/cpu define, from their rungs.inc.

#include <array>

#include "backends/rungs/named_rung.hpp"
#include "device/cpu/rung_descriptor.hpp"

namespace rung {

#define RUNG(number, idea) KERNEL(number##_##idea)

#define KERNEL(slug) extern const cpu::GemmRung gemm_cpu_##slug;
#include "kernels/gemm/cpu/kernels.inc"
#include "ladder/gemm/cpu/rungs.inc"
#undef KERNEL
#define KERNEL(slug) extern const cpu::DotRung dot_cpu_##slug;
#include "kernels/dot/cpu/kernels.inc"
#include "ladder/dot/cpu/rungs.inc"
#undef KERNEL

namespace cpu {

inline constexpr auto gemm_rungs = std::to_array<NamedRung<GemmRung>>({
#define KERNEL(slug) {"gemm/cpu/" #slug, &gemm_cpu_##slug},
#include "ladder/gemm/cpu/rungs.inc"
// The library's kernels follow the ladder.
#include "kernels/gemm/cpu/kernels.inc"
#undef KERNEL
});

inline constexpr auto dot_rungs = std::to_array<NamedRung<DotRung>>({
#define KERNEL(slug) {"dot/cpu/" #slug, &dot_cpu_##slug},
#include "ladder/dot/cpu/rungs.inc"
// The library's kernels follow the ladder.
#include "kernels/dot/cpu/kernels.inc"
#undef KERNEL
#undef RUNG
});

}  // namespace cpu

}  // namespace rung
