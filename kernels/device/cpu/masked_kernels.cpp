#include "device/cpu/masked_kernels.hpp"

#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/masked_kernels.cpp"
#include "device/cpu/simd.hpp"
// The same for this one, which has code for each instruction set.
#include "device/cpu/partial-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int masked_MR = HWY_TARGET == HWY_AVX3 || HWY_ARCH_ARM_A64 ? 14 : 6;
// Four vectors for few rows: with fewer sums, each would wait for its last FMA.
constexpr int masked_wide_rows = masked_MR == 14 ? 7 : 3;
constexpr int steps_ahead = 16;  // of k, for a panel of B from L2

/// The elements of one column of A. A pointer serves five rows: with the stride and three times the
/// stride in registers, base, base + stride, … base + 4 * stride are all addressing modes.
template <class T, int Rows>
struct StridedRows {
  const char* base[(Rows + 4) / 5];
  std::int64_t row, three_rows, step;  // in bytes

  HWY_INLINE StridedRows(const T* a, std::int64_t a_row, std::int64_t a_k)
      : row(a_row * std::int64_t{sizeof(T)}),
        three_rows(3 * row),
        step(a_k * std::int64_t{sizeof(T)}) {
#pragma GCC unroll 8
    for (int i = 0; i < (Rows + 4) / 5; ++i)
      base[i] = reinterpret_cast<const char*>(a) + 5 * i * row;
  }
  HWY_INLINE T at(int i) const {
    const std::int64_t rows = i % 5;
    return *reinterpret_cast<const T*>(base[i / 5] + (rows == 3 ? three_rows : rows * row));
  }
  HWY_INLINE void next() {
#pragma GCC unroll 8
    for (int i = 0; i < (Rows + 4) / 5; ++i) base[i] += step;
    // Otherwise the compiler keeps multiples of the stride in registers that it does not have.
    asm("" : "+r"(row), "+r"(three_rows));
  }
};

template <class D, class M>
HWY_INLINE hn::Vec<D> load_partial(D d, M mask, const hn::TFromD<D>* at) {
#if HWY_MEM_OPS_MIGHT_FAULT
  (void)mask;
  return hn::LoadU(d, at);
#else
  return hn::MaskedLoad(mask, d, at);
#endif
}

/// C = sums, or sums + beta * C if AddsC. Two functions rather than a branch for each vector: stores
/// are the work around a short loop over k.
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

/// The current step of a loop over k: its places in A and B, and what it prefetches and copies.
template <class T, int Rows>
struct Position {
  StridedRows<T, Rows> a;
  const T* b;
  const T* next;  // to be fetched in this step, and in the next one
  const T* other;
  T* copy;
};

/// What a step of k does besides loading and multiplying: nothing, which is fastest; or `moves`.
enum class Step { first, next, moves };

/// How B is read: with a mask for the last vector; whole; or as a whole packed panel from the L2
/// cache, which is fetched into L1 some steps ahead.
enum class Reads { masked, whole, panel };

/// Keeps a loaded vector in its register: with few rows GCC loads it again for each of them.
template <class V>
HWY_INLINE void keep(V& v) {
#if HWY_TARGET == HWY_AVX3 && defined(__GNUC__)
  asm("" : "+v"(v.raw));
#else
  (void)v;
#endif
}

/// sum = A * B for one step of k if it is the first, else sum += A * B.
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
  if constexpr (B == Reads::panel) {
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) {
      __builtin_prefetch(at.b + (steps_ahead * Vectors + v) * lanes);
    }
  }
  if constexpr (Kind == Step::moves) {
    __builtin_prefetch(at.next, 0, 2);
    const hn::TFromD<D>* const fetched = at.next;
    at.next = at.other;
    at.other = fetched + next_row;
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

template <Reads B, class D, class M, int Rows, int Vectors>
HWY_INLINE void multiply(D d, M mask, const MaskedTile<hn::TFromD<D>>& t,
                         hn::Vec<D> (&sum)[Rows][Vectors]) {
  using T = hn::TFromD<D>;
  Position<T, Rows> at = {StridedRows<T, Rows>(t.a, t.a_row, t.a_k), t.b, t.next,
                          t.next + t.next_last, t.copy};
  const std::int64_t b_row = t.b_k;
  std::int64_t steps = t.k - t.moves;
  if (t.moves == 0 && t.k > 0) {
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
    for (std::int64_t step = t.moves; step > 0; --step, at.a.next(), at.b += b_row) {
      multiply_step<Step::moves, B>(d, mask, next_row, at, sum);
    }
  }
  for (; steps > 0; --steps, at.a.next(), at.b += b_row) {
    multiply_step<Step::next, B>(d, mask, 0, at, sum);
  }
}

template <class D, int Rows, int Vectors>
void masked_tile(const MaskedTile<hn::TFromD<D>>& t) {
  using T = hn::TFromD<D>;
  const D d;
  constexpr std::int64_t lanes = hn::MaxLanes(d);
  const std::int64_t last_cols = t.cols - (Vectors - 1) * lanes;
  const auto mask = hn::FirstN(d, static_cast<std::size_t>(last_cols));

  // A mask would delay the first products until the stores of the tile before have left the queue.
  // With few rows, GCC would load a vector that has no mask again for each of them.
  hn::Vec<D> sum[Rows][Vectors];
  if (Rows > 3 && Vectors == 2 && last_cols == lanes && t.streams_b) {
    multiply<Reads::panel>(d, mask, t, sum);
  } else if (Rows > 1 && Vectors > 1 && last_cols == lanes) {
    multiply<Reads::whole>(d, mask, t, sum);
  } else {
    multiply<Reads::masked>(d, mask, t, sum);
  }

  if (t.alpha != T{1}) {
    const hn::Vec<D> alpha = hn::Set(d, t.alpha);
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i) {
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) sum[i][v] = hn::Mul(alpha, sum[i][v]);
    }
  }
  // Read once: for all that the compiler knows, a store to C may change them.
  const T beta = t.beta;
  T* const c = t.c;
  const std::int64_t ldc = t.ldc;
  if (beta == T{}) {
    store_tile<false>(d, mask, last_cols, sum, beta, c, ldc);
  } else {
    store_tile<true>(d, mask, last_cols, sum, beta, c, ldc);
  }
}

template <class T>
using FullTag = hn::ScalableTag<T>;

#if HWY_TARGET == HWY_SCALAR
template <class T>
constexpr std::int64_t block = 1;

template <class T>
void transpose_blocks(const T* const* rows, std::int64_t at, std::int64_t /*width*/, T* panel) {
  *panel = rows[0][at];
}
#else
// A block of 128 bits has 4 floats or 2 doubles of one row.
template <class T>
constexpr std::int64_t block = 16 / sizeof(T);

/// The blocks at `at` of the rows first, first + step, …, one in each 128 bits of a vector.
template <class D, class T>
HWY_INLINE hn::Vec<D> gather_blocks(D d, const T* const* rows, int first, int step,
                                    std::int64_t at) {
  if constexpr (hn::MaxLanes(d) * sizeof(T) <= 16) {
    return hn::LoadU(d, rows[first] + at);
  } else {
    const hn::Half<D> half;
    constexpr int count = static_cast<int>(hn::MaxLanes(half) * sizeof(T) / 16);
    return hn::Combine(d, gather_blocks(half, rows, first + count * step, step, at),
                       gather_blocks(half, rows, first, step, at));
  }
}

/// panel[i * width + r] = rows[r][at + i] for all lanes r of a vector and i in [0, block).
template <class T>
HWY_INLINE void transpose_blocks(const T* const* rows, std::int64_t at, std::int64_t width,
                                 T* panel) {
  const FullTag<T> d;
  if constexpr (sizeof(T) == 8) {
    const auto r0 = gather_blocks(d, rows, 0, 2, at);
    const auto r1 = gather_blocks(d, rows, 1, 2, at);
    hn::StoreU(hn::InterleaveLower(d, r0, r1), d, panel);
    hn::StoreU(hn::InterleaveUpper(d, r0, r1), d, panel + width);
  } else {
    const hn::Repartition<double, FullTag<T>> pairs;
    const auto r0 = gather_blocks(d, rows, 0, 4, at);
    const auto r1 = gather_blocks(d, rows, 1, 4, at);
    const auto r2 = gather_blocks(d, rows, 2, 4, at);
    const auto r3 = gather_blocks(d, rows, 3, 4, at);
    const auto lower01 = hn::BitCast(pairs, hn::InterleaveLower(d, r0, r1));
    const auto lower23 = hn::BitCast(pairs, hn::InterleaveLower(d, r2, r3));
    const auto upper01 = hn::BitCast(pairs, hn::InterleaveUpper(d, r0, r1));
    const auto upper23 = hn::BitCast(pairs, hn::InterleaveUpper(d, r2, r3));
    const auto store = [&](auto pair, std::int64_t i) {
      hn::StoreU(hn::BitCast(d, pair), d, panel + i * width);
    };
    store(hn::InterleaveLower(pairs, lower01, lower23), 0);
    store(hn::InterleaveUpper(pairs, lower01, lower23), 1);
    store(hn::InterleaveLower(pairs, upper01, upper23), 2);
    store(hn::InterleaveUpper(pairs, upper01, upper23), 3);
  }
}
#endif

template <class T>
void transpose(std::int64_t k, const T* from, std::int64_t stride, std::int64_t count,
               std::int64_t width, T* panel) {
  constexpr std::int64_t lanes = hn::MaxLanes(FullTag<T>());
  for (std::int64_t c = 0; c < width; c += lanes) {
    // Lanes beyond the last vector repeat it.
    const T* rows[lanes];
    for (std::int64_t r = 0; r < lanes; ++r) {
      rows[r] = from + (c + r < count ? c + r : count - 1) * stride;
    }
    std::int64_t i = 0;
    for (; i + block<T> <= k; i += block<T>) {
      transpose_blocks(rows, i, width, panel + i * width + c);
    }
    for (; i < k; ++i) {
      for (std::int64_t r = 0; r < lanes; ++r) panel[i * width + c + r] = rows[r][i];
    }
  }
}
#if HWY_TARGET == HWY_SCALAR
template <class T>
using HalfTag = FullTag<T>;
#else
template <class T>
using HalfTag = hn::Half<FullTag<T>>;
#endif

template <class T, int Rows>
constexpr MaskedTileFunction<T> wide_tile() {
  if constexpr (Rows <= masked_wide_rows) return masked_tile<FullTag<T>, Rows, 4>;
  return nullptr;
}

template <class T, int... Row>
constexpr MaskedKernels<T> make_masked(std::integer_sequence<int, Row...>) {
  return {masked_MR,
          hn::MaxLanes(FullTag<T>()),
          !HWY_MEM_OPS_MIGHT_FAULT,
          masked_wide_rows,
          {masked_MR, masked_MR == 14 ? 8 : masked_MR, masked_MR == 14 ? 4 : masked_wide_rows},
          {{masked_tile<HalfTag<T>, Row + 1, 1>, masked_tile<FullTag<T>, Row + 1, 1>,
            masked_tile<FullTag<T>, Row + 1, 2>, wide_tile<T, Row + 1>()}...},
          transpose<T>};
}

template <class T>
constexpr MaskedKernels<T> masked = make_masked<T>(std::make_integer_sequence<int, masked_MR>());

const MaskedKernels<float>* masked_f32() { return &masked<float>; }
const MaskedKernels<double>* masked_f64() { return &masked<double>; }

}  // namespace rung::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rung::cpu {

template <>
const MaskedKernels<float>& masked_kernels<float>() {
  static const auto* const picked = RUNG_PICK_TARGET(masked_f32)();
  return *picked;
}

template <>
const MaskedKernels<double>& masked_kernels<double>() {
  static const auto* const picked = RUNG_PICK_TARGET(masked_f64)();
  return *picked;
}

}  // namespace rung::cpu
#endif  // HWY_ONCE
