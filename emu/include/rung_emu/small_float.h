#pragma once
// The common part of __half and __nv_bfloat16: a class of two bytes with the operators of a number, and
// the intrinsics whose names do not contain the type. The compiler does arithmetic on STORAGE (_Float16,
// __bf16); functions are computed in WIDE.

#define RUNG_EMU_HD static __host__ __device__ __forceinline__

#define RUNG_EMU_SMALL_FLOAT_CLASS(T, STORAGE)                                                     \
  struct __align__(2) T {                                                                          \
    union {                                                                                        \
      STORAGE value;                                                                               \
      unsigned short __x; /* its bits, by the name that libraries know */                          \
    };                                                                                             \
                                                                                                   \
    T() = default;                                                                                 \
    __host__ __device__ constexpr T(T##_raw bits) : __x(bits.x) {}                                 \
    __host__ __device__ operator T##_raw() const { return {__x}; }                                 \
    __host__ __device__ operator T##_raw() const volatile { return {__x}; }                        \
    __host__ __device__ constexpr T(STORAGE v) : value(v) {}                                       \
    __host__ __device__ T(float v) : value(static_cast<STORAGE>(v)) {}                             \
    __host__ __device__ T(double v) : value(static_cast<STORAGE>(v)) {}                            \
    __host__ __device__ T(int v) : value(static_cast<STORAGE>(static_cast<float>(v))) {}           \
    __host__ __device__ T(unsigned int v) : value(static_cast<STORAGE>(static_cast<float>(v))) {}  \
    __host__ __device__ T(long long v) : value(static_cast<STORAGE>(static_cast<float>(v))) {}     \
    __host__ __device__ T(unsigned long long v)                                                    \
        : value(static_cast<STORAGE>(static_cast<float>(v))) {}                                    \
    __host__ __device__ T(short v) : value(static_cast<STORAGE>(static_cast<float>(v))) {}         \
    __host__ __device__ T(unsigned short v)                                                        \
        : value(static_cast<STORAGE>(static_cast<float>(v))) {}                                    \
    __host__ __device__ T(long v) : value(static_cast<STORAGE>(static_cast<float>(v))) {}          \
    __host__ __device__ T(unsigned long v) : value(static_cast<STORAGE>(static_cast<float>(v))) {} \
    __host__ __device__ operator float() const { return static_cast<float>(value); }               \
    __host__ __device__ explicit operator double() const { return static_cast<float>(value); }     \
    __host__ __device__ explicit operator int() const {                                            \
      return static_cast<int>(static_cast<float>(value));                                          \
    }                                                                                              \
    __host__ __device__ explicit operator bool() const { return static_cast<float>(value) != 0; }  \
  };

#define RUNG_EMU_SMALL_FLOAT_OPERATOR(T, OP)                               \
  RUNG_EMU_HD T operator OP(const T& a, const T& b) {                      \
    return T(static_cast<decltype(a.value)>(a.value OP b.value));          \
  }                                                                        \
  RUNG_EMU_HD T& operator OP##=(T & a, const T & b) { return a = a OP b; } \
  RUNG_EMU_HD T##2 operator OP(const T##2 & a, const T##2 & b) {           \
    return T##2 {a.x OP b.x, a.y OP b.y};                                  \
  }                                                                        \
  RUNG_EMU_HD T##2 & operator OP##=(T##2 & a, const T##2 & b) { return a = a OP b; }

#define RUNG_EMU_SMALL_FLOAT_COMPARISON(T, OP, NAME)                                  \
  RUNG_EMU_HD bool operator OP(const T& a, const T& b) { return a.value OP b.value; } \
  RUNG_EMU_HD bool __h##NAME(T a, T b) { return a.value OP b.value; }                 \
  RUNG_EMU_HD T##2 __h##NAME##2(T##2 a, T##2 b) {                                     \
    return T##2 {T(a.x.value OP b.x.value ? 1.0f : 0.0f),                             \
                 T(a.y.value OP b.y.value ? 1.0f : 0.0f)};                            \
  }                                                                                   \
  RUNG_EMU_HD bool __hb##NAME##2(T##2 a, T##2 b) {                                    \
    return a.x.value OP b.x.value && a.y.value OP b.y.value;                          \
  }

// An intrinsic of two numbers, and of two pairs.
#define RUNG_EMU_SMALL_FLOAT_BINARY(T, NAME, EXPRESSION) \
  RUNG_EMU_HD T NAME(T a, T b) { return EXPRESSION; }    \
  RUNG_EMU_HD T##2 NAME##2(T##2 a, T##2 b) { return T##2 {NAME(a.x, b.x), NAME(a.y, b.y)}; }

// h<FUNCTION> and h2<FUNCTION>, in single precision.
#define RUNG_EMU_SMALL_FLOAT_FUNCTION(T, FUNCTION, EXPRESSION)                   \
  static __device__ __forceinline__ T h##FUNCTION(T a) { return T(EXPRESSION); } \
  static __device__ __forceinline__ T##2 h2##FUNCTION(T##2 a) {                  \
    return T##2 {h##FUNCTION(a.x), h##FUNCTION(a.y)};                            \
  }

#ifdef __CUDA__
#define RUNG_EMU_SMALL_FLOAT_SHUFFLE(T, NAME, OFFSET)                                           \
  static __device__ __forceinline__ T NAME(unsigned int mask, T value, OFFSET offset,           \
                                           int width = 32) {                                    \
    const unsigned int bits = __builtin_bit_cast(unsigned short, value);                        \
    return __builtin_bit_cast(T, static_cast<unsigned short>(NAME(mask, bits, offset, width))); \
  }                                                                                             \
  static __device__ __forceinline__ T##2 NAME(unsigned int mask, T##2 value, OFFSET offset,     \
                                              int width = 32) {                                 \
    const unsigned int bits = __builtin_bit_cast(unsigned int, value);                          \
    return __builtin_bit_cast(T##2, NAME(mask, bits, offset, width));                           \
  }
#else  // host code by itself
#define RUNG_EMU_SMALL_FLOAT_SHUFFLE(T, NAME, OFFSET)
#endif

#define RUNG_EMU_SMALL_FLOAT(T, STORAGE)                                                          \
  struct T##_raw {                                                                                \
    unsigned short x;                                                                             \
  };                                                                                              \
  struct T##2_raw { unsigned short x, y; };                                                       \
  RUNG_EMU_SMALL_FLOAT_CLASS(T, STORAGE)                                                          \
  struct __align__(4) T##2 {                                                                      \
    T x, y;                                                                                       \
    T##2() = default;                                                                             \
    __host__ __device__ constexpr T##2(const T& a, const T& b) : x(a), y(b) {}                    \
    __host__ __device__ constexpr T##2(T##2_raw bits) : x(T##_raw{bits.x}), y(T##_raw{bits.y}) {} \
    __host__ __device__ operator T##2_raw() const { return {x.__x, y.__x}; }                      \
  };                                                                                              \
  RUNG_EMU_SMALL_FLOAT_OPERATOR(T, +)                                                             \
  RUNG_EMU_SMALL_FLOAT_OPERATOR(T, -)                                                             \
  RUNG_EMU_SMALL_FLOAT_OPERATOR(T, *)                                                             \
  RUNG_EMU_SMALL_FLOAT_OPERATOR(T, /)                                                             \
  RUNG_EMU_HD T operator-(const T& a) { return T(static_cast<STORAGE>(-a.value)); }               \
  RUNG_EMU_HD T operator+(const T& a) { return a; }                                               \
  RUNG_EMU_HD T##2 operator-(const T##2 & a) { return T##2 {-a.x, -a.y}; }                        \
  RUNG_EMU_SMALL_FLOAT_COMPARISON(T, ==, eq)                                                      \
  RUNG_EMU_SMALL_FLOAT_COMPARISON(T, !=, ne)                                                      \
  RUNG_EMU_SMALL_FLOAT_COMPARISON(T, <, lt)                                                       \
  RUNG_EMU_SMALL_FLOAT_COMPARISON(T, <=, le)                                                      \
  RUNG_EMU_SMALL_FLOAT_COMPARISON(T, >, gt)                                                       \
  RUNG_EMU_SMALL_FLOAT_COMPARISON(T, >=, ge)                                                      \
  RUNG_EMU_SMALL_FLOAT_BINARY(T, __hadd, a + b)                                                   \
  RUNG_EMU_SMALL_FLOAT_BINARY(T, __hsub, a - b)                                                   \
  RUNG_EMU_SMALL_FLOAT_BINARY(T, __hmul, a* b)                                                    \
  RUNG_EMU_SMALL_FLOAT_BINARY(T, __hmax, T(__builtin_fmaxf(a, b)))                                \
  RUNG_EMU_SMALL_FLOAT_BINARY(T, __hmin, T(__builtin_fminf(a, b)))                                \
  RUNG_EMU_HD T __hdiv(T a, T b) { return a / b; }                                                \
  RUNG_EMU_HD T##2 __h2div(T##2 a, T##2 b) { return a / b; }                                      \
  RUNG_EMU_HD T __hneg(T a) { return -a; }                                                        \
  RUNG_EMU_HD T##2 __hneg2(T##2 a) { return -a; }                                                 \
  RUNG_EMU_HD T __habs(T a) { return T(__builtin_fabsf(a)); }                                     \
  RUNG_EMU_HD T##2 __habs2(T##2 a) { return T##2 {__habs(a.x), __habs(a.y)}; }                    \
  RUNG_EMU_HD bool __hisnan(T a) { return a.value != a.value; }                                   \
  RUNG_EMU_HD bool __hisinf(T a) { return __builtin_fabsf(a) == __builtin_inff(); }               \
  RUNG_EMU_SMALL_FLOAT_FUNCTION(T, exp, expf(a))                                                  \
  RUNG_EMU_SMALL_FLOAT_FUNCTION(T, exp2, exp2f(a))                                                \
  RUNG_EMU_SMALL_FLOAT_FUNCTION(T, log, logf(a))                                                  \
  RUNG_EMU_SMALL_FLOAT_FUNCTION(T, log2, log2f(a))                                                \
  RUNG_EMU_SMALL_FLOAT_FUNCTION(T, sin, sinf(a))                                                  \
  RUNG_EMU_SMALL_FLOAT_FUNCTION(T, cos, cosf(a))                                                  \
  RUNG_EMU_SMALL_FLOAT_FUNCTION(T, tanh, tanhf(a))                                                \
  RUNG_EMU_SMALL_FLOAT_FUNCTION(T, sqrt, sqrtf(a))                                                \
  RUNG_EMU_SMALL_FLOAT_FUNCTION(T, rsqrt, rsqrtf(a))                                              \
  RUNG_EMU_SMALL_FLOAT_FUNCTION(T, rcp, 1.0f / static_cast<float>(a))                             \
  RUNG_EMU_SMALL_FLOAT_FUNCTION(T, floor, floorf(a))                                              \
  RUNG_EMU_SMALL_FLOAT_FUNCTION(T, ceil, ceilf(a))                                                \
  RUNG_EMU_SMALL_FLOAT_FUNCTION(T, trunc, truncf(a))                                              \
  RUNG_EMU_SMALL_FLOAT_FUNCTION(T, rint, rintf(a))                                                \
  RUNG_EMU_SMALL_FLOAT_SHUFFLE(T, __shfl_sync, int)                                               \
  RUNG_EMU_SMALL_FLOAT_SHUFFLE(T, __shfl_up_sync, unsigned int)                                   \
  RUNG_EMU_SMALL_FLOAT_SHUFFLE(T, __shfl_down_sync, unsigned int)                                 \
  RUNG_EMU_SMALL_FLOAT_SHUFFLE(T, __shfl_xor_sync, int)                                           \
  static __device__ __forceinline__ T __ldg(const T* from) { return *from; }                      \
  static __device__ __forceinline__ T##2 __ldg(const T##2 * from) { return *from; }
