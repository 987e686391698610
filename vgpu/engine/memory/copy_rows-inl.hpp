// Copies elements between memory and rows for accesses of all 32 lanes. Included once per target.

#if defined(RUNG_VGPU_COPY_ROWS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef RUNG_VGPU_COPY_ROWS_INL_HPP
#undef RUNG_VGPU_COPY_ROWS_INL_HPP
#else
#define RUNG_VGPU_COPY_ROWS_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "vgpu/model/shape.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {

/// True if vectors of elements can be copied without conversion.
template <class Mem, class Lane>
constexpr bool same_words = sizeof(Mem) == sizeof(Lane) && sizeof(Mem) >= 4;
template <class Mem, class Lane>
constexpr bool transposes =
    HWY_TARGET != HWY_SCALAR && sizeof(Mem) == sizeof(Lane) && sizeof(Mem) == 4;

#if HWY_TARGET != HWY_SCALAR

using FourWords = hwy::HWY_NAMESPACE::FixedTag<std::uint32_t, 4>;
constexpr int four = 4;

/// Transposes 4 lanes x 4 words. It is its own inverse.
HWY_INLINE void transpose(hwy::HWY_NAMESPACE::Vec<FourWords> (&v)[four]) {
  namespace hn = hwy::HWY_NAMESPACE;
  const FourWords d;
  const hn::RepartitionToWide<FourWords> pairs;
  const auto low = [&](auto a, auto b)
                       HWY_ATTR { return hn::BitCast(pairs, hn::InterleaveLower(d, a, b)); };
  const auto high = [&](auto a, auto b)
                        HWY_ATTR { return hn::BitCast(pairs, hn::InterleaveUpper(d, a, b)); };
  const auto low01 = low(v[0], v[1]), low23 = low(v[2], v[3]);
  const auto high01 = high(v[0], v[1]), high23 = high(v[2], v[3]);
  v[0] = hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23));
  v[1] = hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23));
  v[2] = hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23));
  v[3] = hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23));
}

/// Loads four words per lane, at these distances from `from`.
template <class Rows>
HWY_INLINE void load_scattered_fours(const std::byte* from, const std::int32_t* distance,
                                     const Rows& rows) {
  namespace hn = hwy::HWY_NAMESPACE;
  const FourWords d;
  for (int lane = 0; lane < warp_size; lane += four) {
    hn::Vec<FourWords> v[four];
    for (int i = 0; i < four; ++i) {
      v[i] = hn::LoadU(d, reinterpret_cast<const std::uint32_t*>(from + distance[lane + i]));
    }
    transpose(v);
    for (int e = 0; e < four; ++e) hn::Store(v[e], d, rows(e) + lane);
  }
}
template <class Rows>
HWY_INLINE void store_scattered_fours(std::byte* to, const std::int32_t* distance,
                                      const Rows& rows) {
  namespace hn = hwy::HWY_NAMESPACE;
  const FourWords d;
  for (int lane = 0; lane < warp_size; lane += four) {
    hn::Vec<FourWords> v[four];
    for (int e = 0; e < four; ++e) v[e] = hn::Load(d, rows(e) + lane);
    transpose(v);
    for (int i = 0; i < four; ++i) {
      hn::StoreU(v[i], d, reinterpret_cast<std::uint32_t*>(to + distance[lane + i]));
    }
  }
}

#endif

/// Copies an access with `count` elements per lane. `rows(e)`: the row of element e.
template <class Mem, class Lane, class Rows>
class RowCopy {
 public:
  RowCopy(int count, const Rows& rows) : count_(count), rows_(rows) {}

  /// Loads adjacent elements, starting at `from`.
  HWY_INLINE void load_dense(const Mem* from) const {
    if constexpr (same_words<Mem, Lane>) {
      if (count_ == 1) return copy_words(from, rows_(0), warp_size);
      if (count_ == 2) return load_pairs(from);
      if (count_ == 4) return load_fours(from);
    }
    each_element([&]<int Count>(int e) HWY_ATTR {
      Lane* row = rows_(e);
      RUNG_LANES for (int lane = 0; lane < warp_size; ++lane) {
        row[lane] = static_cast<Lane>(from[lane * Count + e]);
      }
    });
  }
  HWY_INLINE void store_dense(Mem* to) const {
    if constexpr (same_words<Mem, Lane>) {
      if (count_ == 1) return copy_words(rows_(0), reinterpret_cast<Lane*>(to), warp_size);
      if (count_ == 2) return store_pairs(to);
      if (count_ == 4) return store_fours(to);
    }
    each_element([&]<int Count>(int e) HWY_ATTR {
      const Lane* row = rows_(e);
      RUNG_LANES for (int lane = 0; lane < warp_size; ++lane) {
        to[lane * Count + e] = static_cast<Mem>(row[lane]);
      }
    });
  }

  /// Loads elements at the shape's distances from `from`, which fit in 31 bits.
  HWY_INLINE void load_scattered(const std::byte* from, const Shape& shape) const {
    if constexpr (same_words<Mem, Lane>) {
      if (has_dense_halves(shape)) {
        for (int lane = 0; lane < warp_size; lane += half) {
          copy_words(from + shape.narrow_distance[lane], rows_(0) + lane, half);
        }
        return;
      }
    }
    if constexpr (transposes<Mem, Lane>) {
      if (count_ == 4 && !shape.halves_uniform) {
        return load_scattered_fours(from, shape.narrow_distance.data(), rows_);
      }
    }
    for (int e = 0; e < count_; ++e, from += sizeof(Mem)) gather(from, shape, rows_(e));
  }
  /// Loads from local memory: the memory of a lane starts `stride` bytes after that of the lane
  /// before.
  HWY_INLINE void load_local(const std::byte* from, const Shape& shape, std::size_t stride) const {
    for (int e = 0; e < count_; ++e, from += sizeof(Mem)) {
      Lane* row = rows_(e);
      for (std::size_t lane = 0; lane < warp_size; ++lane) {
        const std::byte* at = from + shape.narrow_distance[lane] + lane * stride;
        row[lane] = static_cast<Lane>(*reinterpret_cast<const Mem*>(at));
      }
    }
  }
  HWY_INLINE void store_local(std::byte* to, const Shape& shape, std::size_t stride) const {
    for (int e = 0; e < count_; ++e, to += sizeof(Mem)) {
      const Lane* row = rows_(e);
      for (std::size_t lane = 0; lane < warp_size; ++lane) {
        std::byte* at = to + shape.narrow_distance[lane] + lane * stride;
        *reinterpret_cast<Mem*>(at) = static_cast<Mem>(row[lane]);
      }
    }
  }
  /// If lanes have the same address, the last lane's elements remain.
  HWY_INLINE void store_scattered(std::byte* to, const Shape& shape) const {
    const std::int32_t* distance = shape.narrow_distance.data();
    if constexpr (same_words<Mem, Lane>) {
      if (has_dense_halves(shape)) {
        for (int lane = 0; lane < warp_size; lane += half) {
          copy_words(rows_(0) + lane, reinterpret_cast<Lane*>(to + distance[lane]), half);
        }
        return;
      }
    }
    if constexpr (transposes<Mem, Lane>) {
      if (count_ == 4) return store_scattered_fours(to, distance, rows_);
    }
    for (int e = 0; e < count_; ++e, to += sizeof(Mem)) {
      const Lane* row = rows_(e);
      for (int lane = 0; lane < warp_size; ++lane) {
        *reinterpret_cast<Mem*>(to + distance[lane]) = static_cast<Mem>(row[lane]);
      }
    }
  }

 private:
  static constexpr int half = warp_size / 2;
  using Vectors = hwy::HWY_NAMESPACE::CappedTag<Lane, half>;
  static constexpr int four_words = 4;

  /// True if each half of the lanes has adjacent elements, one per lane.
  bool has_dense_halves(const Shape& shape) const {
    return count_ == 1 && shape.halves_linear && shape.half_stride == sizeof(Mem);
  }
  /// `count` must be a multiple of 16.
  static HWY_INLINE void copy_words(const void* from, Lane* to, int count) {
    namespace hn = hwy::HWY_NAMESPACE;
    const Vectors d;
    const auto* words = static_cast<const Lane*>(from);
    for (int lane = 0; lane < count; lane += static_cast<int>(hn::Lanes(d))) {
      hn::StoreU(hn::LoadU(d, words + lane), d, to + lane);
    }
  }

  template <class F>
  HWY_INLINE void each_element(const F& f) const {
    for (int e = 0; e < count_; ++e) {
      switch (count_) {
        case 1: f.template operator()<1>(e); break;
        case 2: f.template operator()<2>(e); break;
        case 4: f.template operator()<4>(e); break;
        default: f.template operator()<8>(e); break;
      }
    }
  }

  HWY_INLINE void load_pairs(const Mem* from) const {
    namespace hn = hwy::HWY_NAMESPACE;
    const Vectors d;
    const auto* words = reinterpret_cast<const Lane*>(from);
    for (std::size_t lane = 0; lane < warp_size; lane += hn::Lanes(d)) {
      hn::Vec<Vectors> a, b;
      hn::LoadInterleaved2(d, words + 2 * lane, a, b);
      hn::Store(a, d, rows_(0) + lane);
      hn::Store(b, d, rows_(1) + lane);
    }
  }
  HWY_INLINE void load_fours(const Mem* from) const {
    namespace hn = hwy::HWY_NAMESPACE;
    const Vectors d;
    const auto* words = reinterpret_cast<const Lane*>(from);
    for (std::size_t lane = 0; lane < warp_size; lane += hn::Lanes(d)) {
      hn::Vec<Vectors> a, b, c, e;
      hn::LoadInterleaved4(d, words + four_words * lane, a, b, c, e);
      hn::Store(a, d, rows_(0) + lane);
      hn::Store(b, d, rows_(1) + lane);
      hn::Store(c, d, rows_(2) + lane);
      hn::Store(e, d, rows_(3) + lane);
    }
  }
  HWY_INLINE void store_pairs(Mem* to) const {
    namespace hn = hwy::HWY_NAMESPACE;
    const Vectors d;
    auto* words = reinterpret_cast<Lane*>(to);
    for (std::size_t lane = 0; lane < warp_size; lane += hn::Lanes(d)) {
      hn::StoreInterleaved2(hn::Load(d, rows_(0) + lane), hn::Load(d, rows_(1) + lane), d,
                            words + 2 * lane);
    }
  }
  HWY_INLINE void store_fours(Mem* to) const {
    namespace hn = hwy::HWY_NAMESPACE;
    const Vectors d;
    auto* words = reinterpret_cast<Lane*>(to);
    for (std::size_t lane = 0; lane < warp_size; lane += hn::Lanes(d)) {
      hn::StoreInterleaved4(hn::Load(d, rows_(0) + lane), hn::Load(d, rows_(1) + lane),
                            hn::Load(d, rows_(2) + lane), hn::Load(d, rows_(3) + lane), d,
                            words + four_words * lane);
    }
  }

  static void gather(const std::byte* from, const Shape& shape, Lane* row) {
    const std::int32_t* distance = shape.narrow_distance.data();
    const auto value = [&](int lane) {
      return static_cast<Lane>(*reinterpret_cast<const Mem*>(from + distance[lane]));
    };
    if (shape.halves_uniform) {
      const Lane low = value(0), high = value(half);
      for (int lane = 0; lane < half; ++lane) row[lane] = low;
      for (int lane = half; lane < warp_size; ++lane) row[lane] = high;
    } else if (shape.halves_agree) {
      RUNG_LANES for (int lane = 0; lane < half; ++lane) row[lane] = value(lane);
      RUNG_LANES for (int lane = 0; lane < half; ++lane) row[lane + half] = row[lane];
    } else {
      RUNG_LANES for (int lane = 0; lane < warp_size; ++lane) row[lane] = value(lane);
    }
  }

  const int count_;
  const Rows& rows_;
};

}  // namespace rung::vgpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
