#pragma once
// Arithmetic with the rounding that its name says: rn to nearest even, rz to zero, ru up, rd down,
// which PTX calls rp and rm
// (PTX ISA 9.7.3, "Floating Point Instructions"). Never fused, never reordered.

#define RUNG_EMU_ROUNDED(LETTER, TYPE, REG, PTX, MODE, PTX_MODE)                     \
  RUNG_EMU_NV TYPE __nv_##LETTER##add_##MODE(TYPE a, TYPE b) {                       \
    TYPE result;                                                                     \
    asm("add." #PTX_MODE "." PTX " %0, %1, %2;" : "=" REG(result) : REG(a), REG(b)); \
    return result;                                                                   \
  }                                                                                  \
  RUNG_EMU_NV TYPE __nv_##LETTER##sub_##MODE(TYPE a, TYPE b) {                       \
    TYPE result;                                                                     \
    asm("sub." #PTX_MODE "." PTX " %0, %1, %2;" : "=" REG(result) : REG(a), REG(b)); \
    return result;                                                                   \
  }                                                                                  \
  RUNG_EMU_NV TYPE __nv_##LETTER##mul_##MODE(TYPE a, TYPE b) {                       \
    TYPE result;                                                                     \
    asm("mul." #PTX_MODE "." PTX " %0, %1, %2;" : "=" REG(result) : REG(a), REG(b)); \
    return result;                                                                   \
  }                                                                                  \
  RUNG_EMU_NV TYPE __nv_##LETTER##div_##MODE(TYPE a, TYPE b) {                       \
    TYPE result;                                                                     \
    asm("div." #PTX_MODE "." PTX " %0, %1, %2;" : "=" REG(result) : REG(a), REG(b)); \
    return result;                                                                   \
  }                                                                                  \
  RUNG_EMU_NV TYPE __nv_##LETTER##rcp_##MODE(TYPE a) {                               \
    TYPE result;                                                                     \
    asm("rcp." #PTX_MODE "." PTX " %0, %1;" : "=" REG(result) : REG(a));             \
    return result;                                                                   \
  }                                                                                  \
  RUNG_EMU_NV TYPE __nv_##LETTER##sqrt_##MODE(TYPE a) {                              \
    TYPE result;                                                                     \
    asm("sqrt." #PTX_MODE "." PTX " %0, %1;" : "=" REG(result) : REG(a));            \
    return result;                                                                   \
  }
RUNG_EMU_ROUNDED(f, float, "f", "f32", rn, rn)
RUNG_EMU_ROUNDED(f, float, "f", "f32", rz, rz)
RUNG_EMU_ROUNDED(f, float, "f", "f32", ru, rp)
RUNG_EMU_ROUNDED(f, float, "f", "f32", rd, rm)
RUNG_EMU_ROUNDED(d, double, "d", "f64", rn, rn)
RUNG_EMU_ROUNDED(d, double, "d", "f64", rz, rz)
RUNG_EMU_ROUNDED(d, double, "d", "f64", ru, rp)
RUNG_EMU_ROUNDED(d, double, "d", "f64", rd, rm)
#undef RUNG_EMU_ROUNDED

#define RUNG_EMU_FMA(NAME, TYPE, REG, PTX, MODE, PTX_MODE)                                       \
  RUNG_EMU_NV TYPE __nv_##NAME##_##MODE(TYPE a, TYPE b, TYPE c) {                                \
    TYPE result;                                                                                 \
    asm("fma." #PTX_MODE "." PTX " %0, %1, %2, %3;" : "=" REG(result) : REG(a), REG(b), REG(c)); \
    return result;                                                                               \
  }
#define RUNG_EMU_FMA_MODES(NAME, TYPE, REG, PTX) \
  RUNG_EMU_FMA(NAME, TYPE, REG, PTX, rn, rn)     \
  RUNG_EMU_FMA(NAME, TYPE, REG, PTX, rz, rz)     \
  RUNG_EMU_FMA(NAME, TYPE, REG, PTX, ru, rp)     \
  RUNG_EMU_FMA(NAME, TYPE, REG, PTX, rd, rm)
RUNG_EMU_FMA_MODES(fmaf, float, "f", "f32")
RUNG_EMU_FMA_MODES(fmaf_ieee, float, "f", "f32")
RUNG_EMU_FMA_MODES(fma, double, "d", "f64")
#undef RUNG_EMU_FMA
#undef RUNG_EMU_FMA_MODES

// rsqrt has no rounded form in PTX; in double precision its error is far below a float's rounding.
RUNG_EMU_NV float __nv_frsqrt_rn(float a) {
  double result;
  asm("{ .reg .f64 t; cvt.f64.f32 t, %1; sqrt.rn.f64 t, t; rcp.rn.f64 %0, t; }"
      : "=d"(result)
      : "f"(a));
  return static_cast<float>(result);
}
