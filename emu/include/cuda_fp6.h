#pragma once
// __nv_fp6_e2m3 and __nv_fp6_e3m2: numbers of 6 bits, alone, in pairs and in fours, each in a byte (CUDA Math API, "FP6
// Intrinsics").

/* As in the header of the vendor: programs ask for it. */
#define __CUDA_FP6_H__

#include "rung_emu/tiny_floats.h"

typedef __nv_fp8_storage_t __nv_fp6_storage_t;
typedef __nv_fp8x2_storage_t __nv_fp6x2_storage_t;
typedef __nv_fp8x4_storage_t __nv_fp6x4_storage_t;
typedef enum __nv_fp6_interpretation_t { __NV_E2M3, __NV_E3M2 } __nv_fp6_interpretation_t;

namespace rung_emu {
using E2M3 = TinyFormat<3, 1, 0x1F>;
using E3M2 = TinyFormat<2, 3, 0x1F>;
}  // namespace rung_emu

RUNG_EMU_TINY_CONVERSIONS(
    6, kind == __NV_E2M3 ? rung_emu::E2M3::bits(value, mode) : rung_emu::E3M2::bits(value, mode),
    kind == __NV_E2M3 ? rung_emu::E2M3::value(bits) : rung_emu::E3M2::value(bits), 8)

#define RUNG_EMU_FP6(NAME, FORMAT)                                                                \
  struct __nv_fp6_##NAME : rung_emu::TinyFloat<rung_emu::FORMAT> {                                \
    using TinyFloat::TinyFloat;                                                                   \
  };                                                                                              \
  struct __nv_fp6x2_##NAME : rung_emu::TinyFloats<rung_emu::FORMAT, __nv_fp6x2_storage_t, 2, 8> { \
    using TinyFloats::TinyFloats;                                                                 \
  };                                                                                              \
  struct __nv_fp6x4_##NAME : rung_emu::TinyFloats<rung_emu::FORMAT, __nv_fp6x4_storage_t, 4, 8> { \
    using TinyFloats::TinyFloats;                                                                 \
  };
RUNG_EMU_FP6(e2m3, E2M3)
RUNG_EMU_FP6(e3m2, E3M2)
#undef RUNG_EMU_FP6
