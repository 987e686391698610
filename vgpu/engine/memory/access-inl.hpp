// Common code of the handlers of memory accesses. Included once per target.

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

/// Moves a shape of all lanes so that its lowest address is `low`. Returns false if an address
/// would overflow T.
template <class T>
HWY_INLINE bool move_to(Shape& shape, T low) {
  using Wide = std::conditional_t<sizeof(T) == sizeof(std::int32_t), std::int64_t, std::uint64_t>;
  const auto room = static_cast<std::uint64_t>(static_cast<Wide>(std::numeric_limits<T>::max()) -
                                               static_cast<Wide>(low));
  if (shape.high - shape.low > room) return false;
  shape.move_to(static_cast<std::uint64_t>(static_cast<Wide>(low)));
  return true;
}

/// The shape's distances, as integers of T's size.
template <class T>
HWY_INLINE const T* distances(const Shape& shape) {
  if constexpr (sizeof(T) == sizeof(std::int32_t)) {
    return reinterpret_cast<const T*>(shape.narrow_distance.data());
  } else {
    return reinterpret_cast<const T*>(shape.distance.data());
  }
}

/// Returns true if the lanes in `row` have the shape's distances, and then moves the shape to their
/// addresses. `row` contains 32- or 64-bit addresses, signed if they must be sign-extended.
/// `active(lane, differences)` keeps the differences of active lanes.
template <class T, class Active>
HWY_INLINE bool moved(Shape& shape, int first, const T* row, const Active& active) {
  namespace hn = hwy::HWY_NAMESPACE;
  using Unsigned = std::make_unsigned_t<T>;
  if (sizeof(T) == sizeof(std::int32_t) && !shape.narrow) return false;
  const T* const distance = distances<T>(shape);
  const hn::CappedTag<T, warp_size> d;
  const T low =
      static_cast<T>(static_cast<Unsigned>(row[first]) - static_cast<Unsigned>(distance[first]));
  auto off = hn::Zero(d);
  for (std::size_t lane = 0; lane < warp_size; lane += hn::Lanes(d)) {
    const auto found = hn::Sub(hn::LoadU(d, row + lane), hn::Set(d, low));
    off = hn::Or(off, active(lane, hn::Xor(found, hn::Load(d, distance + lane))));
  }
  return hn::AllTrue(d, hn::Eq(off, hn::Zero(d))) && move_to(shape, low);
}

/// moved() for all lanes.
template <class T>
HWY_INLINE bool all_moved(Shape& shape, const T* row) {
  return moved(shape, 0, row, [](std::size_t, auto differences) HWY_ATTR { return differences; });
}

/// Computes the shape of the lanes' addresses.
template <class T>
HWY_NOINLINE void describe(Shape& shape, Mask mask, const T* row) {
  namespace hn = hwy::HWY_NAMESPACE;
  if (shape.mask == mask && mask != 0) {
    const auto active = [&](std::size_t lane, auto differences) HWY_ATTR {
      const hn::CappedTag<T, warp_size> d;
      const std::uint64_t bits = mask >> lane;
      const auto of_mask = hn::LoadMaskBits(d, reinterpret_cast<const std::uint8_t*>(&bits));
      return hn::IfThenElseZero(of_mask, differences);
    };
    if (moved(shape, first_lane(mask), row, active)) return;
  }
  std::uint64_t address[warp_size];
  for (int lane = 0; lane < warp_size; ++lane)
    address[lane] = static_cast<std::uint64_t>(row[lane]);
  shape.describe(mask, address);
}

HWY_INLINE void make_shape(Shape& shape, Warp& warp, const MemoryOp& op) {
  const bool whole = warp.mask == all_lanes && shape.mask == all_lanes;
  if (op.address_bytes == 8) {
    const std::uint64_t* row = warp.row<std::uint64_t>(op.address_row);
    if (!whole || !all_moved(shape, row)) describe(shape, warp.mask, row);
  } else if (op.wraps()) {
    const std::int32_t* row = warp.row<std::int32_t>(op.address_row);
    if (!whole || !all_moved(shape, row)) describe(shape, warp.mask, row);
  } else if (op.address_bytes == 4) {
    describe(shape, warp.mask, warp.row<std::uint32_t>(op.address_row));
  } else {
    constexpr std::uint32_t nowhere[warp_size] = {};  // the offset is the whole address
    describe(shape, warp.mask, nowhere);
  }
}

/// A handler of an access whose shape has been computed.
using AtShape = void (*)(Warp& warp, const Instr& instr, Shape& shape);

HWY_INLINE Shape& shape_of(Worker& worker, Warp& warp, const MemoryOp& op) {
  Shape& shape = worker.shapes[op.slot];
  if (op.starts_shape) make_shape(shape, warp, op);
  return shape;
}

/// Prefetches for the next warp, whose distance from this warp is probably that of this warp from
/// the previous one. With many warps taking turns, the CPU's prefetchers do not detect that
/// pattern. Always inline: GCC removes calls of functions that only prefetch.
HWY_INLINE void prefetch_next(const std::byte* from, const Shape& shape, std::uint32_t bytes) {
  constexpr std::uint32_t line = 64;
  const auto next = reinterpret_cast<std::uint64_t>(from) + shape.moved_by;
  for (std::uint32_t at = 0; at < bytes; at += line) {
    __builtin_prefetch(reinterpret_cast<const std::byte*>(next + at));
  }
}

/// prefetch_next() if each half of the lanes has adjacent elements.
HWY_INLINE void prefetch_next_halves(const std::byte* from, const Shape& shape,
                                     std::uint32_t bytes) {
  prefetch_next(from + shape.narrow_distance[0], shape, bytes);
  prefetch_next(from + shape.narrow_distance[warp_size / 2], shape, bytes);
}

/// The common cases of locate(), inline: arrays of known size in shared memory, and the allocation
/// that the instruction accessed last.
HWY_INLINE bool locate_shared(Block& block, const MemoryOp& op, const Shape& shape, Place& place) {
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
HWY_INLINE bool locate_again(Block& block, const MemoryOp& op, const Shape& shape, AccessKind kind,
                             Place& place) {
  if (op.space != ptx::Space::global) return false;
  const Allocation* const last = block.worker.last_allocation[op.cache];
  if (last == nullptr) return false;
  const std::uint64_t low = shape.low + static_cast<std::uint64_t>(op.offset);
  const std::uint64_t end = shape.high + static_cast<std::uint64_t>(op.offset) + op.access_bytes();
  const std::uint64_t bits = low | shape.low_bits;
  if (low < last->address || end > last->address + last->bytes || low > end ||
      (bits & (op.alignment() - 1)) != 0 || (last->read_only && kind != AccessKind::load)) {
    return false;
  }
  place.space = ptx::Space::global;
  place.bias = static_cast<std::uint64_t>(op.offset);
  place.allocation = last;
  place.to_data = last->to_data;
  return true;
}

}  // namespace rung::vgpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
