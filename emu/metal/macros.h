#pragma once
// The macros of Metal's library, for the preprocessor.

#define METAL_FUNC inline __attribute__((__always_inline__))
#define METAL_INTERNAL inline __attribute__((__always_inline__))
#define METAL_CONST const
#define METAL_PURE
#define METAL_VALID_ARG(...)
#define METAL_CONST_ARG(...)

#define INFINITY (__builtin_huge_valf())
#define NAN (__builtin_nanf(""))
#define HUGE_VALF (__builtin_huge_valf())
#define HUGE_VALH ((half)__builtin_huge_valf())
#define MAXFLOAT 3.402823466e+38f
#define MAXHALF ((half)65504.0f)

#define FLT_MAX 3.402823466e+38f
#define FLT_MIN 1.175494351e-38f
#define FLT_EPSILON 1.192092896e-07f
#define FLT_DIG 6
#define FLT_MANT_DIG 24
#define FLT_MAX_EXP 128
#define FLT_MIN_EXP (-125)
#define FLT_RADIX 2
#define HALF_MAX ((half)65504.0f)
#define HALF_MIN ((half)6.103515625e-05f)
#define HALF_EPSILON ((half)0.0009765625f)
#define HALF_DIG 3
#define HALF_MANT_DIG 11
#define BFLT_MAX ((bfloat)3.38953139e38f)
#define BFLT_MIN ((bfloat)1.175494351e-38f)
#define BFLT_EPSILON ((bfloat)0.0078125f)

#define CHAR_BIT 8
#define CHAR_MAX 127
#define CHAR_MIN (-128)
#define SCHAR_MAX 127
#define SCHAR_MIN (-128)
#define UCHAR_MAX 255
#define SHRT_MAX 32767
#define SHRT_MIN (-32768)
#define USHRT_MAX 65535
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 0xffffffffu
#define LONG_MAX 0x7fffffffffffffffL
#define LONG_MIN (-0x7fffffffffffffffL - 1L)
#define ULONG_MAX 0xffffffffffffffffUL
#define INT8_MAX 127
#define INT8_MIN (-128)
#define UINT8_MAX 255
#define INT16_MAX 32767
#define INT16_MIN (-32768)
#define UINT16_MAX 65535
#define INT32_MAX 2147483647
#define INT32_MIN (-2147483647 - 1)
#define UINT32_MAX 0xffffffffu
#define INT64_MAX 0x7fffffffffffffffL
#define INT64_MIN (-0x7fffffffffffffffL - 1L)
#define UINT64_MAX 0xffffffffffffffffUL
#define SIZE_MAX 0xffffffffffffffffUL

#define M_E_F 2.71828182845904523536f
#define M_LOG2E_F 1.44269504088896340736f
#define M_LOG10E_F 0.434294481903251827651f
#define M_LN2_F 0.693147180559945309417f
#define M_LN10_F 2.30258509299404568402f
#define M_PI_F 3.14159265358979323846f
#define M_PI_2_F 1.57079632679489661923f
#define M_PI_4_F 0.785398163397448309616f
#define M_1_PI_F 0.318309886183790671538f
#define M_2_PI_F 0.636619772367581343076f
#define M_2_SQRTPI_F 1.12837916709551257390f
#define M_SQRT2_F 1.41421356237309504880f
#define M_SQRT1_2_F 0.707106781186547524400f
#define M_E_H ((half)2.71828182845904523536f)
#define M_LOG2E_H ((half)1.44269504088896340736f)
#define M_LOG10E_H ((half)0.434294481903251827651f)
#define M_LN2_H ((half)0.693147180559945309417f)
#define M_LN10_H ((half)2.30258509299404568402f)
#define M_PI_H ((half)3.14159265358979323846f)
#define M_PI_2_H ((half)1.57079632679489661923f)
#define M_PI_4_H ((half)0.785398163397448309616f)
#define M_1_PI_H ((half)0.318309886183790671538f)
#define M_2_PI_H ((half)0.636619772367581343076f)
#define M_2_SQRTPI_H ((half)1.12837916709551257390f)
#define M_SQRT2_H ((half)1.41421356237309504880f)
#define M_SQRT1_2_H ((half)0.707106781186547524400f)

#define NULL 0
#define assert(condition) ((void)0)
#define __METAL_MAYBE_FAST_MATH__ 0
#define __METAL_FAST_MATH__ 0
#define __METAL_PRECISE_MATH__ 0
#define TARGET_OS_MAC 1
#define TARGET_OS_OSX 1
#define TARGET_OS_IPHONE 0
#define TARGET_OS_IOS 0
#define TARGET_OS_SIMULATOR 0
