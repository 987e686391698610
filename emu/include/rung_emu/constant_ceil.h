#pragma once
// std::ceil in constant expressions. The C++ library declares the overloads for floats and integers
// constexpr. GCC and nvcc evaluate the built-in functions that these call at compile time; clang 19 does
// not.

namespace rung_emu {

template <typename T>
constexpr T constant_ceil(T a) {
  constexpr T limit = 1LL << 62;  // from here on all numbers are whole
  if (!(-limit < a && a < limit)) return a;
  const T whole = static_cast<T>(static_cast<long long>(a));
  return whole < a ? whole + 1 : whole;
}

constexpr float builtin_ceilf(float a) {
  return __builtin_is_constant_evaluated() ? constant_ceil(a) : __builtin_ceilf(a);
}
constexpr double builtin_ceil(double a) {
  return __builtin_is_constant_evaluated() ? constant_ceil(a) : __builtin_ceil(a);
}

}  // namespace rung_emu

// The library's header finds these in their place.
#define __builtin_ceil ::rung_emu::builtin_ceil
#define __builtin_ceilf ::rung_emu::builtin_ceilf
#include <cmath>
#undef __builtin_ceil
#undef __builtin_ceilf
