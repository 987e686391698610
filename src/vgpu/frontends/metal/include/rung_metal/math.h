#pragma once
// The few functions of numbers that kernels here use.

namespace metal {

template <class T>
constexpr T min(T a, T b) {
  return b < a ? b : a;
}
template <class T>
constexpr T max(T a, T b) {
  return a < b ? b : a;
}
template <class T>
constexpr T clamp(T x, T low, T high) {
  return min(max(x, low), high);
}
template <class T>
constexpr T abs(T x) {
  return x < T(0) ? -x : x;
}

inline float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline float fabs(float x) { return __builtin_fabsf(x); }
inline float floor(float x) { return __builtin_floorf(x); }
inline float ceil(float x) { return __builtin_ceilf(x); }
inline float sqrt(float x) { return __nvvm_sqrt_rn_f(x); }

template <class T>
T dot(vec<T, 2> a, vec<T, 2> b) {
  return a.x * b.x + a.y * b.y;
}
template <class T>
T dot(vec<T, 3> a, vec<T, 3> b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <class T>
T dot(vec<T, 4> a, vec<T, 4> b) {
  return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

}  // namespace metal
