#include "vgpu/model/shape_lanes.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vgpu/model/shape_lanes.cpp"
#include "device/cpu/simd.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
constexpr hn::CappedTag<std::uint64_t, 8> d{};
constexpr hn::CappedTag<std::int64_t, 8> ordered{};  // addresses are compared as signed numbers
using Vector = hn::Vec<hn::CappedTag<std::uint64_t, 8>>;

constexpr std::size_t lanes = warp_size;
constexpr std::size_t half = lanes / 2;

HWY_INLINE std::size_t step() { return hn::Lanes(d); }

/// True if `count` numbers at `from`, at least 9, are `gap` apart.
HWY_INLINE bool are_apart(const std::uint64_t* from, std::size_t count, std::uint64_t gap) {
  const std::size_t last = count - 1 - step();
  auto off = hn::Zero(d);
  for (std::size_t i = 0;; i = std::min(i + step(), last)) {
    const auto found = hn::Sub(hn::LoadU(d, from + i + 1), hn::LoadU(d, from + i));
    off = hn::Or(off, hn::Xor(found, hn::Set(d, gap)));
    if (i == last) break;
  }
  return hn::AllTrue(d, hn::Eq(off, hn::Zero(d)));
}

/// True if f(i) is 0 in all lanes, for each i in [0, count) that starts a vector.
template <class F>
HWY_INLINE bool all_zero(std::size_t count, const F& f) {
  auto off = hn::Zero(d);
  for (std::size_t i = 0; i < count; i += step()) off = hn::Or(off, f(i));
  return hn::AllTrue(d, hn::Eq(off, hn::Zero(d)));
}

HWY_INLINE void find_bounds(Shape& shape, const std::uint64_t* address) {
  auto least = hn::Set(ordered, static_cast<std::int64_t>(address[0])), most = least;
  for (std::size_t i = 0; i < lanes; i += step()) {
    const auto found = hn::BitCast(ordered, hn::LoadU(d, address + i));
    least = hn::Min(least, found);
    most = hn::Max(most, found);
  }
  HWY_ALIGN std::int64_t lows[8], highs[8];
  hn::Store(least, ordered, lows);
  hn::Store(most, ordered, highs);
  shape.low = static_cast<std::uint64_t>(*std::min_element(lows, lows + step()));
  shape.high = static_cast<std::uint64_t>(*std::max_element(highs, highs + step()));
}

/// Writes the distances. Returns the OR of all of them.
HWY_INLINE std::uint64_t write_distances(Shape& shape, const std::uint64_t* address) {
  const hn::Rebind<std::uint32_t, decltype(d)> words;
  auto* const narrow = reinterpret_cast<std::uint32_t*>(shape.narrow_distance.data());
  auto bits = hn::Zero(d);
  for (std::size_t i = 0; i < lanes; i += step()) {
    const auto distance = hn::Sub(hn::LoadU(d, address + i), hn::Set(d, shape.low));
    hn::Store(distance, d, shape.distance.data() + i);
    hn::StoreU(hn::TruncateTo(words, distance), words, narrow + i);
    bits = hn::Or(bits, distance);
  }
  HWY_ALIGN std::uint64_t all[8];
  hn::Store(bits, d, all);
  std::uint64_t result = 0;
  for (std::size_t i = 0; i < step(); ++i) result |= all[i];
  return result;
}

/// `address`: addresses of all lanes. Lanes that are not in the mask have the address of a lane
/// that is.
HWY_INLINE void fill_in_all(Shape& shape, const std::uint64_t* address) {
  const bool whole = shape.mask == all_lanes;
  const std::uint64_t gap = address[1] - address[0];
  const bool regular = whole && are_apart(address, lanes, gap);
  shape.stride = regular ? static_cast<std::int64_t>(gap) : 0;
  if (regular) {
    shape.kind = gap == 0 ? Shape::Kind::uniform : Shape::Kind::linear;
    shape.low = address[shape.stride < 0 ? lanes - 1 : 0];
    shape.high = address[shape.stride < 0 ? 0 : lanes - 1];
  } else {
    shape.kind = Shape::Kind::scattered;
    find_bounds(shape, address);
  }
  const std::uint64_t bits = write_distances(shape, address);
  shape.low_bits = static_cast<std::uint32_t>(regular ? gap : bits);
  shape.narrow = shape.high - shape.low <= std::numeric_limits<std::int32_t>::max();
  const bool first_half = shape.narrow && are_apart(address, half, gap);
  shape.half_stride = first_half ? static_cast<std::int32_t>(gap) : 0;
  shape.halves_linear = whole && shape.half_stride != 0 && are_apart(address + half, half, gap);
  shape.halves_agree =
      whole && all_zero(half, [&](std::size_t i) HWY_ATTR {
        return hn::Xor(hn::LoadU(d, address + i), hn::LoadU(d, address + half + i));
      });
  shape.halves_uniform =
      whole && all_zero(lanes, [&](std::size_t i) HWY_ATTR {
        return hn::Xor(hn::LoadU(d, address + i), hn::Set(d, address[i < half ? 0 : half]));
      });
}

void fill_in(Shape& shape, const std::uint64_t* address) {
  if (shape.mask == all_lanes) {
    fill_in_all(shape, address);
    return;
  }
  HWY_ALIGN std::uint64_t filled[lanes];
  const auto first = hn::Set(d, address[first_lane(shape.mask)]);
  for (std::size_t i = 0; i < lanes; i += step()) {
    const std::uint64_t bits = shape.mask >> i;
    const auto active = hn::LoadMaskBits(d, reinterpret_cast<const std::uint8_t*>(&bits));
    hn::Store(hn::IfThenElse(active, hn::LoadU(d, address + i), first), d, filled + i);
  }
  fill_in_all(shape, filled);
}

constexpr hn::CappedTag<std::uint32_t, half> words{};

/// The mask bits of a vector's lanes, starting at lane `first`.
HWY_INLINE auto active_from(Mask mask, std::size_t first) {
  const std::uint64_t bits = mask >> first;
  return hn::LoadMaskBits(words, reinterpret_cast<const std::uint8_t*>(&bits));
}

template <class M>
HWY_INLINE Mask bits_of(M found) {
  std::uint64_t bits = 0;
  hn::StoreMaskBits(words, found, reinterpret_cast<std::uint8_t*>(&bits));
  return static_cast<Mask>(bits);
}

/// The distances of a shape, as numbers that are small if the lanes are close to each other.
struct Numbered {
  const Shape& shape;
  std::uint32_t phase;  // added to a distance before shifting
  int shift;

  HWY_INLINE auto from(std::size_t lane) const {
    const hn::RebindToSigned<decltype(words)> signed_words;
    const auto distance = hn::LoadU(signed_words, shape.narrow_distance.data() + lane);
    return hn::ShiftRightSame(hn::Add(hn::BitCast(words, distance), hn::Set(words, phase)), shift);
  }
  HWY_INLINE std::uint64_t largest() const { return (shape.high - shape.low + phase) >> shift; }
};

#if HWY_TARGET != HWY_SCALAR
/// The number of distinct numbers if all are below 64, counted with one bit each.
HWY_INLINE int count_bits(const Numbered& numbers) {
  const hn::Repartition<std::uint64_t, decltype(words)> d_wide;
  const hn::Half<decltype(words)> d_half;
  auto bits = hn::Zero(d_wide);
  const auto add = [&](auto some) HWY_ATTR {
    bits = hn::Or(bits, hn::Shl(hn::Set(d_wide, 1), hn::PromoteTo(d_wide, some)));
  };
  for (std::size_t i = 0; i < lanes; i += hn::Lanes(words)) {
    // Lanes outside the mask have the number of a lane inside, due to fill_in().
    const auto number = numbers.from(i);
    add(hn::LowerHalf(d_half, number));
    add(hn::UpperHalf(d_half, number));
  }
  HWY_ALIGN std::uint64_t all[8];
  hn::Store(bits, d_wide, all);
  for (std::size_t i = 1; i < hn::Lanes(d_wide); ++i) all[0] |= all[i];
  return std::popcount(all[0]);
}
#endif

/// The numbers of a warp's lanes, for comparisons between lanes.
class Numbers {
 public:
  explicit HWY_INLINE Numbers(const Numbered& numbers) : mask_(numbers.shape.mask) {
    for (std::size_t i = 0; i < lanes; i += hn::Lanes(words)) {
      const auto number = hn::IfThenElse(active_from(mask_, i), numbers.from(i),
                                         hn::Add(hn::Iota(words, 0), hn::Set(words, none + i)));
      hn::Store(number, words, number_ + i);
      hn::Store(number, words, number_ + lanes + i);
    }
  }

  /// Lanes whose number an earlier lane has, too.
  HWY_INLINE Mask repeated() const {
    if (!any_repeated()) return 0;
    Mask all = 0;
    for (int lane = 0; lane + 1 < warp_size; ++lane) all |= same_as(lane) & ~Mask{1} << lane;
    return all & mask_;
  }

  /// Lanes with the same number as `lane`.
  HWY_INLINE Mask same_as(int lane) const {
    const auto own = hn::Set(words, number_[lane]);
    Mask all = 0;
    for (std::size_t i = 0; i < lanes; i += hn::Lanes(words)) {
      all |= bits_of(hn::Eq(own, hn::Load(words, number_ + i))) << i;
    }
    return all;
  }

 private:
  // Lanes outside the mask have unique numbers.
  static constexpr std::uint32_t none = 0xFFFFFF00u;

  /// True if two lanes have the same number. Each lane is compared with the 16 lanes after it,
  /// cyclically.
  HWY_INLINE bool any_repeated() const {
    auto found = hn::FirstN(words, 0);
    for (std::size_t i = 0; i < lanes; i += hn::Lanes(words)) {
      const auto number = hn::Load(words, number_ + i);
      for (std::size_t distance = 1; distance <= half; ++distance) {
        found = hn::Or(found, hn::Eq(number, hn::LoadU(words, number_ + i + distance)));
      }
    }
    return !hn::AllFalse(words, found);
  }

  HWY_ALIGN std::uint32_t number_[2 * lanes];  // stored twice
  Mask mask_;
};

int count_distinct(const Shape& shape, std::uint32_t phase, int shift) {
  const Numbered numbers{shape, phase, shift};
#if HWY_TARGET != HWY_SCALAR
  if (numbers.largest() < 64) return count_bits(numbers);
#endif
  return lanes_in(shape.mask & ~Numbers(numbers).repeated());
}

DistinctLanes distinct_lanes(const Shape& shape) {
  DistinctLanes distinct;
  distinct.first = shape.mask;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    distinct.second[lane] = static_cast<std::uint8_t>(lane);
  }
  // Distances are multiples of the lowest bit of their OR.
  const int shift = shape.low_bits == 0 ? 0 : std::countr_zero(shape.low_bits);
  const Numbered numbers{shape, 0, shift};
#if HWY_TARGET != HWY_SCALAR
  if (numbers.largest() < 64 && count_bits(numbers) == lanes_in(shape.mask)) return distinct;
#endif
  const Numbers compared(numbers);
  Mask repeated = compared.repeated();
  distinct.first &= ~repeated;
  while (repeated != 0) {
    const int second = first_lane(repeated);
    const Mask same = compared.same_as(second) & shape.mask;
    const auto first = static_cast<std::size_t>(first_lane(same)) % lanes;
    distinct.second[first] = static_cast<std::uint8_t>(second);
    repeated &= ~same;
  }
  return distinct;
}

}  // namespace
}  // namespace rung::vgpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rung::vgpu {

void fill_in(Shape& shape, const std::uint64_t* address) {
  static const auto picked = RUNG_PICK_TARGET(fill_in);
  picked(shape, address);
}

DistinctLanes distinct_lanes(const Shape& shape) {
  static const auto picked = RUNG_PICK_TARGET(distinct_lanes);
  return picked(shape);
}

int count_distinct(const Shape& shape, std::uint32_t phase, int shift) {
  static const auto picked = RUNG_PICK_TARGET(count_distinct);
  return picked(shape, phase, shift);
}

}  // namespace rung::vgpu
#endif  // HWY_ONCE
