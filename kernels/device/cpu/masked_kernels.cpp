#include "device/cpu/masked_kernels.hpp"

#include <algorithm>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/masked_kernels.cpp"
#include "device/cpu/simd.hpp"
// Also compiled once per instruction set.
#include "device/cpu/load-inl.hpp"
#include "device/cpu/partial-inl.hpp"
#include "device/cpu/transpose-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int masked_MR = HWY_TARGET == HWY_AVX3 || HWY_ARCH_ARM_A64 ? 14 : 6;
// Four vectors wide for tiles with few rows: with fewer sums, FMA latency would be exposed.
constexpr int masked_wide_rows = masked_MR == 14 ? 7 : 3;
// Rows of tiles in a strip, two and four vectors wide.
constexpr int pair_rows = masked_MR == 14 ? 8 : masked_MR;
constexpr int quad_rows = masked_MR == 14 ? 4 : masked_wide_rows;
// Cores with two 512-bit FMA units have physical registers for more sums in flight. They also load
// two vectors per cycle, so tiles of 24 sums, which need the fewest loads per FMA, are faster. On
// these cores, and on those with 16 vector registers, loading A takes as long for half a vector as
// for a whole one.
constexpr int many_triple_rows = masked_MR == 14 ? 8 : 0;
constexpr int many_quad_rows = masked_MR == 14 ? 6 : quad_rows;
// Prefetch distance in k-steps, for a panel of B in L2.
template <int Vectors>
constexpr int steps_ahead = Vectors == 2 ? 16 : 12;

#include "device/cpu/strided_rows-inl.hpp"

template <class D, class M>
HWY_INLINE hn::Vec<D> load_partial(D d, M mask, const hn::TFromD<D>* at) {
#if RUNG_MASKS_LOADS
  return hn::MaskedLoad(mask, d, at);
#else
  (void)mask;
  return hn::LoadU(d, at);
#endif
}

/// C = sums, or sums + beta * C if AddsC. Two functions instead of a branch per vector, because
/// stores dominate if the loop over k is short.
template <bool AddsC, int Rows, int Vectors, class D, class M>
HWY_INLINE void store_tile(D d, M mask, std::int64_t last_cols,
                           const hn::Vec<D> (&sum)[Rows][Vectors], hn::TFromD<D> beta,
                           hn::TFromD<D>* c, std::int64_t ldc) {
  constexpr std::int64_t lanes = hn::MaxLanes(d);
  constexpr int last = Vectors - 1;
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i, c += ldc) {
#pragma GCC unroll 4
    for (int v = 0; v < last; ++v) {
      auto result = sum[i][v];
      if constexpr (AddsC) {
        result = hn::MulAdd(hn::Set(d, beta), hn::LoadU(d, c + v * lanes), result);
      }
      hn::StoreU(result, d, c + v * lanes);
    }
    store_first<AddsC>(d, mask, last_cols, sum[i][last], beta, c + last * lanes);
  }
}

/// The prefetched lines of each k-step: one from each of two lines per row, alternating.
template <class T>
struct FetchedLines {
  const T* next;
  const T* other;

  HWY_INLINE void fetch(std::int64_t row) {
    __builtin_prefetch(next, 0, 2);
    const T* const fetched = next;
    next = other;
    other = fetched + row;
  }
};

/// The state of a loop over k: positions in A and B, prefetches and copies.
template <class T, int Rows>
struct Position {
  StridedRows<T, Rows> a;
  const T* b;
  FetchedLines<T> lines;
  T* copy;
};

/// The extra work of a k-step: none, which is fastest, or `moves` (prefetches and copies).
enum class Step { first, next, moves };

/// How B is read: with a mask for the last vector; whole vectors; whole vectors of a packed panel
/// in L2, which is prefetched into L1; or whole vectors while the columns to the right are
/// prefetched.
enum class Reads { masked, whole, panel, beside };

/// One k-step: sum = A * B for the first step, sum += A * B for others.
template <Step Kind, Reads B, class D, class M, int Rows, int Vectors>
HWY_INLINE void multiply_step(D d, M mask, std::int64_t next_row, Position<hn::TFromD<D>, Rows>& at,
                              hn::Vec<D> (&sum)[Rows][Vectors]) {
  constexpr std::int64_t lanes = hn::MaxLanes(d);
  constexpr int last = Vectors - 1;
  hn::Vec<D> b_k[Vectors];
#pragma GCC unroll 4
  for (int v = 0; v < last; ++v) b_k[v] = hn::LoadU(d, at.b + v * lanes);
  if constexpr (B == Reads::masked) {
    b_k[last] = load_partial(d, mask, at.b + last * lanes);
  } else {
    b_k[last] = hn::LoadU(d, at.b + last * lanes);
  }
  if constexpr (Rows == 2 || Rows == 3) {
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) keep(b_k[v]);
  }
  if constexpr (B == Reads::panel || B == Reads::beside) {
    constexpr int tiles_ahead = B == Reads::panel ? steps_ahead<Vectors> : 1;
    constexpr int of_line = std::max<int>(1, 64 / sizeof(b_k[0]));  // vectors per line
    // If rows of B are not aligned to cache lines, this tile reads the first line of the columns to
    // the right.
    constexpr std::int64_t within = B == Reads::beside ? of_line * lanes - 1 : 0;
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; v += of_line) {
      __builtin_prefetch(at.b + (tiles_ahead * Vectors + v) * lanes + within);
    }
  }
  if constexpr (Kind == Step::moves) {
    at.lines.fetch(next_row);
    if (at.copy != nullptr) {
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) hn::StoreU(b_k[v], d, at.copy + v * lanes);
      at.copy += Vectors * lanes;
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i) {
    const hn::Vec<D> a_ik = hn::Set(d, at.a.at(i));
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) {
      sum[i][v] = Kind == Step::first ? hn::Mul(a_ik, b_k[v]) : hn::MulAdd(a_ik, b_k[v], sum[i][v]);
    }
  }
}

template <class V, int Rows, int Vectors>
HWY_INLINE void add_to(V (&sum)[Rows][Vectors], const V (&other)[Rows][Vectors]) {
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) sum[i][v] = hn::Add(sum[i][v], other[i][v]);
  }
}

/// With that many sums or fewer, FMA latency would be exposed: odd k-steps use a second set of
/// sums.
constexpr int few_sums = 6;

/// sum += A * B for all steps after the first.
template <Reads B, class D, class M, int Rows, int Vectors>
HWY_INLINE void add_steps(D d, M mask, std::int64_t steps, std::int64_t b_row,
                          Position<hn::TFromD<D>, Rows>& at, hn::Vec<D> (&sum)[Rows][Vectors]) {
  if constexpr (Rows * Vectors <= few_sums) {
    hn::Vec<D> odd[Rows][Vectors];
    if (steps > 1) {
      multiply_step<Step::first, B>(d, mask, 0, at, odd);
      at.a.next();
      at.b += b_row;
      for (--steps; steps > 1; steps -= 2) {
        multiply_step<Step::next, B>(d, mask, 0, at, sum);
        at.a.next();
        at.b += b_row;
        multiply_step<Step::next, B>(d, mask, 0, at, odd);
        at.a.next();
        at.b += b_row;
      }
      add_to(sum, odd);
    }
  }
  for (; steps > 0; --steps, at.a.next(), at.b += b_row) {
    multiply_step<Step::next, B>(d, mask, 0, at, sum);
  }
}

template <Reads B, class D, class M, int Rows, int Vectors>
HWY_INLINE void multiply(D d, M mask, const MaskedTile<hn::TFromD<D>>& t,
                         hn::Vec<D> (&sum)[Rows][Vectors]) {
  using T = hn::TFromD<D>;
  Position<T, Rows> at = {
      StridedRows<T, Rows>(t.a, t.a_row, t.a_k), t.b, {t.next, t.next + t.next_last}, t.copy};
  const std::int64_t b_row = t.b_k;
  std::int64_t steps = t.k - t.moves;
  if ((B == Reads::beside || t.moves == 0) && t.k > 0) {
    multiply_step<Step::first, B>(d, mask, 0, at, sum);
    at.a.next();
    at.b += b_row;
    --steps;
  } else {
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i) {
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) sum[i][v] = hn::Zero(d);
    }
    const std::int64_t next_row = t.next_row;
    for (std::int64_t step = B == Reads::beside ? 0 : t.moves; step > 0;
         --step, at.a.next(), at.b += b_row) {
      multiply_step<Step::moves, B>(d, mask, next_row, at, sum);
    }
  }
  add_steps<B>(d, mask, steps, b_row, at, sum);
}

/// C = alpha * sums + beta * C.
template <int Rows, int Vectors, class D, class M>
HWY_INLINE void scale_and_store(D d, M mask, std::int64_t last_cols,
                                hn::Vec<D> (&sum)[Rows][Vectors], hn::TFromD<D> alpha,
                                hn::TFromD<D> beta, hn::TFromD<D>* c, std::int64_t ldc) {
  using T = hn::TFromD<D>;
  if (alpha != T{1}) {
    const hn::Vec<D> alphas = hn::Set(d, alpha);
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i) {
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) sum[i][v] = hn::Mul(alphas, sum[i][v]);
    }
  }
  if (beta == T{}) {
    store_tile<false>(d, mask, last_cols, sum, beta, c, ldc);
  } else {
    store_tile<true>(d, mask, last_cols, sum, beta, c, ldc);
  }
}

#include "device/cpu/unrolled_tiles-inl.hpp"

template <class D, int Rows, int Vectors>
void masked_tile(const MaskedTile<hn::TFromD<D>>& t) {
  const D d;
  constexpr std::int64_t lanes = hn::MaxLanes(d);
  const std::int64_t last_cols = t.cols - (Vectors - 1) * lanes;
  const auto mask = hn::FirstN(d, static_cast<std::size_t>(last_cols));

  if (last_cols == lanes && multiplies_unrolled<D, Rows, Vectors>(t, 1)) return;

  // With a mask, the first products would wait for the pending stores of the previous tile. For
  // tiles with few rows, GCC would reload an unmasked vector for each row.
  hn::Vec<D> sum[Rows][Vectors];
  constexpr bool has_whole = Rows > 1 && Vectors > 1 && lanes > 1;
  if (has_whole && masked_MR > 6 && Rows > 3 && last_cols == lanes && t.streams_b) {
    multiply<Reads::panel>(d, mask, t, sum);
  } else if (has_whole && last_cols == lanes && t.fetches_right) {
    multiply<Reads::beside>(d, mask, t, sum);
  } else if (has_whole && last_cols == lanes) {
    multiply<Reads::whole>(d, mask, t, sum);
  } else {
    multiply<Reads::masked>(d, mask, t, sum);
  }

  scale_and_store(d, mask, last_cols, sum, t.alpha, t.beta, t.c, t.ldc);
}

template <Reads B, class D, int Rows, int Vectors>
HWY_INLINE void multiply_tiles(const MaskedTile<hn::TFromD<D>>& t, std::int64_t tiles) {
  using T = hn::TFromD<D>;
  const D d;
  const std::int64_t last_cols = t.cols - (Vectors - 1) * std::int64_t{hn::MaxLanes(d)};
  const auto mask = hn::FirstN(d, static_cast<std::size_t>(last_cols));
  // Read once: stores to C may alias them.
  const std::int64_t k = t.k, b_row = t.b_k, ldc = t.ldc;
  const T alpha = t.alpha, beta = t.beta;
  const bool is_plain = alpha == T{1} && beta == T{};
  const T* const b = t.b;
  T* c = t.c;
  StridedRows<T, Rows> a(t.a, t.a_row, t.a_k);
  for (; tiles > 0; --tiles, a.skip_rows(), c += Rows * ldc) {
    hn::Vec<D> sum[Rows][Vectors];
    Position<T, Rows> at = {a, b, {nullptr, nullptr}, nullptr};
    multiply_step<Step::first, B>(d, mask, 0, at, sum);
    if constexpr (Rows * Vectors <= few_sums) {
      at.a.next();
      at.b += b_row;
      add_steps<B>(d, mask, k - 1, b_row, at, sum);
    } else {
      for (std::int64_t step = k - 1; step > 0; --step) {
        at.a.next();
        at.b += b_row;
        multiply_step<Step::next, B>(d, mask, 0, at, sum);
      }
    }
    if (is_plain) {
      store_tile<false>(d, mask, last_cols, sum, beta, c, ldc);
    } else {
      scale_and_store(d, mask, last_cols, sum, alpha, beta, c, ldc);
    }
  }
}

template <class D, int Rows, int Vectors>
void masked_strip(const MaskedTile<hn::TFromD<D>>& t, std::int64_t tiles) {
  const bool is_whole = t.cols == Vectors * std::int64_t{hn::MaxLanes(D())};
  if (is_whole && multiplies_unrolled<D, Rows, Vectors>(t, tiles)) return;
  if (is_whole) {
    multiply_tiles<Reads::whole, D, Rows, Vectors>(t, tiles);
  } else {
    multiply_tiles<Reads::masked, D, Rows, Vectors>(t, tiles);
  }
}

template <class T>
using FullTag = hn::ScalableTag<T>;

#if HWY_TARGET == HWY_SCALAR
template <class T>
using HalfTag = FullTag<T>;
#else
template <class T>
using HalfTag = hn::Half<FullTag<T>>;
#endif

template <class T, int Rows, int Vectors>
constexpr MaskedTileFunction<T> wide_tile() {
  constexpr int most = Vectors == 3 ? many_triple_rows : masked_wide_rows;
  if constexpr (Rows <= most) return masked_tile<FullTag<T>, Rows, Vectors>;
  return nullptr;
}

template <class T, int Rows, int Vectors>
constexpr MaskedStripFunction<T> strip_of() {
  if constexpr (Rows > 0) return masked_strip<FullTag<T>, Rows, Vectors>;
  return nullptr;
}

template <class T, bool ManySums, int... Row>
constexpr MaskedKernels<T> make_masked(std::integer_sequence<int, Row...>) {
  constexpr int triples = ManySums ? many_triple_rows : 0;
  constexpr int quads = ManySums ? many_quad_rows : quad_rows;
  return {masked_MR,
          hn::MaxLanes(FullTag<T>()),
          RUNG_MASKS_LOADS,
          masked_MR == 6 || ManySums,
          masked_wide_rows,
          triples,
          {masked_MR, pair_rows, triples, quads},
          {{masked_tile<HalfTag<T>, Row + 1, 1>, masked_tile<FullTag<T>, Row + 1, 1>,
            masked_tile<FullTag<T>, Row + 1, 2>, wide_tile<T, Row + 1, 3>(),
            wide_tile<T, Row + 1, 4>()}...},
          {masked_strip<FullTag<T>, masked_MR, 1>, masked_strip<FullTag<T>, pair_rows, 2>,
           strip_of<T, triples, 3>(), masked_strip<FullTag<T>, quads, 4>},
          transpose<T>};
}

template <class T, bool ManySums>
constexpr MaskedKernels<T> masked =
    make_masked<T, ManySums>(std::make_integer_sequence<int, masked_MR>());

template <class T>
const MaskedKernels<T>* masked_set(bool many_sums) {
  return many_sums ? &masked<T, true> : &masked<T, false>;
}
const MaskedKernels<float>* masked_f32(bool many_sums) { return masked_set<float>(many_sums); }
const MaskedKernels<double>* masked_f64(bool many_sums) { return masked_set<double>(many_sums); }

}  // namespace rung::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rung::cpu {
namespace {

/// True for cores with many physical vector registers: Intel since Ice Lake, and Zen 5, but not Zen
/// 4. They are recognized by their L1 cache of at least 48 KiB.
bool has_many_registers() { return machine().caches.l1 >= 48 << 10; }

}  // namespace

template <>
const MaskedKernels<float>& masked_kernels<float>() {
  static const auto* const picked = RUNG_PICK_TARGET(masked_f32)(has_many_registers());
  return *picked;
}

template <>
const MaskedKernels<double>& masked_kernels<double>() {
  static const auto* const picked = RUNG_PICK_TARGET(masked_f64)(has_many_registers());
  return *picked;
}

}  // namespace rung::cpu
#endif  // HWY_ONCE
