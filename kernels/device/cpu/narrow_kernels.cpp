#include "device/cpu/narrow_kernels.hpp"

#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/narrow_kernels.cpp"
#include "device/cpu/simd.hpp"
// Also compiled once per instruction set.
#include "device/cpu/lane_sums-inl.hpp"
#include "device/cpu/load-inl.hpp"
#include "device/cpu/partial-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Prefetch distance; hides memory latency with few streams.
constexpr std::int64_t bytes_ahead = 256;

template <class T, int Rows, int Cols>
void dots(const DotTile<T>& t) {
  const hn::ScalableTag<T> d;
  constexpr std::int64_t lanes = hn::MaxLanes(d);
  hn::Vec<decltype(d)> sum[Rows][Cols];
#pragma GCC unroll 8
  for (int i = 0; i < Rows; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < Cols; ++j) sum[i][j] = hn::Zero(d);
  }
  const auto add = [&](const auto& load) HWY_ATTR {
    hn::Vec<decltype(d)> b[Cols];
#pragma GCC unroll 4
    for (int j = 0; j < Cols; ++j) b[j] = load(t.b + j * t.b_col);
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i) {
      auto a = load(t.a + i * t.a_row);
      if constexpr (Cols > 1) keep(a);
#pragma GCC unroll 4
      for (int j = 0; j < Cols; ++j) sum[i][j] = hn::MulAdd(a, b[j], sum[i][j]);
    }
  };
  std::int64_t k = 0;
  for (; k + lanes <= t.k; k += lanes) {
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i) {
      __builtin_prefetch(t.a + i * t.a_row + k + bytes_ahead / std::int64_t{sizeof(T)});
    }
    add([&](const T* at) HWY_ATTR { return hn::LoadU(d, at + k); });
  }
  if (const std::int64_t rest = t.k - k; rest > 0) {
    const auto mask = hn::FirstN(d, static_cast<std::size_t>(rest));
    add([&](const T* at) HWY_ATTR { return load_first(d, mask, at + k, rest); });
  }

  alignas(64) T sums[Rows * Cols];
  add_lanes<Rows * Cols>(&sum[0][0], sums);
  // Read once: stores to C may alias them.
  const T alpha = t.alpha, beta = t.beta;
  const std::int64_t c_row = t.c_row, c_col = t.c_col;
  T* const c = t.c;
  const auto store = [&](const auto& value) {
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < Cols; ++j) {
        T& element = c[i * c_row + j * c_col];
        element = value(alpha * sums[i * Cols + j], element);
      }
    }
  };
  if (beta == T{}) {
    store([](T product, const T& /*old*/) { return product; });
  } else {
    store([&](T product, const T& old) { return product + beta * old; });
  }
}

template <class T, int Rows, int Depth>
void row_sum(const RowSum<T>& s) {
  const hn::ScalableTag<T> d;
  constexpr std::int64_t lanes = hn::MaxLanes(d);
  const T beta = s.beta;  // read once: stores to C may alias it
  hn::Vec<decltype(d)> a[Rows][Depth];
#pragma GCC unroll 4
  for (int i = 0; i < Rows; ++i) {
#pragma GCC unroll 12
    for (int k = 0; k < Depth; ++k) a[i][k] = hn::Set(d, s.a[i * s.a_row + k * s.a_k]);
  }
  const auto alpha = hn::Set(d, s.alpha);
  // In a short row, FMAs on one sum depend on each other: odd steps use a second sum.
  constexpr int chains = Rows == 1 && Depth >= 4 ? 2 : 1;
  const auto sums = [&](const auto& load, const auto& store) HWY_ATTR {
    hn::Vec<decltype(d)> sum[Rows][chains];
#pragma GCC unroll 12
    for (int k = 0; k < Depth; ++k) {
      const auto b = load(s.b + k * s.b_k);
#pragma GCC unroll 4
      for (int i = 0; i < Rows; ++i) {
        auto& chain = sum[i][k % chains];
        chain = k < chains ? hn::Mul(a[i][k], b) : hn::MulAdd(a[i][k], b, chain);
      }
    }
#pragma GCC unroll 4
    for (int i = 0; i < Rows; ++i) {
      if constexpr (chains == 2) sum[i][0] = hn::Add(sum[i][0], sum[i][1]);
      store(hn::Mul(alpha, sum[i][0]), s.c + i * s.ldc);
    }
  };
  std::int64_t j = 0;
  for (; j + lanes <= s.n; j += lanes) {
    sums(
        [&](const T* at) HWY_ATTR {
          __builtin_prefetch(at + j + bytes_ahead / std::int64_t{sizeof(T)});
          return hn::LoadU(d, at + j);
        },
        [&](auto sum, T* c) HWY_ATTR {
          if (beta != T{}) sum = hn::MulAdd(hn::Set(d, beta), hn::LoadU(d, c + j), sum);
          hn::StoreU(sum, d, c + j);
        });
  }
  if (j == s.n) return;
  const auto mask = hn::FirstN(d, static_cast<std::size_t>(s.n - j));
  sums([&](const T* at) HWY_ATTR { return load_first(d, mask, at + j, s.n - j); },
       [&](auto sum, T* c) HWY_ATTR { store_first(d, mask, s.n - j, sum, beta, c + j); });
}

template <class T, int Rows, int... K>
constexpr void set_sums(NarrowKernels<T>& kernels, std::integer_sequence<int, K...>) {
  ((kernels.row_sums[Rows - 1][K] = row_sum<T, Rows, K + 1>), ...);
}

template <class T, int Rows>
constexpr void set_rows(NarrowKernels<T>& kernels) {
  auto& dot = kernels.dots[Rows - 1];
  dot[0] = dots<T, Rows, 1>;
  dot[1] = dots<T, Rows, 2>;
  dot[2] = dots<T, Rows, 3>;
  dot[3] = dots<T, Rows, 4>;
  set_sums<T, Rows>(kernels, std::make_integer_sequence<int, NarrowKernels<T>::depth(Rows)>());
}

template <class T>
constexpr NarrowKernels<T> make_narrow() {
  NarrowKernels<T> kernels{};
  set_rows<T, 1>(kernels);
  set_rows<T, 2>(kernels);
  set_rows<T, 3>(kernels);
  set_rows<T, 4>(kernels);
  kernels.column = dots<T, NarrowKernels<T>::column_rows, 1>;
  return kernels;
}

template <class T>
constexpr NarrowKernels<T> narrow = make_narrow<T>();

const NarrowKernels<float>* narrow_f32() { return &narrow<float>; }
const NarrowKernels<double>* narrow_f64() { return &narrow<double>; }

}  // namespace rung::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rung::cpu {

template <>
const NarrowKernels<float>& narrow_kernels<float>() {
  static const auto* const picked = RUNG_PICK_TARGET(narrow_f32)();
  return *picked;
}

template <>
const NarrowKernels<double>& narrow_kernels<double>() {
  static const auto* const picked = RUNG_PICK_TARGET(narrow_f64)();
  return *picked;
}

}  // namespace rung::cpu
#endif  // HWY_ONCE
