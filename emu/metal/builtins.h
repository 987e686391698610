#pragma once
// Builtins of Apple's compiler that its library calls, and programs that add types to it. The last
// argument of most chooses fast math.

#define RUNG_METAL_BUILTIN(name)                      \
  template <class T>                                  \
  RUNG_METAL auto __metal_##name(T x, bool = false) { \
    return metal::name(x);                            \
  }
RUNG_METAL_BUILTIN(acos)
RUNG_METAL_BUILTIN(acosh)
RUNG_METAL_BUILTIN(asin)
RUNG_METAL_BUILTIN(asinh)
RUNG_METAL_BUILTIN(atan)
RUNG_METAL_BUILTIN(atanh)
RUNG_METAL_BUILTIN(ceil)
RUNG_METAL_BUILTIN(cos)
RUNG_METAL_BUILTIN(cosh)
RUNG_METAL_BUILTIN(cospi)
RUNG_METAL_BUILTIN(exp)
RUNG_METAL_BUILTIN(exp10)
RUNG_METAL_BUILTIN(exp2)
RUNG_METAL_BUILTIN(fabs)
RUNG_METAL_BUILTIN(floor)
RUNG_METAL_BUILTIN(fract)
RUNG_METAL_BUILTIN(ilogb)
RUNG_METAL_BUILTIN(log)
RUNG_METAL_BUILTIN(log10)
RUNG_METAL_BUILTIN(log2)
RUNG_METAL_BUILTIN(rint)
RUNG_METAL_BUILTIN(round)
RUNG_METAL_BUILTIN(rsqrt)
RUNG_METAL_BUILTIN(sin)
RUNG_METAL_BUILTIN(sinh)
RUNG_METAL_BUILTIN(sinpi)
RUNG_METAL_BUILTIN(sqrt)
RUNG_METAL_BUILTIN(tan)
RUNG_METAL_BUILTIN(tanh)
RUNG_METAL_BUILTIN(tanpi)
RUNG_METAL_BUILTIN(trunc)
RUNG_METAL_BUILTIN(simd_and)
RUNG_METAL_BUILTIN(simd_broadcast_first)
RUNG_METAL_BUILTIN(simd_max)
RUNG_METAL_BUILTIN(simd_min)
RUNG_METAL_BUILTIN(simd_or)
RUNG_METAL_BUILTIN(simd_prefix_exclusive_product)
RUNG_METAL_BUILTIN(simd_prefix_exclusive_sum)
RUNG_METAL_BUILTIN(simd_prefix_inclusive_product)
RUNG_METAL_BUILTIN(simd_prefix_inclusive_sum)
RUNG_METAL_BUILTIN(simd_product)
RUNG_METAL_BUILTIN(simd_sum)
RUNG_METAL_BUILTIN(simd_xor)
#undef RUNG_METAL_BUILTIN

#define RUNG_METAL_BUILTIN(name)                           \
  template <class A, class B>                              \
  RUNG_METAL auto __metal_##name(A a, B b, bool = false) { \
    return metal::name(a, b);                              \
  }
RUNG_METAL_BUILTIN(atan2)
RUNG_METAL_BUILTIN(copysign)
RUNG_METAL_BUILTIN(divide)
RUNG_METAL_BUILTIN(fdim)
RUNG_METAL_BUILTIN(fmax)
RUNG_METAL_BUILTIN(fmin)
RUNG_METAL_BUILTIN(fmod)
RUNG_METAL_BUILTIN(ldexp)
RUNG_METAL_BUILTIN(nextafter)
RUNG_METAL_BUILTIN(pow)
RUNG_METAL_BUILTIN(powr)
RUNG_METAL_BUILTIN(simd_broadcast)
RUNG_METAL_BUILTIN(simd_shuffle)
RUNG_METAL_BUILTIN(simd_shuffle_down)
RUNG_METAL_BUILTIN(simd_shuffle_rotate_down)
RUNG_METAL_BUILTIN(simd_shuffle_rotate_up)
RUNG_METAL_BUILTIN(simd_shuffle_up)
RUNG_METAL_BUILTIN(simd_shuffle_xor)
#undef RUNG_METAL_BUILTIN

#define RUNG_METAL_BUILTIN(name)                                \
  template <class T>                                            \
  RUNG_METAL auto __metal_##name(T a, T b, T c, bool = false) { \
    return metal::name(a, b, c);                                \
  }
RUNG_METAL_BUILTIN(fma)
RUNG_METAL_BUILTIN(fmax3)
RUNG_METAL_BUILTIN(fmedian3)
RUNG_METAL_BUILTIN(fmin3)
#undef RUNG_METAL_BUILTIN

template <class T>
RUNG_METAL T __metal_frexp(T x, int* exponent) {
  return metal::frexp(x, *exponent);
}
template <class T>
RUNG_METAL T __metal_modf(T x, T* whole) {
  return metal::modf(x, *whole);
}
template <class T>
RUNG_METAL T __metal_simd_shuffle_and_fill_up(T x, T fill, ushort delta, ushort group) {
  return metal::simd_shuffle_and_fill_up(x, fill, delta, group);
}
template <class T>
RUNG_METAL T __metal_simd_shuffle_and_fill_down(T x, T fill, ushort delta, ushort group) {
  return metal::simd_shuffle_and_fill_down(x, fill, delta, group);
}
RUNG_METAL ushort __metal_get_simdgroup_size(ushort) { return 32; }
RUNG_METAL uint __metal_get_thread_index_in_simdgroup(uint) {
  return metal::rung_detail::LaneIndex::get();
}
