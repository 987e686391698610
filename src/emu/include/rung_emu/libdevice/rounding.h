#pragma once
// Arithmetic with the rounding that its name says: rn to nearest even, rz to zero, ru up, rd down
// (PTX ISA 9.7.3, "Floating Point Instructions"). Never fused, never reordered.

#define RUNG_EMU_ROUNDED(LETTER, TYPE, REG, PTX, MODE)                           \
  RUNG_EMU_NV TYPE __nv_##LETTER##add_##MODE(TYPE a, TYPE b) {                   \
    TYPE result;                                                                 \
    asm("add." #MODE "." PTX " %0, %1, %2;" : "=" REG(result) : REG(a), REG(b)); \
    return result;                                                               \
  }                                                                              \
  RUNG_EMU_NV TYPE __nv_##LETTER##sub_##MODE(TYPE a, TYPE b) {                   \
    TYPE result;                                                                 \
    asm("sub." #MODE "." PTX " %0, %1, %2;" : "=" REG(result) : REG(a), REG(b)); \
    return result;                                                               \
  }                                                                              \
  RUNG_EMU_NV TYPE __nv_##LETTER##mul_##MODE(TYPE a, TYPE b) {                   \
    TYPE result;                                                                 \
    asm("mul." #MODE "." PTX " %0, %1, %2;" : "=" REG(result) : REG(a), REG(b)); \
    return result;                                                               \
  }                                                                              \
  RUNG_EMU_NV TYPE __nv_##LETTER##div_##MODE(TYPE a, TYPE b) {                   \
    TYPE result;                                                                 \
    asm("div." #MODE "." PTX " %0, %1, %2;" : "=" REG(result) : REG(a), REG(b)); \
    return result;                                                               \
  }                                                                              \
  RUNG_EMU_NV TYPE __nv_##LETTER##rcp_##MODE(TYPE a) {                           \
    TYPE result;                                                                 \
    asm("rcp." #MODE "." PTX " %0, %1;" : "=" REG(result) : REG(a));             \
    return result;                                                               \
  }                                                                              \
  RUNG_EMU_NV TYPE __nv_##LETTER##sqrt_##MODE(TYPE a) {                          \
    TYPE result;                                                                 \
    asm("sqrt." #MODE "." PTX " %0, %1;" : "=" REG(result) : REG(a));            \
    return result;                                                               \
  }
RUNG_EMU_ROUNDED(f, float, "f", "f32", rn)
RUNG_EMU_ROUNDED(f, float, "f", "f32", rz)
RUNG_EMU_ROUNDED(f, float, "f", "f32", ru)
RUNG_EMU_ROUNDED(f, float, "f", "f32", rd)
RUNG_EMU_ROUNDED(d, double, "d", "f64", rn)
RUNG_EMU_ROUNDED(d, double, "d", "f64", rz)
RUNG_EMU_ROUNDED(d, double, "d", "f64", ru)
RUNG_EMU_ROUNDED(d, double, "d", "f64", rd)
#undef RUNG_EMU_ROUNDED

#define RUNG_EMU_FMA(NAME, TYPE, REG, PTX, MODE)                                             \
  RUNG_EMU_NV TYPE __nv_##NAME##_##MODE(TYPE a, TYPE b, TYPE c) {                            \
    TYPE result;                                                                             \
    asm("fma." #MODE "." PTX " %0, %1, %2, %3;" : "=" REG(result) : REG(a), REG(b), REG(c)); \
    return result;                                                                           \
  }
#define RUNG_EMU_FMA_MODES(NAME, TYPE, REG, PTX) \
  RUNG_EMU_FMA(NAME, TYPE, REG, PTX, rn)         \
  RUNG_EMU_FMA(NAME, TYPE, REG, PTX, rz)         \
  RUNG_EMU_FMA(NAME, TYPE, REG, PTX, ru)         \
  RUNG_EMU_FMA(NAME, TYPE, REG, PTX, rd)
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
