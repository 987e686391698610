#include "device/cpu/short_k_kernels.hpp"

#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/short_k_kernels.cpp"
#include "device/cpu/simd.hpp"
// Also compiled once per instruction set.
#include "device/cpu/load-inl.hpp"
#include "device/cpu/partial-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The remaining registers hold the sums of a row of C and an element of A.
constexpr int registers_for_b = HWY_TARGET == HWY_AVX3 || HWY_ARCH_ARM_A64 ? 24 : 8;

/// Computes row after row of C. B is in registers, multiplied by alpha.
template <bool AddsC, class D, class M, int K, int Vectors>
HWY_INLINE void pass_rows(D d, M mask, const ShortStrip<hn::TFromD<D>>& s,
                          const hn::Vec<D> (&b)[K][Vectors]) {
  using T = hn::TFromD<D>;
  constexpr std::int64_t lanes = hn::MaxLanes(d);
  constexpr int last = Vectors - 1;
  const std::int64_t a_row = s.a_row, a_k = s.a_k, ldc = s.ldc;
  const std::int64_t last_cols = s.cols - last * lanes;
  const T beta = s.beta;
  const T* a = s.a;
  T* c = s.c;
  for (std::int64_t i = s.rows; i > 0; --i, a += a_row, c += ldc) {
    hn::Vec<D> sum[Vectors];
#pragma GCC unroll 12
    for (int k = 0; k < K; ++k) {
      const hn::Vec<D> a_ik = hn::Set(d, a[k * a_k]);
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) {
        sum[v] = k == 0 ? hn::Mul(a_ik, b[k][v]) : hn::MulAdd(a_ik, b[k][v], sum[v]);
      }
    }
#pragma GCC unroll 4
    for (int v = 0; v < last; ++v) {
      T* const at = c + v * lanes;
      if constexpr (AddsC) sum[v] = hn::MulAdd(hn::Set(d, beta), hn::LoadU(d, at), sum[v]);
      hn::StoreU(sum[v], d, at);
    }
    store_first<AddsC>(d, mask, last_cols, sum[last], beta, c + last * lanes);
  }
}

template <class T, int K, int Vectors>
void short_strip(const ShortStrip<T>& s) {
  const hn::ScalableTag<T> d;
  constexpr std::int64_t lanes = hn::MaxLanes(d);
  constexpr int last = Vectors - 1;
  const std::int64_t last_cols = s.cols - last * lanes;
  const auto mask = hn::FirstN(d, static_cast<std::size_t>(last_cols));
  const auto alpha = hn::Set(d, s.alpha);
  hn::Vec<decltype(d)> b[K][Vectors];
#pragma GCC unroll 12
  for (int k = 0; k < K; ++k) {
    const T* const row = s.b + k * s.b_k;
#pragma GCC unroll 4
    for (int v = 0; v < last; ++v) b[k][v] = hn::Mul(alpha, hn::LoadU(d, row + v * lanes));
    b[k][last] = hn::Mul(alpha, last_cols == lanes ? hn::LoadU(d, row + last * lanes)
                                                   : load_first(d, row + last * lanes, last_cols));
  }
  if (s.beta == T{}) {
    pass_rows<false>(d, mask, s, b);
  } else {
    pass_rows<true>(d, mask, s, b);
  }
}

template <class T, int K, int Vectors>
constexpr void set_strip(ShortKKernels<T>& kernels) {
  constexpr bool has_vectors = hn::MaxLanes(hn::ScalableTag<T>()) > 1;
  if constexpr (has_vectors && K * Vectors <= registers_for_b) {
    kernels.strips[K - 1][Vectors - 1] = short_strip<T, K, Vectors>;
  }
}

template <class T, int... K>
constexpr ShortKKernels<T> make_short_k(std::integer_sequence<int, K...>) {
  ShortKKernels<T> kernels{};
  kernels.lanes = hn::MaxLanes(hn::ScalableTag<T>());
  (set_strip<T, K + 1, 1>(kernels), ...);
  (set_strip<T, K + 1, 2>(kernels), ...);
  (set_strip<T, K + 1, 3>(kernels), ...);
  (set_strip<T, K + 1, 4>(kernels), ...);
  return kernels;
}

template <class T>
constexpr ShortKKernels<T> short_k =
    make_short_k<T>(std::make_integer_sequence<int, ShortKKernels<T>::max_k>());

const ShortKKernels<float>* short_k_f32() { return &short_k<float>; }
const ShortKKernels<double>* short_k_f64() { return &short_k<double>; }

}  // namespace rung::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rung::cpu {

template <>
const ShortKKernels<float>& short_k_kernels<float>() {
  static const auto* const picked = RUNG_PICK_TARGET(short_k_f32)();
  return *picked;
}

template <>
const ShortKKernels<double>& short_k_kernels<double>() {
  static const auto* const picked = RUNG_PICK_TARGET(short_k_f64)();
  return *picked;
}

}  // namespace rung::cpu
#endif  // HWY_ONCE
