#pragma once
// Keywords, scalars and vectors.

// Address spaces. The front end has removed these words where they mean something else.
#define device __attribute__((opencl_global))
#define threadgroup __attribute__((opencl_local))
#define constant const __attribute__((opencl_global_host))
#define thread
#define ray_data
#define object_data threadgroup
#define threadgroup_imageblock threadgroup

/// Functions are inlined, and their instructions belong to the line that calls them.
#define RUNG_METAL inline __attribute__((always_inline, nodebug))

using uchar = unsigned char;
using ushort = unsigned short;
using uint = unsigned int;
using ulong = unsigned long;
using int8_t = signed char;
using int16_t = short;
using int32_t = int;
using int64_t = long;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long;
using size_t = unsigned long;
using ptrdiff_t = long;
using intptr_t = long;
using uintptr_t = unsigned long;
using half = _Float16;
using bfloat = __bf16;
using nullptr_t = decltype(nullptr);

static_assert(sizeof(long) == 8, "long has 64 bits in Metal");

namespace metal {
template <class T, int N>
using vec = T __attribute__((ext_vector_type(N)));
}  // namespace metal

#define RUNG_METAL_FOR_EACH_SCALAR(F) \
  F(char) F(uchar) F(short) F(ushort) F(int) F(uint) F(long) F(ulong) F(half) F(bfloat) F(float)

#define RUNG_METAL_VECTORS(T)    \
  using T##2 = metal::vec<T, 2>; \
  using T##3 = metal::vec<T, 3>; \
  using T##4 = metal::vec<T, 4>;
RUNG_METAL_FOR_EACH_SCALAR(RUNG_METAL_VECTORS)
#undef RUNG_METAL_VECTORS
// Bytes of 0 or 1: components of clang's vectors of bool have no names.
using bool2 = uchar2;
using bool3 = uchar3;
using bool4 = uchar4;

namespace metal {
#define RUNG_METAL_VECTORS(T) \
  using ::T;                  \
  using ::T##2;               \
  using ::T##3;               \
  using ::T##4;
#define RUNG_METAL_OWN(F) F(uchar) F(ushort) F(uint) F(ulong) F(half) F(bfloat)
RUNG_METAL_OWN(RUNG_METAL_VECTORS)
#undef RUNG_METAL_OWN
#undef RUNG_METAL_VECTORS
#define RUNG_METAL_VECTORS(T) \
  using ::T##2;               \
  using ::T##3;               \
  using ::T##4;
#define RUNG_METAL_BUILTIN(F) F(char) F(short) F(int) F(long) F(float) F(bool)
RUNG_METAL_BUILTIN(RUNG_METAL_VECTORS)
#undef RUNG_METAL_BUILTIN
#undef RUNG_METAL_VECTORS
using ::int16_t;
using ::int32_t;
using ::int64_t;
using ::int8_t;
using ::intptr_t;
using ::ptrdiff_t;
using ::size_t;
using ::uint16_t;
using ::uint32_t;
using ::uint64_t;
using ::uint8_t;
using ::uintptr_t;
}  // namespace metal
