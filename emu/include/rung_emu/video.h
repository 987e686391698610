#pragma once
// Dot products of bytes and shorts, and the dynamic programming functions (CUDA Math API, "Integer
// Intrinsics", "DPX").

#define RUNG_EMU_DOT static __device__ __forceinline__

RUNG_EMU_DOT int __dp4a(int a, int b, int c) {
  asm("dp4a.s32.s32 %0, %1, %2, %0;" : "+r"(c) : "r"(a), "r"(b));
  return c;
}
RUNG_EMU_DOT unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c) {
  asm("dp4a.u32.u32 %0, %1, %2, %0;" : "+r"(c) : "r"(a), "r"(b));
  return c;
}
RUNG_EMU_DOT int __dp4a(char4 a, char4 b, int c) {
  return __dp4a(__builtin_bit_cast(int, a), __builtin_bit_cast(int, b), c);
}
RUNG_EMU_DOT unsigned int __dp4a(uchar4 a, uchar4 b, unsigned int c) {
  return __dp4a(__builtin_bit_cast(unsigned int, a), __builtin_bit_cast(unsigned int, b), c);
}

// The low or high two of b's four bytes.
RUNG_EMU_DOT int __dp2a_lo(int a, int b, int c) {
  return static_cast<short>(a) * static_cast<signed char>(b) +
         (a >> 16) * static_cast<signed char>(b >> 8) + c;
}
RUNG_EMU_DOT int __dp2a_hi(int a, int b, int c) { return __dp2a_lo(a, b >> 16, c); }
RUNG_EMU_DOT unsigned int __dp2a_lo(unsigned int a, unsigned int b, unsigned int c) {
  return (a & 0xffff) * (b & 0xff) + (a >> 16) * (b >> 8 & 0xff) + c;
}
RUNG_EMU_DOT unsigned int __dp2a_hi(unsigned int a, unsigned int b, unsigned int c) {
  return __dp2a_lo(a, b >> 16, c);
}
RUNG_EMU_DOT int __dp2a_lo(short2 a, char4 b, int c) {
  return __dp2a_lo(__builtin_bit_cast(int, a), __builtin_bit_cast(int, b), c);
}
RUNG_EMU_DOT int __dp2a_hi(short2 a, char4 b, int c) {
  return __dp2a_hi(__builtin_bit_cast(int, a), __builtin_bit_cast(int, b), c);
}
RUNG_EMU_DOT unsigned int __dp2a_lo(ushort2 a, uchar4 b, unsigned int c) {
  return __dp2a_lo(__builtin_bit_cast(unsigned int, a), __builtin_bit_cast(unsigned int, b), c);
}
RUNG_EMU_DOT unsigned int __dp2a_hi(ushort2 a, uchar4 b, unsigned int c) {
  return __dp2a_hi(__builtin_bit_cast(unsigned int, a), __builtin_bit_cast(unsigned int, b), c);
}
#undef RUNG_EMU_DOT

#define RUNG_EMU_DPX static __host__ __device__ __forceinline__

// NAME is max or min. Functions: of three values, of a sum and a value, also with 0 (_relu), and with the
// index of the result.
#define RUNG_EMU_DPX_TYPE(TYPE, SUFFIX)                                                           \
  RUNG_EMU_DPX TYPE __vimax3_##SUFFIX(TYPE a, TYPE b, TYPE c) {                                   \
    const TYPE most = a > b ? a : b;                                                              \
    return most > c ? most : c;                                                                   \
  }                                                                                               \
  RUNG_EMU_DPX TYPE __vimin3_##SUFFIX(TYPE a, TYPE b, TYPE c) {                                   \
    const TYPE least = a < b ? a : b;                                                             \
    return least < c ? least : c;                                                                 \
  }                                                                                               \
  RUNG_EMU_DPX TYPE __viaddmax_##SUFFIX(TYPE a, TYPE b, TYPE c) { return a + b > c ? a + b : c; } \
  RUNG_EMU_DPX TYPE __viaddmin_##SUFFIX(TYPE a, TYPE b, TYPE c) { return a + b < c ? a + b : c; } \
  RUNG_EMU_DPX TYPE __vibmax_##SUFFIX(TYPE a, TYPE b, bool* first) {                              \
    *first = a >= b;                                                                              \
    return *first ? a : b;                                                                        \
  }                                                                                               \
  RUNG_EMU_DPX TYPE __vibmin_##SUFFIX(TYPE a, TYPE b, bool* first) {                              \
    *first = a <= b;                                                                              \
    return *first ? a : b;                                                                        \
  }
RUNG_EMU_DPX_TYPE(int, s32)
RUNG_EMU_DPX_TYPE(unsigned int, u32)
#undef RUNG_EMU_DPX_TYPE
RUNG_EMU_DPX int __vimax_s32_relu(int a, int b) { return __vimax3_s32(a, b, 0); }
RUNG_EMU_DPX int __vimin_s32_relu(int a, int b) {
  const int least = a < b ? a : b;
  return least > 0 ? least : 0;
}
RUNG_EMU_DPX int __vimax3_s32_relu(int a, int b, int c) {
  return __vimax3_s32(a, b, c > 0 ? c : 0);
}
RUNG_EMU_DPX int __vimin3_s32_relu(int a, int b, int c) {
  const int least = __vimin3_s32(a, b, c);
  return least > 0 ? least : 0;
}
RUNG_EMU_DPX int __viaddmax_s32_relu(int a, int b, int c) { return __vimax3_s32(a + b, c, 0); }
RUNG_EMU_DPX int __viaddmin_s32_relu(int a, int b, int c) {
  const int least = __viaddmin_s32(a, b, c);
  return least > 0 ? least : 0;
}

// The same on the two halves of a word.
#define RUNG_EMU_DPX_PAIR(SUFFIX, HALF, ONE, NAME)                                            \
  RUNG_EMU_DPX unsigned int NAME##_##SUFFIX(unsigned int a, unsigned int b, unsigned int c) { \
    const unsigned int low = static_cast<unsigned short>(                                     \
        NAME##_##ONE(static_cast<HALF>(a), static_cast<HALF>(b), static_cast<HALF>(c)));      \
    const unsigned int high = static_cast<unsigned short>(NAME##_##ONE(                       \
        static_cast<HALF>(a >> 16), static_cast<HALF>(b >> 16), static_cast<HALF>(c >> 16))); \
    return high << 16 | low;                                                                  \
  }
RUNG_EMU_DPX_PAIR(s16x2, short, s32, __vimax3)
RUNG_EMU_DPX_PAIR(s16x2, short, s32, __vimin3)
RUNG_EMU_DPX_PAIR(s16x2, short, s32, __viaddmax)
RUNG_EMU_DPX_PAIR(s16x2, short, s32, __viaddmin)
RUNG_EMU_DPX_PAIR(s16x2_relu, short, s32_relu, __vimax3)
RUNG_EMU_DPX_PAIR(s16x2_relu, short, s32_relu, __vimin3)
RUNG_EMU_DPX_PAIR(s16x2_relu, short, s32_relu, __viaddmax)
RUNG_EMU_DPX_PAIR(s16x2_relu, short, s32_relu, __viaddmin)
RUNG_EMU_DPX_PAIR(u16x2, unsigned short, u32, __vimax3)
RUNG_EMU_DPX_PAIR(u16x2, unsigned short, u32, __vimin3)
#undef RUNG_EMU_DPX_PAIR
#undef RUNG_EMU_DPX
