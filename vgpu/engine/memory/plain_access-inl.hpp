// The most frequent accesses to global memory, with the usual conditions tested inline: each lane
// of a whole warp loads or stores one word of the allocation that the instruction accessed last.
// All other accesses use the general handler. Included once per target.

#if defined(RUNG_VGPU_PLAIN_ACCESS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef RUNG_VGPU_PLAIN_ACCESS_INL_HPP
#undef RUNG_VGPU_PLAIN_ACCESS_INL_HPP
#else
#define RUNG_VGPU_PLAIN_ACCESS_INL_HPP
#endif

#include <hwy/highway.h>

#include "vgpu/engine/memory/access-inl.hpp"
#include "vgpu/engine/memory/copy_rows-inl.hpp"
#include "vgpu/engine/observers.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {

/// True if accesses by this warp need only be counted and ordered.
HWY_INLINE bool observes_plainly(const Worker& worker, const Warp& warp, const MemoryOp& op) {
  return !worker.watched && warp.early == 0 && !op.deferred;
}

/// The allocation that contains all lanes' words if it is the one accessed last; otherwise null.
template <AccessKind Kind>
HWY_INLINE const Allocation* same_allocation(const Worker& worker, const MemoryOp& op,
                                             const Shape& shape, std::uint32_t bytes) {
  const Allocation* const last = worker.last_allocation[op.cache];
  if (last == nullptr) return nullptr;
  const std::uint64_t low = shape.low + static_cast<std::uint64_t>(op.offset);
  const std::uint64_t end = shape.high + static_cast<std::uint64_t>(op.offset) + bytes;
  const bool inside = low >= last->address && end <= last->address + last->bytes && low <= end;
  const bool aligned = ((low | shape.low_bits) & (bytes - 1)) == 0;
  const bool allowed = Kind == AccessKind::load || !last->read_only;
  return inside && aligned && allowed ? last : nullptr;
}

/// Counts the access, and checks it if its allocation is tracked.
template <AccessKind Kind>
HWY_INLINE void observe_plainly(Warp& warp, const MemoryOp& op, Shape& shape,
                                const Allocation& allocation, std::uint32_t bytes) {
  Worker& worker = *warp.worker;
  Worker::Accesses& counts = worker.accesses[op.site];
  ++counts.requests;
  counts.units += static_cast<std::uint64_t>(shape.sectors(bytes, op.offset));
  if constexpr (Kind != AccessKind::load) warp.block->can_restart = false;
  const bool written = allocation.host || allocation.all_initialised;
  if (written && worker.touched == nullptr && !worker.launch.orders(allocation)) return;
  const Place place{ptx::Space::global, static_cast<std::uint64_t>(op.offset), 0,
                    allocation.to_data, &allocation};
  warp.block->observers.check_global(*warp.block, warp, op, shape, place, Kind);
}

/// Loads one word per lane, of the size of its row.
template <class Word, AtShape General>
void load_plainly(Warp& warp, const Instr& instr) {
  const auto& op = instr.op<MemoryOp>();
  Worker& worker = *warp.worker;
  Shape& shape = shape_of(worker, warp, op);
  const bool near = shape.mask == all_lanes && shape.narrow;
  const Allocation* const allocation =
      near ? same_allocation<AccessKind::load>(worker, op, shape, sizeof(Word)) : nullptr;
  if (allocation == nullptr || (worker.observe && !observes_plainly(worker, warp, op))) {
    General(warp, instr, shape);
    return;
  }
  if (worker.observe) {
    observe_plainly<AccessKind::load>(warp, op, shape, *allocation, sizeof(Word));
  }
  const std::byte* const from = allocation->data(shape.low + static_cast<std::uint64_t>(op.offset));
  Word* const row = warp.row<Word>(instr.row[0]);
  const auto rows = [&](int) { return row; };
  const RowCopy<Word, Word, decltype(rows)> copy(1, rows);
  if (shape.kind == Shape::Kind::linear && shape.stride == sizeof(Word)) {
    prefetch_next(from, shape, warp_size * sizeof(Word));
    copy.load_dense(reinterpret_cast<const Word*>(from));
  } else if (shape.kind == Shape::Kind::uniform) {
    const Word value = *reinterpret_cast<const Word*>(from);
    for (int lane = 0; lane < warp_size; ++lane) row[lane] = value;
  } else {
    if (shape.halves_linear) prefetch_next_halves(from, shape, warp_size / 2 * sizeof(Word));
    copy.load_scattered(from, shape);
  }
}

/// True if each half of the lanes has adjacent words, and the halves do not overlap.
template <class Word>
HWY_INLINE bool has_separate_halves(const Shape& shape) {
  constexpr int half = warp_size / 2;
  if (!shape.halves_linear || shape.half_stride != static_cast<std::int32_t>(sizeof(Word))) {
    return false;
  }
  const std::int64_t gap =
      std::int64_t{shape.narrow_distance[half]} - std::int64_t{shape.narrow_distance[0]};
  return (gap < 0 ? -gap : gap) >= static_cast<std::int64_t>(half * sizeof(Word));
}

/// Stores one word per lane, of the size of its row, at adjacent addresses.
template <class Word, AtShape General>
void store_plainly(Warp& warp, const Instr& instr) {
  const auto& op = instr.op<MemoryOp>();
  Worker& worker = *warp.worker;
  Shape& shape = shape_of(worker, warp, op);
  const bool dense = shape.kind == Shape::Kind::linear && shape.stride == sizeof(Word);
  const bool adjacent =
      shape.mask == all_lanes && shape.narrow && (dense || has_separate_halves<Word>(shape));
  const Allocation* const allocation =
      adjacent ? same_allocation<AccessKind::store>(worker, op, shape, sizeof(Word)) : nullptr;
  if (allocation == nullptr || (worker.observe && !observes_plainly(worker, warp, op))) {
    General(warp, instr, shape);
    return;
  }
  if (worker.observe) {
    observe_plainly<AccessKind::store>(warp, op, shape, *allocation, sizeof(Word));
  }
  Word* const row = warp.row<Word>(instr.row[0]);
  const auto rows = [&](int) { return row; };
  const RowCopy<Word, Word, decltype(rows)> copy(1, rows);
  std::byte* const to = allocation->data(shape.low + static_cast<std::uint64_t>(op.offset));
  prefetch_next_halves(to, shape, warp_size / 2 * sizeof(Word));
  dense ? copy.store_dense(reinterpret_cast<Word*>(to)) : copy.store_scattered(to, shape);
}

}  // namespace rung::vgpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
