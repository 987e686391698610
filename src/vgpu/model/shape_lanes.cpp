#include "vgpu/model/shape_lanes.hpp"

#include <algorithm>
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

/// Whether the numbers from `from` on are `gap` apart, `count` of them, at least 9.
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

/// Whether f(i) is 0 in all lanes, for i from 0 to `count`.
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

/// Writes the distances. The OR of all of them.
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

/// `address`: of all lanes; those that are not in the mask have the address of one that is.
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
  shape.low_bits = static_cast<std::uint8_t>((regular ? gap : bits) & 15);
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

EqualLanes equal_lanes(const std::array<std::uint32_t, warp_size>& numbers) {
  const hn::CappedTag<std::uint32_t, warp_size> words;
  EqualLanes equal;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const auto own = hn::Set(words, numbers[lane]);
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < lanes; i += hn::Lanes(words)) {
      std::uint64_t bits = 0;
      hn::StoreMaskBits(words, hn::Eq(own, hn::LoadU(words, numbers.data() + i)),
                        reinterpret_cast<std::uint8_t*>(&bits));
      all |= bits << i;
    }
    equal[lane] = static_cast<Mask>(all);
  }
  return equal;
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

EqualLanes equal_lanes(const std::array<std::uint32_t, warp_size>& numbers) {
  static const auto picked = RUNG_PICK_TARGET(equal_lanes);
  return picked(numbers);
}

}  // namespace rung::vgpu
#endif  // HWY_ONCE
