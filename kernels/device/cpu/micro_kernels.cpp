#include "device/cpu/micro_kernels.hpp"

#include <array>
#include <type_traits>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/micro_kernels.cpp"
#include "device/cpu/simd.hpp"
// Also compiled once per instruction set.
#include "device/cpu/transpose-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Vector = hn::Vec<hn::ScalableTag<T>>;

constexpr int MR = HWY_TARGET == HWY_AVX3 || HWY_ARCH_ARM_A64 ? 14 : 6;

template <class T>
HWY_INLINE Vector<T> multiply_add(Vector<T> a, Vector<T> b, Vector<T> sum) {
  if constexpr (std::is_floating_point_v<T>) {
    return hn::MulAdd(a, b, sum);
  } else {
    auto result = hn::Add(sum, hn::Mul(a, b));
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR
    // Keep each addition next to its multiplication. Otherwise GCC computes all products of a step
    // first and spills the sums, which takes half of the time.
    asm("" : "+v"(result.raw));
#endif
    return result;
  }
}

// Row pointers of a row-major A, one for every three rows: with the stride in an index register,
// base, base + stride and base + 2 * stride are all addressing modes.
template <class T, int Rows>
struct DirectA {
  const T* base[(Rows + 2) / 3];
  std::int64_t stride;

  HWY_INLINE DirectA(const T* a, std::int64_t a_stride) : stride(a_stride) {
#pragma GCC unroll 8
    for (int i = 0; i < (Rows + 2) / 3; ++i) base[i] = a + 3 * i * a_stride;
  }
  HWY_INLINE const T* row(int i) const { return base[i / 3] + (i % 3) * stride; }
  HWY_INLINE void next() {
#pragma GCC unroll 8
    for (int i = 0; i < (Rows + 2) / 3; ++i) ++base[i];
  }
};

template <class T, int Rows>
struct PackedA {
  const T* base;
  std::int64_t stride;

  HWY_INLINE PackedA(const T* a, std::int64_t a_stride) : base(a), stride(a_stride) {}
  HWY_INLINE const T* row(int i) const { return base + i; }
  HWY_INLINE void next() { base += stride; }
};

template <class T, int Rows, int Vectors>
HWY_INLINE void store(const Vector<T> (&sum)[Rows][Vectors], T alpha, T beta, T* c,
                      std::int64_t ldc) {
  const hn::ScalableTag<T> d;
  constexpr std::int64_t lanes = hn::MaxLanes(d);
  const Vector<T> alphas = hn::Set(d, alpha);
  const Vector<T> betas = hn::Set(d, beta);
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i) {
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; ++v) {
      T* at = c + i * ldc + v * lanes;
      Vector<T> result = hn::Mul(alphas, sum[i][v]);
      if (beta != T{}) result = multiply_add<T>(betas, hn::LoadU(d, at), result);
      hn::StoreU(result, d, at);
    }
  }
}

// Stores the valid columns of a partial tile, which is already scaled by alpha. One function for
// all tile sizes.
template <class T>
HWY_NOINLINE void add_columns(const Tile<T>& t, const T* full, int rows, std::int64_t width) {
  for (int i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < t.cols; ++j) {
      T& c = t.c[i * t.ldc + j];
      c = t.beta == T{} ? full[i * width + j] : full[i * width + j] + t.beta * c;
    }
  }
}

template <template <class, int> class A, class T, int Rows, int Vectors>
void tile(const Tile<T>& t) {
  const hn::ScalableTag<T> d;
  constexpr std::int64_t lanes = hn::MaxLanes(d);
  constexpr std::int64_t width = Vectors * lanes;

  Vector<T> sum[Rows][Vectors];
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i) {
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; ++v) sum[i][v] = hn::Zero(d);
  }

  // Prefetch C, which is needed only after the loop over k.
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i) {
    __builtin_prefetch(t.c + i * t.ldc, 0, 2);
    __builtin_prefetch(t.c + i * t.ldc + width - 1, 0, 2);
  }

  A<T, Rows> a(t.a, t.a_stride);
  const T* b = t.b;
  for (std::int64_t k = 0; k < t.k; ++k, a.next(), b += t.b_stride) {
    Vector<T> b_k[Vectors];
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; ++v) {
      b_k[v] = hn::LoadU(d, b + v * lanes);
      __builtin_prefetch(b + t.b_ahead + v * lanes);
    }
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i) {
      const Vector<T> a_ik = hn::Set(d, *a.row(i));
#pragma GCC unroll 2
      for (int v = 0; v < Vectors; ++v) sum[i][v] = multiply_add<T>(a_ik, b_k[v], sum[i][v]);
    }
  }

  // Compute a partial tile as a full one, then copy its valid columns.
  const bool whole = t.cols == width;
  HWY_ALIGN T full[Rows * width];
  store<T, Rows, Vectors>(sum, t.alpha, whole ? t.beta : T{}, whole ? t.c : full,
                          whole ? t.ldc : width);
  if (!whole) add_columns(t, full, Rows, width);
}

template <class T>
void pack_rows(std::int64_t k_end, const T* matrix, std::int64_t stride, std::int64_t valid,
               std::int64_t width, T* panel) {
  const hn::ScalableTag<T> d;
  constexpr std::int64_t lanes = hn::MaxLanes(d);
  for (std::int64_t k = 0; k < k_end; ++k, matrix += stride, panel += width) {
    std::int64_t c = 0;
    for (; c + lanes <= valid; c += lanes) hn::StoreU(hn::LoadU(d, matrix + c), d, panel + c);
    for (; c < valid; ++c) panel[c] = matrix[c];
    for (; c < width; ++c) panel[c] = T{};
  }
}

// Transposes a block whose rows have 16 bytes: 4 x 4 elements of 4 bytes, or 2 x 2 elements of 8
// bytes.
template <class T>
HWY_INLINE void transpose_block(const T* matrix, std::int64_t stride, std::int64_t width,
                                T* panel) {
#if HWY_TARGET == HWY_SCALAR
  *panel = *matrix;
  (void)stride;
  (void)width;
#else
  const hn::FixedTag<T, 16 / sizeof(T)> d;
  if constexpr (sizeof(T) == 8) {
    const auto c0 = hn::LoadU(d, matrix);
    const auto c1 = hn::LoadU(d, matrix + stride);
    hn::StoreU(hn::InterleaveLower(d, c0, c1), d, panel);
    hn::StoreU(hn::InterleaveUpper(d, c0, c1), d, panel + width);
  } else {
    store_transposed(d, hn::LoadU(d, matrix), hn::LoadU(d, matrix + stride),
                     hn::LoadU(d, matrix + 2 * stride), hn::LoadU(d, matrix + 3 * stride), width,
                     panel);
  }
#endif
}

#if HWY_TARGET != HWY_SCALAR
/// Transposes two columns of four elements.
HWY_INLINE void transpose_pair(const float* matrix, std::int64_t stride, std::int64_t width,
                               float* panel) {
  const hn::FixedTag<float, 4> d;
  const hn::Half<decltype(d)> pair;
  const auto c0 = hn::LoadU(d, matrix), c1 = hn::LoadU(d, matrix + stride);
  const auto lower = hn::InterleaveLower(d, c0, c1), upper = hn::InterleaveUpper(d, c0, c1);
  hn::StoreU(hn::LowerHalf(pair, lower), pair, panel);
  hn::StoreU(hn::UpperHalf(pair, lower), pair, panel + width);
  hn::StoreU(hn::LowerHalf(pair, upper), pair, panel + 2 * width);
  hn::StoreU(hn::UpperHalf(pair, upper), pair, panel + 3 * width);
}
#endif

/// Packs the columns of one block, or two columns if Pair, along the panel.
template <bool Pair, class T>
HWY_INLINE void pack_few_columns(std::int64_t k_end, const T* matrix, std::int64_t stride,
                                 std::int64_t width, T* panel) {
  constexpr std::int64_t step = HWY_TARGET == HWY_SCALAR ? 1 : 16 / sizeof(T);
  constexpr std::int64_t columns = Pair ? 2 : step;
  const std::int64_t k_whole = k_end / step * step;
  for (std::int64_t k = 0; k < k_whole; k += step) {
    if constexpr (Pair) {
      transpose_pair(matrix + k, stride, width, panel + k * width);
    } else {
      transpose_block(matrix + k, stride, width, panel + k * width);
    }
  }
  for (std::int64_t k = k_whole; k < k_end; ++k) {
    for (std::int64_t i = 0; i < columns; ++i) panel[k * width + i] = matrix[i * stride + k];
  }
}

template <class T>
void pack_columns(std::int64_t k_end, const T* matrix, std::int64_t stride, std::int64_t valid,
                  std::int64_t width, T* panel) {
  constexpr std::int64_t step = HWY_TARGET == HWY_SCALAR ? 1 : 16 / sizeof(T);
  std::int64_t c = 0;
  for (; c + step <= valid; c += step) {
    pack_few_columns<false>(k_end, matrix + c * stride, stride, width, panel + c);
  }
#if HWY_TARGET != HWY_SCALAR
  // Two columns remain if there are six or fourteen.
  if constexpr (std::is_same_v<T, float>) {
    if (c + 2 <= valid) {
      pack_few_columns<true>(k_end, matrix + c * stride, stride, width, panel + c);
      c += 2;
    }
  }
#endif
  if (c == width) return;
  for (std::int64_t k = 0; k < k_end; ++k) {
    for (std::int64_t i = c; i < valid; ++i) panel[k * width + i] = matrix[i * stride + k];
    for (std::int64_t i = valid; i < width; ++i) panel[k * width + i] = T{};
  }
}

template <class T, int... Row>
constexpr MicroKernels<T> make(std::integer_sequence<int, Row...>) {
  constexpr int lanes = hn::MaxLanes(hn::ScalableTag<T>());
  return {MR,
          lanes,
          2 * lanes,
          {{tile<PackedA, T, Row + 1, 1>, tile<PackedA, T, Row + 1, 2>}...},
          {{tile<DirectA, T, Row + 1, 1>, tile<DirectA, T, Row + 1, 2>}...},
          pack_rows<T>,
          pack_columns<T>};
}

template <class T>
constexpr MicroKernels<T> kernels = make<T>(std::make_integer_sequence<int, MR>());

const MicroKernels<float>* f32() { return &kernels<float>; }
const MicroKernels<double>* f64() { return &kernels<double>; }
const MicroKernels<std::uint32_t>* i32() { return &kernels<std::uint32_t>; }

}  // namespace rung::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rung::cpu {

template <>
const MicroKernels<float>& micro_kernels<float>() {
  static const auto* const picked = RUNG_PICK_TARGET(f32)();
  return *picked;
}

template <>
const MicroKernels<double>& micro_kernels<double>() {
  static const auto* const picked = RUNG_PICK_TARGET(f64)();
  return *picked;
}

template <>
const MicroKernels<std::uint32_t>& micro_kernels<std::uint32_t>() {
  static const auto* const picked = RUNG_PICK_TARGET(i32)();
  return *picked;
}

}  // namespace rung::cpu
#endif  // HWY_ONCE
