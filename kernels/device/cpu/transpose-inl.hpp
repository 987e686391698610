// Transposes rows into panels in 128-bit blocks. Included once per target, with the include guard
// of Highway's own -inl.h headers.

#if defined(RUNG_DEVICE_CPU_TRANSPOSE_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef RUNG_DEVICE_CPU_TRANSPOSE_INL_HPP
#undef RUNG_DEVICE_CPU_TRANSPOSE_INL_HPP
#else
#define RUNG_DEVICE_CPU_TRANSPOSE_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace rung::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR
template <class T>
constexpr std::int64_t block = 1;

template <class T>
void transpose_blocks(const T* const* rows, std::int64_t at, std::int64_t /*width*/, T* panel) {
  *panel = rows[0][at];
}
#else
// A 128-bit block holds 4 floats or 2 doubles of one row.
template <class T>
constexpr std::int64_t block = 16 / sizeof(T);

/// Transposes 4-byte elements: in each 128-bit block, row i of `to` gets element i of r0, r1, r2
/// and r3. Rows of `to` are `width` apart.
template <class D>
HWY_INLINE void store_transposed(D d, hn::Vec<D> r0, hn::Vec<D> r1, hn::Vec<D> r2, hn::Vec<D> r3,
                                 std::int64_t width, hn::TFromD<D>* to) {
  const hn::Repartition<double, D> pairs;
  const auto lower01 = hn::BitCast(pairs, hn::InterleaveLower(d, r0, r1));
  const auto lower23 = hn::BitCast(pairs, hn::InterleaveLower(d, r2, r3));
  const auto upper01 = hn::BitCast(pairs, hn::InterleaveUpper(d, r0, r1));
  const auto upper23 = hn::BitCast(pairs, hn::InterleaveUpper(d, r2, r3));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, lower01, lower23)), d, to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, lower01, lower23)), d, to + width);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, upper01, upper23)), d, to + 2 * width);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, upper01, upper23)), d, to + 3 * width);
}

/// Gathers the blocks at `at` of rows first, first + step, …, one per 128 bits of a vector.
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
  const hn::ScalableTag<T> d;
  if constexpr (sizeof(T) == 8) {
    const auto r0 = gather_blocks(d, rows, 0, 2, at);
    const auto r1 = gather_blocks(d, rows, 1, 2, at);
    hn::StoreU(hn::InterleaveLower(d, r0, r1), d, panel);
    hn::StoreU(hn::InterleaveUpper(d, r0, r1), d, panel + width);
  } else {
    store_transposed(d, gather_blocks(d, rows, 0, 4, at), gather_blocks(d, rows, 1, 4, at),
                     gather_blocks(d, rows, 2, 4, at), gather_blocks(d, rows, 3, 4, at), width,
                     panel);
  }
}
#endif

template <class T>
void transpose(std::int64_t k, const T* from, std::int64_t stride, std::int64_t count,
               std::int64_t width, T* panel) {
  constexpr std::int64_t lanes = hn::MaxLanes(hn::ScalableTag<T>());
  for (std::int64_t c = 0; c < width; c += lanes) {
    // Lanes after the last column repeat it.
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

}  // namespace rung::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
