// Shared by the handlers of memory accesses. Included once per target.

#if defined(RUNG_VGPU_ACCESS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef RUNG_VGPU_ACCESS_INL_HPP
#undef RUNG_VGPU_ACCESS_INL_HPP
#else
#define RUNG_VGPU_ACCESS_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <limits>
#include <type_traits>

#include "vgpu/engine/memory/access.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {

/// Whether these lanes have the shape's distances; if so, moves the shape to their addresses. `row`
/// contains addresses of 32 or 64 bits, signed if they are to be sign-extended.
template <class T>
inline bool moved(Shape& shape, Mask mask, const T* row) {
  namespace hn = hwy::HWY_NAMESPACE;
  const T* distance = reinterpret_cast<const T*>(shape.distance.data());
  using Unsigned = std::make_unsigned_t<T>;
  constexpr bool is_narrow = sizeof(T) == sizeof(std::int32_t);
  using Wide = std::conditional_t<is_narrow, std::int64_t, std::uint64_t>;
  if constexpr (is_narrow) {
    if (!shape.narrow) return false;
    distance = reinterpret_cast<const T*>(shape.narrow_distance.data());
  }
  if (shape.mask != mask || mask == 0) return false;
  const hn::CappedTag<T, warp_size> d;
  const int first = first_lane(mask);
  const T low =
      static_cast<T>(static_cast<Unsigned>(row[first]) - static_cast<Unsigned>(distance[first]));
  auto off = hn::Zero(d);
  const auto differences = [&](std::size_t lane) HWY_ATTR {
    const auto found = hn::Sub(hn::LoadU(d, row + lane), hn::Set(d, low));
    return hn::Xor(found, hn::Load(d, distance + lane));
  };
  if (mask == all_lanes) {
    for (std::size_t lane = 0; lane < warp_size; lane += hn::Lanes(d)) {
      off = hn::Or(off, differences(lane));
    }
  } else {
    for (std::size_t lane = 0; lane < warp_size; lane += hn::Lanes(d)) {
      const std::uint64_t bits = mask >> lane;
      const auto active = hn::LoadMaskBits(d, reinterpret_cast<const std::uint8_t*>(&bits));
      off = hn::Or(off, hn::IfThenElseZero(active, differences(lane)));
    }
  }
  if (!hn::AllTrue(d, hn::Eq(off, hn::Zero(d)))) return false;
  const auto room = static_cast<std::uint64_t>(static_cast<Wide>(std::numeric_limits<T>::max()) -
                                               static_cast<Wide>(low));
  if (shape.high - shape.low > room) return false;
  shape.move_to(static_cast<std::uint64_t>(static_cast<Wide>(low)));
  return true;
}

template <class T>
inline void describe(Shape& shape, Mask mask, const T* row) {
  if (moved(shape, mask, row)) return;
  std::uint64_t address[warp_size];
  for (int lane = 0; lane < warp_size; ++lane)
    address[lane] = static_cast<std::uint64_t>(row[lane]);
  shape.describe(mask, address);
}

inline void make_shape(Shape& shape, Warp& warp, const MemoryOp& op) {
  if (op.address_bytes == 8) {
    describe(shape, warp.mask, warp.row<std::uint64_t>(op.address_row));
  } else if (op.wraps()) {
    describe(shape, warp.mask, warp.row<std::int32_t>(op.address_row));
  } else if (op.address_bytes == 4) {
    describe(shape, warp.mask, warp.row<std::uint32_t>(op.address_row));
  } else {
    constexpr std::uint32_t nowhere[warp_size] = {};  // the offset is the whole address
    describe(shape, warp.mask, nowhere);
  }
}

/// The common case of locate(), inline.
inline bool locate_shared(Block& block, const MemoryOp& op, const Shape& shape, Place& place) {
  if (op.space != ptx::Space::shared) return false;
  const std::uint64_t low = shape.low + static_cast<std::uint64_t>(op.offset);
  const std::uint64_t end = shape.high + static_cast<std::uint64_t>(op.offset) + op.access_bytes();
  const std::uint64_t bits = low | shape.low_bits;
  if (low < op.shared_begin || end > op.shared_end || low > end ||
      (bits & (op.alignment() - 1)) != 0) {
    return false;
  }
  place.space = ptx::Space::shared;
  place.bias =
      static_cast<std::uint64_t>(op.offset) + reinterpret_cast<std::uint64_t>(block.shared.data());
  return true;
}

}  // namespace rung::vgpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
