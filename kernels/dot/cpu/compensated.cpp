// dot/cpu/compensated: sum the rounding errors of all products and additions as well, and add them
//   at the end: the result is as accurate as if computed in twice the precision.
// from: 03_threads | removes: an error that grows with n and with cancellation | bottleneck: ten
//   operations per term, unless memory bandwidth is the limit
// needs: nothing; SIMD by Highway, dispatched at run time | try: rung verify dot/cpu/compensated

#include <algorithm>
#include <cmath>

#include "device/cpu/integers.hpp"
#include "device/cpu/parallel.hpp"
#include "device/cpu/rung.hpp"
#include "device/cpu/workspace.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/dot/cpu/compensated.cpp"
#include "device/cpu/simd.hpp"
// Compiled once per target:
#include "device/cpu/load-inl.hpp"

#ifndef RUNG_DOT_CPU_COMPENSATED
#define RUNG_DOT_CPU_COMPENSATED
namespace rung::compensated_dot {

// The algorithm is Dot2 of Ogita, Rump and Oishi, "Accurate Sum and Dot Product" (SIAM J. Sci.
// Comput. 26(6), 2005, Algorithm 5.3), with TwoProd by FMA (Algorithm 3.5).

/// An unevaluated sum: the rounded sum and the accumulated rounding errors.
template <class T>
struct Sum {
  T value;
  T error;
};

template <class In, class Out>
using ChunkFunction = Sum<Out> (*)(const In* x, const In* y, std::int64_t n);

struct ChunkFunctions {
  ChunkFunction<float, float> f32;
  ChunkFunction<double, double> f64;
  ChunkFunction<bfloat16, float> bf16;
  ChunkFunction<float16, float> f16;
};

}  // namespace rung::compensated_dot
#endif

HWY_BEFORE_NAMESPACE();
namespace rung::compensated_dot::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using cpu::HWY_NAMESPACE::load;
using cpu::HWY_NAMESPACE::load_first;

constexpr int sums = 4;

// The error of the rounded product a * b, exactly (barring underflow).
template <class D, class V>
HWY_INLINE V product_error(D d, V a, V b, V product) {
#if HWY_NATIVE_FMA
  (void)d;
  return hn::MulSub(a, b, product);
#else
  // Without FMA: split each factor into halves whose products are exact (Dekker 1971; Algorithm 3.3
  // of Ogita et al.).
  using T = hn::TFromD<D>;
  const V splitter =
      hn::Set(d, static_cast<T>((std::int64_t{1} << (sizeof(T) == 8 ? 27 : 12)) + 1));
  const auto upper = [&](V v) HWY_ATTR {
    const V scaled = hn::Mul(splitter, v);
    return hn::Sub(scaled, hn::Sub(scaled, v));
  };
  const V a1 = upper(a), a2 = hn::Sub(a, a1);
  const V b1 = upper(b), b2 = hn::Sub(b, b1);
  const V rest =
      hn::Sub(hn::Sub(hn::Sub(product, hn::Mul(a1, b1)), hn::Mul(a2, b1)), hn::Mul(a1, b2));
  return hn::Sub(hn::Mul(a2, b2), rest);
#endif
}

// value + error += a * b
template <class D, class V>
HWY_INLINE void add_product(D d, V a, V b, V& value, V& error) {
  const V product = hn::Mul(a, b);
  const V sum = hn::Add(value, product);
  const V part = hn::Sub(sum, value);
  const V sum_error = hn::Add(hn::Sub(value, hn::Sub(sum, part)), hn::Sub(product, part));
  error = hn::Add(error, hn::Add(product_error(d, a, b, product), sum_error));
  value = sum;
}

template <class In, class Out>
Sum<Out> chunk_sum(const In* x, const In* y, std::int64_t n) {
  const hn::ScalableTag<Out> d;
  constexpr std::int64_t lanes = hn::MaxLanes(d);
  hn::Vec<decltype(d)> value[sums];
  hn::Vec<decltype(d)> error[sums];
#pragma GCC unroll 4
  for (int s = 0; s < sums; ++s) value[s] = error[s] = hn::Zero(d);

  std::int64_t i = 0;
  for (; i + sums * lanes <= n; i += sums * lanes) {
#pragma GCC unroll 4
    for (int s = 0; s < sums; ++s) {
      add_product(d, load(d, x + i + s * lanes), load(d, y + i + s * lanes), value[s], error[s]);
    }
  }
  for (; i < n; i += lanes) {
    const std::int64_t count = std::min(lanes, n - i);
    add_product(d, load_first(d, x + i, count), load_first(d, y + i, count), value[0], error[0]);
  }

  // Adds up the lanes like terms, keeping the error of each addition.
  Out values[sums * lanes], errors[sums * lanes];
  for (int s = 0; s < sums; ++s) {
    hn::StoreU(value[s], d, values + s * lanes);
    hn::StoreU(error[s], d, errors + s * lanes);
  }
  const hn::CappedTag<Out, 1> one;
  auto total = hn::Zero(one);
  auto total_error = hn::Zero(one);
  for (std::int64_t lane = 0; lane < sums * lanes; ++lane) {
    add_product(one, hn::Set(one, values[lane]), hn::Set(one, Out{1}), total, total_error);
    total_error = hn::Add(total_error, hn::Set(one, errors[lane]));
  }
  return {hn::GetLane(total), hn::GetLane(total_error)};
}

ChunkFunctions functions() {
  return {chunk_sum<float, float>, chunk_sum<double, double>, chunk_sum<bfloat16, float>,
          chunk_sum<float16, float>};
}

}  // namespace rung::compensated_dot::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rung {
namespace compensated_dot {

constexpr std::int64_t chunk = 1 << 14;

template <class In, class Out>
ChunkFunction<In, Out> pick() {
  const ChunkFunctions picked = RUNG_PICK_TARGET(functions)();
  if constexpr (std::is_same_v<In, float>) return picked.f32;
  if constexpr (std::is_same_v<In, double>) return picked.f64;
  if constexpr (std::is_same_v<In, bfloat16>) return picked.bf16;
  if constexpr (std::is_same_v<In, float16>) return picked.f16;
}

template <class T>
void add(Sum<T>& total, const Sum<T>& term) {
  const T sum = total.value + term.value;
  const T part = sum - total.value;
  total.error += (total.value - (sum - part)) + (term.value - part) + term.error;
  total.value = sum;
}

struct Compensated {
  template <class In, class Out>
  static Out run(const Dot<In>& d, int threads) {
    const std::int64_t chunks = cpu::ceil_div(d.n, chunk);
    Sum<Out>* const partial = cpu::scratch<Sum<Out>>(chunks);
    cpu::parallel_for(chunks, threads, [&](std::int64_t c) {
      const std::int64_t begin = c * chunk;
      const std::int64_t n = std::min(chunk, d.n - begin);
      partial[c] = sum_of<In, Out>({n, d.x + begin * d.incx, d.incx, d.y + begin * d.incy, d.incy});
    });

    Sum<Out> total{};
    for (std::int64_t c = 0; c < chunks; ++c) add(total, partial[c]);
    // If the sum is infinite or NaN, its errors are NaN and are ignored.
    return std::isfinite(total.value) ? total.value + total.error : total.value;
  }

  template <class In, class Out>
  static Sum<Out> sum_of(const Dot<In>& d) {
    static const auto chunk_sum = pick<In, Out>();
    if (d.incx == 1 && d.incy == 1) return chunk_sum(d.x, d.y, d.n);

    constexpr std::int64_t gathered = 512;
    In x[gathered], y[gathered];
    Sum<Out> total{};
    for (std::int64_t begin = 0; begin < d.n; begin += gathered) {
      const std::int64_t n = std::min(gathered, d.n - begin);
      for (std::int64_t i = 0; i < n; ++i) {
        x[i] = d.x[(begin + i) * d.incx];
        y[i] = d.y[(begin + i) * d.incy];
      }
      add(total, chunk_sum(x, y, n));
    }
    return total;
  }
};

}  // namespace compensated_dot

extern const cpu::DotRung dot_cpu_compensated =
    cpu::dot_rung<compensated_dot::Compensated>(cpu::Strides::any);

}  // namespace rung
#endif  // HWY_ONCE
