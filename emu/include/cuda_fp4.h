#pragma once
// __nv_fp4_e2m1: numbers of 4 bits, alone, in pairs and in fours (CUDA Math API, "FP4 Intrinsics").

/* As in the header of the vendor: programs ask for it. */
#define __CUDA_FP4_H__

#include "rung_emu/tiny_floats.h"

typedef __nv_fp8_storage_t __nv_fp4_storage_t;
typedef __nv_fp8_storage_t __nv_fp4x2_storage_t;
typedef __nv_fp8x2_storage_t __nv_fp4x4_storage_t;
typedef enum __nv_fp4_interpretation_t { __NV_E2M1 } __nv_fp4_interpretation_t;

namespace rung_emu {
using E2M1 = TinyFormat<1, 1, 0x7>;
}

RUNG_EMU_TINY_CONVERSIONS(4, rung_emu::E2M1::bits(value, mode), rung_emu::E2M1::value(bits), 4)

struct __nv_fp4_e2m1 : rung_emu::TinyFloat<rung_emu::E2M1> {
  using TinyFloat::TinyFloat;
};
struct __nv_fp4x2_e2m1 : rung_emu::TinyFloats<rung_emu::E2M1, __nv_fp4x2_storage_t, 2, 4> {
  using TinyFloats::TinyFloats;
};
struct __nv_fp4x4_e2m1 : rung_emu::TinyFloats<rung_emu::E2M1, __nv_fp4x4_storage_t, 4, 4> {
  using TinyFloats::TinyFloats;
};
