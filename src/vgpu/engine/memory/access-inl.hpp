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

/// Whether the lanes have the shape's distances; if so, moves the shape to their addresses. `row`
/// contains addresses of 32 or 64 bits, signed if they are to be sign-extended.
template <class T>
inline bool moved(Shape& shape, const T* row) {
  namespace hn = hwy::HWY_NAMESPACE;
  const T* distance = reinterpret_cast<const T*>(shape.distance.data());
  using Unsigned = std::make_unsigned_t<T>;
  constexpr bool is_narrow = sizeof(T) == sizeof(std::int32_t);
  using Wide = std::conditional_t<is_narrow, std::int64_t, std::uint64_t>;
  if constexpr (is_narrow) {
    if (!shape.narrow) return false;
    distance = reinterpret_cast<const T*>(shape.narrow_distance.data());
  }
  if (shape.mask != all_lanes) return false;
  const hn::CappedTag<T, warp_size> d;
  const T low = static_cast<T>(static_cast<Unsigned>(row[0]) - static_cast<Unsigned>(distance[0]));
  auto off = hn::Zero(d);
  for (std::size_t lane = 0; lane < warp_size; lane += hn::Lanes(d)) {
    const auto found = hn::Sub(hn::LoadU(d, row + lane), hn::Set(d, low));
    off = hn::Or(off, hn::Xor(found, hn::Load(d, distance + lane)));
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
  if (mask == all_lanes && moved(shape, row)) return;
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

/// Loads 32 elements of one operand, which are `Count` elements apart in memory.
template <int Count, class Mem, class Dst>
inline void unpack(const Mem* from, Dst* row) {
  RUNG_LANES for (int lane = 0; lane < warp_size; ++lane) {
    row[lane] = static_cast<Dst>(from[lane * Count]);
  }
}
/// Loads elements at these distances from `from`.
template <class Mem, class Dst>
inline void gather(const std::byte* from, const Shape& shape, Dst* row) {
  constexpr int half = warp_size / 2;
  const std::int32_t* distance = shape.narrow_distance.data();
  const auto value = [&](int lane) {
    return static_cast<Dst>(*reinterpret_cast<const Mem*>(from + distance[lane]));
  };
  if (shape.halves_uniform) {
    const Dst low = value(0), high = value(half);
    for (int lane = 0; lane < half; ++lane) row[lane] = low;
    for (int lane = half; lane < warp_size; ++lane) row[lane] = high;
  } else if (shape.halves_agree) {
    RUNG_LANES for (int lane = 0; lane < half; ++lane) row[lane] = value(lane);
    RUNG_LANES for (int lane = 0; lane < half; ++lane) row[lane + half] = row[lane];
  } else {
    RUNG_LANES for (int lane = 0; lane < warp_size; ++lane) row[lane] = value(lane);
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
