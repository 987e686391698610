// Copies the elements of an access between memory and the rows of its lanes. Included once per
// target.

#if defined(RUNG_VGPU_MOVE_LANES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef RUNG_VGPU_MOVE_LANES_INL_HPP
#undef RUNG_VGPU_MOVE_LANES_INL_HPP
#else
#define RUNG_VGPU_MOVE_LANES_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "vgpu/engine/execution/report.hpp"
#include "vgpu/engine/memory/access-inl.hpp"
#include "vgpu/engine/memory/copy_rows-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {

// Blocks run on several CPU threads. A program orders strong accesses (volatile, relaxed and
// stronger) by fences; here, the access itself provides that order.
template <class Mem>
Mem load_element(const Mem* from, const MemoryOp& op) {
  return op.relaxed ? __atomic_load_n(from, __ATOMIC_ACQUIRE)
                    : __atomic_load_n(from, __ATOMIC_RELAXED);
}
template <class Mem>
void store_element(Mem* to, Mem value, const MemoryOp& op) {
  if (op.relaxed) {
    __atomic_store_n(to, value, __ATOMIC_RELEASE);
  } else {
    __atomic_store_n(to, value, __ATOMIC_RELAXED);
  }
}

/// True if the lanes' elements are contiguous.
HWY_INLINE bool is_dense(const MemoryOp& op, const Shape& shape, const Place& place) {
  return shape.kind == Shape::Kind::linear && place.lane_stride == 0 && !op.relaxed &&
         shape.stride == static_cast<std::int64_t>(op.access_bytes());
}

/// True if all lanes access elements at the shape's narrow distances.
HWY_INLINE bool is_near(const MemoryOp& op, const Shape& shape) {
  return shape.mask == all_lanes && shape.narrow && !op.relaxed;
}

/// True if enough lanes are active for loading all 32 to be faster. Inactive lanes have the
/// distance of the first active lane.
HWY_INLINE bool has_many_lanes(const MemoryOp& op, const Shape& shape) {
  constexpr int many = 6;
  return shape.narrow && !op.relaxed && lanes_in(shape.mask) >= many;
}

/// Loads elements for all lanes, but changes only the rows of active lanes.
template <class Mem, class Dst>
HWY_INLINE void load_some_lanes(const std::byte* from, const Shape& shape, const Place& place,
                                int count, Warp& warp, const std::uint32_t* rows) {
  namespace hn = hwy::HWY_NAMESPACE;
  constexpr int max_elements = 8;
  alignas(64) Dst loaded[max_elements][warp_size];
  const auto to = [&](int e) { return loaded[e]; };
  const RowCopy<Mem, Dst, decltype(to)> copy(count, to);
  place.lane_stride == 0 ? copy.load_scattered(from, shape)
                         : copy.load_local(from, shape, place.lane_stride);
  const hn::CappedTag<Dst, warp_size> d;
  for (int e = 0; e < count; ++e) {
    Dst* const row = warp.row<Dst>(rows[e]);
    for (std::size_t lane = 0; lane < warp_size; lane += hn::Lanes(d)) {
      const std::uint64_t bits = shape.mask >> lane;
      const auto active = hn::LoadMaskBits(d, reinterpret_cast<const std::uint8_t*>(&bits));
      const auto value = hn::Load(d, loaded[e] + lane);
      hn::Store(hn::IfThenElse(active, value, hn::Load(d, row + lane)), d, row + lane);
    }
  }
}

template <class Mem, class Dst>
void load_one_by_one(Warp& warp, const Instr& instr, const Shape& shape, const Place& place) {
  const auto& op = instr.op<MemoryOp>();
  for (Mask left = shape.mask; left != 0; left &= left - 1) {
    const int lane = first_lane(left);
    const Mem* from = reinterpret_cast<const Mem*>(place.at(shape.address(lane), lane));
    for (int e = 0; e < op.count; ++e) {
      warp.row<Dst>(instr.rows[e])[lane] = static_cast<Dst>(load_element(from + e, op));
    }
  }
}

template <class Mem, class Dst>
HWY_INLINE void load_lanes(Warp& warp, const Instr& instr, Shape& shape, const Place& place) {
  const auto& op = instr.op<MemoryOp>();
  const int count = op.count;
  const auto rows = [&](int e) { return warp.row<Dst>(instr.rows[e]); };
  warp.worker->polls += op.relaxed;
  if (shape.kind == Shape::Kind::uniform && place.lane_stride == 0) {
    const Mem* from = reinterpret_cast<const Mem*>(place.at(shape.low, 0));
    for (int e = 0; e < count; ++e) {
      const auto value = static_cast<Dst>(load_element(from + e, op));
      Dst* row = warp.row<Dst>(instr.rows[e]);
      for (int lane = 0; lane < warp_size; ++lane) row[lane] = value;
    }
  } else if (is_dense(op, shape, place)) {
    const Mem* from = reinterpret_cast<const Mem*>(place.at(shape.low, 0));
    if (place.space == ptx::Space::global) {
      prefetch_next(place.at(shape.low, 0), shape, warp_size * op.access_bytes());
    }
    RowCopy<Mem, Dst, decltype(rows)>(count, rows).load_dense(from);
  } else if (is_near(op, shape)) {
    const RowCopy<Mem, Dst, decltype(rows)> copy(count, rows);
    const std::byte* from = place.at(shape.low, 0);
    place.lane_stride == 0 ? copy.load_scattered(from, shape)
                           : copy.load_local(from, shape, place.lane_stride);
  } else if (has_many_lanes(op, shape)) {
    load_some_lanes<Mem, Dst>(place.at(shape.low, 0), shape, place, count, warp, instr.rows);
  } else {
    load_one_by_one<Mem, Dst>(warp, instr, shape, place);
  }
}

/// Reports lanes that store different values to one address: PTX does not specify which value
/// remains.
template <class Mem, class Src>
void check_collisions(Block& block, Warp& warp, const Instr& instr, Shape& shape,
                      const Place& place) {
  const auto& op = instr.op<MemoryOp>();
  for (Mask left = shape.mask; left != 0; left &= left - 1) {
    const int lane = first_lane(left);
    const Mem* at = reinterpret_cast<const Mem*>(place.at(shape.address(lane), lane));
    for (int e = 0; e < op.count; ++e) {
      if (at[e] == static_cast<Mem>(warp.row<Src>(instr.rows[e])[lane])) continue;
      report_lanes_collide(block, warp, op, shape, place, lane);
      return;
    }
  }
}

template <class Mem, class Src>
void store_one_by_one(Warp& warp, const Instr& instr, const Shape& shape, const Place& place) {
  const auto& op = instr.op<MemoryOp>();
  for (Mask left = shape.mask; left != 0; left &= left - 1) {
    const int lane = first_lane(left);
    Mem* to = reinterpret_cast<Mem*>(place.at(shape.address(lane), lane));
    for (int e = 0; e < op.count; ++e) {
      store_element(to + e, static_cast<Mem>(warp.row<Src>(instr.rows[e])[lane]), op);
    }
  }
}

/// True if no two lanes access the same byte.
HWY_INLINE bool has_distinct_bytes(const MemoryOp& op, Shape& shape, const Place& place) {
  return shape.kind == Shape::Kind::linear || place.lane_stride != 0 ||
         (op.access_bytes() <= widest_aligned && shape.uniques() == lanes_in(shape.mask));
}

template <class Mem, class Src>
HWY_INLINE void store_lanes(Block& block, Warp& warp, const Instr& instr, Shape& shape,
                            const Place& place) {
  const auto& op = instr.op<MemoryOp>();
  const int count = op.count;
  const auto rows = [&](int e) { return warp.row<Src>(instr.rows[e]); };
  const RowCopy<Mem, Src, decltype(rows)> copy(count, rows);
  if (is_dense(op, shape, place)) {
    copy.store_dense(reinterpret_cast<Mem*>(place.at(shape.low, 0)));
    return;
  }
  if (is_near(op, shape) && op.access_bytes() <= widest_aligned) {
    std::byte* to = place.at(shape.low, 0);
    place.lane_stride == 0 ? copy.store_scattered(to, shape)
                           : copy.store_local(to, shape, place.lane_stride);
  } else {
    store_one_by_one<Mem, Src>(warp, instr, shape, place);
  }
  if (block.worker.observe && !has_distinct_bytes(op, shape, place)) {
    check_collisions<Mem, Src>(block, warp, instr, shape, place);
  }
}

}  // namespace rung::vgpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
