#include "device/cpu/narrow_kernels.hpp"

#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/narrow_kernels.cpp"
#include "device/cpu/simd.hpp"
// These have code for each instruction set, too.
#include "device/cpu/load-inl.hpp"
#include "device/cpu/partial-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Far enough to hide the latency of memory behind a few streams.
constexpr std::int64_t bytes_ahead = 256;

#if HWY_TARGET != HWY_SCALAR
/// The sum of the blocks of 128 bits.
template <class D>
HWY_INLINE auto add_blocks(D d, hn::Vec<D> v) {
  if constexpr (hn::MaxLanes(d) * sizeof(hn::TFromD<D>) <= 16) {
    return v;
  } else {
    const hn::Half<D> half;
    return add_blocks(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

/// The sums of as many vectors as a block has elements, in one block: a third of the instructions
/// of one sum after the other.
HWY_INLINE auto block_of_sums(const hn::Vec<hn::ScalableTag<double>>* v) {
  const hn::ScalableTag<double> d;
  return add_blocks(
      d, hn::Add(hn::InterleaveLower(d, v[0], v[1]), hn::InterleaveUpper(d, v[0], v[1])));
}
HWY_INLINE auto block_of_sums(const hn::Vec<hn::ScalableTag<float>>* v) {
  const hn::ScalableTag<float> d;
  const hn::Repartition<double, decltype(d)> pairs;
  const auto add = [&](auto a, auto b) HWY_ATTR {
    return hn::BitCast(pairs, hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b)));
  };
  const auto v01 = add(v[0], v[1]);
  const auto v23 = add(v[2], v[3]);
  return add_blocks(d, hn::Add(hn::BitCast(d, hn::InterleaveLower(pairs, v01, v23)),
                               hn::BitCast(d, hn::InterleaveUpper(pairs, v01, v23))));
}
#endif

/// sums[i] = the sum of v[i]'s lanes.
template <int Count, class V, class T>
HWY_INLINE void add_lanes(const V* v, T* sums) {
  int i = 0;
#if HWY_TARGET != HWY_SCALAR
  constexpr int block = 16 / sizeof(T);
  const hn::FixedTag<T, block> d;
#pragma GCC unroll 8
  for (; i + block <= Count; i += block) hn::StoreU(block_of_sums(v + i), d, sums + i);
#endif
#pragma GCC unroll 4
  for (; i < Count; ++i) sums[i] = hn::GetLane(hn::SumOfLanes(hn::ScalableTag<T>(), v[i]));
}

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
  // Read once: for all that the compiler knows, a store to C may change them.
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
  const T beta = s.beta;  // read once: for all that the compiler knows, a store to C may change it
  hn::Vec<decltype(d)> a[Rows][Depth];
#pragma GCC unroll 4
  for (int i = 0; i < Rows; ++i) {
#pragma GCC unroll 12
    for (int k = 0; k < Depth; ++k) a[i][k] = hn::Set(d, s.a[i * s.a_row + k * s.a_k]);
  }
  const auto alpha = hn::Set(d, s.alpha);
  // In a short row the FMAs of a sum wait for each other: those of odd steps have one of their own.
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
