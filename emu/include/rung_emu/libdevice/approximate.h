#pragma once
// Functions of the special function units: __expf and the like (PTX ISA 9.7.3, "ex2", "lg2", "sin",
// "cos", "rsqrt", "rcp", "div.approx").

#define RUNG_EMU_APPROXIMATE(NAME, PTX)          \
  RUNG_EMU_NV float NAME(float a) {              \
    float result;                                \
    asm(PTX " %0, %1;" : "=f"(result) : "f"(a)); \
    return result;                               \
  }
RUNG_EMU_APPROXIMATE(rung_emu_ex2, "ex2.approx.f32")
RUNG_EMU_APPROXIMATE(__nv_fast_log2f, "lg2.approx.f32")
RUNG_EMU_APPROXIMATE(__nv_fast_sinf, "sin.approx.f32")
RUNG_EMU_APPROXIMATE(__nv_fast_cosf, "cos.approx.f32")
RUNG_EMU_APPROXIMATE(__nv_rsqrtf, "rsqrt.approx.f32")
#undef RUNG_EMU_APPROXIMATE

RUNG_EMU_NV float __nv_fast_fdividef(float a, float b) {
  float result;
  asm("div.approx.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}
RUNG_EMU_NV float __nv_fast_expf(float a) { return rung_emu_ex2(a * 1.44269504f); }
RUNG_EMU_NV float __nv_fast_exp10f(float a) { return rung_emu_ex2(a * 3.32192809f); }
RUNG_EMU_NV float __nv_fast_logf(float a) { return __nv_fast_log2f(a) * 0.693147181f; }
RUNG_EMU_NV float __nv_fast_log10f(float a) { return __nv_fast_log2f(a) * 0.301029996f; }
RUNG_EMU_NV float __nv_fast_powf(float a, float b) { return rung_emu_ex2(b * __nv_fast_log2f(a)); }
RUNG_EMU_NV float __nv_fast_tanf(float a) {
  return __nv_fast_fdividef(__nv_fast_sinf(a), __nv_fast_cosf(a));
}
RUNG_EMU_NV void __nv_fast_sincosf(float a, float* sine, float* cosine) {
  *sine = __nv_fast_sinf(a);
  *cosine = __nv_fast_cosf(a);
}
