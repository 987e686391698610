#pragma once
// Integers: bits, products and sums.

RUNG_EMU_NV int __nv_abs(int a) { return a < 0 ? -a : a; }
RUNG_EMU_NV long long __nv_llabs(long long a) { return a < 0 ? -a : a; }
RUNG_EMU_NV int __nv_max(int a, int b) { return a > b ? a : b; }
RUNG_EMU_NV int __nv_min(int a, int b) { return a < b ? a : b; }
RUNG_EMU_NV unsigned int __nv_umax(unsigned int a, unsigned int b) { return a > b ? a : b; }
RUNG_EMU_NV unsigned int __nv_umin(unsigned int a, unsigned int b) { return a < b ? a : b; }
RUNG_EMU_NV long long __nv_llmax(long long a, long long b) { return a > b ? a : b; }
RUNG_EMU_NV long long __nv_llmin(long long a, long long b) { return a < b ? a : b; }
RUNG_EMU_NV unsigned long long __nv_ullmax(unsigned long long a, unsigned long long b) {
  return a > b ? a : b;
}
RUNG_EMU_NV unsigned long long __nv_ullmin(unsigned long long a, unsigned long long b) {
  return a < b ? a : b;
}

// One bit more than the argument has, where no bit is set: what PTX's clz gives.
RUNG_EMU_NV int __nv_clz(int a) { return a == 0 ? 32 : __builtin_clz(a); }
RUNG_EMU_NV int __nv_clzll(long long a) { return a == 0 ? 64 : __builtin_clzll(a); }
RUNG_EMU_NV int __nv_popc(int a) { return __builtin_popcount(a); }
RUNG_EMU_NV int __nv_popcll(long long a) { return __builtin_popcountll(a); }
RUNG_EMU_NV int __nv_brev(int a) { return static_cast<int>(__builtin_bitreverse32(a)); }
RUNG_EMU_NV long long __nv_brevll(long long a) {
  return static_cast<long long>(__builtin_bitreverse64(a));
}
RUNG_EMU_NV int __nv_ffs(int a) { return a == 0 ? 0 : 1 + __builtin_ctz(a); }
RUNG_EMU_NV int __nv_ffsll(long long a) { return a == 0 ? 0 : 1 + __builtin_ctzll(a); }
RUNG_EMU_NV int __nv_byte_perm(int a, int b, int selector) {
  int result;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(selector & 0x7777));
  return result;
}

RUNG_EMU_NV int __nv_mulhi(int a, int b) {
  return static_cast<int>((static_cast<long long>(a) * b) >> 32);
}
RUNG_EMU_NV unsigned int __nv_umulhi(unsigned int a, unsigned int b) {
  return static_cast<unsigned int>((static_cast<unsigned long long>(a) * b) >> 32);
}
RUNG_EMU_NV long long __nv_mul64hi(long long a, long long b) {
  long long result;
  asm("mul.hi.s64 %0, %1, %2;" : "=l"(result) : "l"(a), "l"(b));
  return result;
}
RUNG_EMU_NV unsigned long long __nv_umul64hi(unsigned long long a, unsigned long long b) {
  unsigned long long result;
  asm("mul.hi.u64 %0, %1, %2;" : "=l"(result) : "l"(a), "l"(b));
  return result;
}
RUNG_EMU_NV int __nv_mul24(int a, int b) {
  int result;
  asm("mul24.lo.s32 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  return result;
}
RUNG_EMU_NV unsigned int __nv_umul24(unsigned int a, unsigned int b) {
  unsigned int result;
  asm("mul24.lo.u32 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  return result;
}
RUNG_EMU_NV int __nv_sad(int a, int b, int c) {
  int result;
  asm("sad.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(c));
  return result;
}
RUNG_EMU_NV unsigned int __nv_usad(unsigned int a, unsigned int b, unsigned int c) {
  unsigned int result;
  asm("sad.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(c));
  return result;
}

// Averages, rounded down (hadd) and up (rhadd), without overflow.
RUNG_EMU_NV int __nv_hadd(int a, int b) {
  return static_cast<int>((static_cast<long long>(a) + b) >> 1);
}
RUNG_EMU_NV int __nv_rhadd(int a, int b) {
  return static_cast<int>((static_cast<long long>(a) + b + 1) >> 1);
}
RUNG_EMU_NV int __nv_uhadd(unsigned int a, unsigned int b) {
  return static_cast<int>((static_cast<unsigned long long>(a) + b) >> 1);
}
RUNG_EMU_NV unsigned int __nv_urhadd(unsigned int a, unsigned int b) {
  return static_cast<unsigned int>((static_cast<unsigned long long>(a) + b + 1) >> 1);
}
