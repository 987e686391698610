// The most frequent accesses to shared memory: all lanes load the same element, or adjacent
// elements, of an array of known size, or store adjacent ones. All other accesses use the general
// handler. Included once per target.

#if defined(RUNG_VGPU_SHARED_ACCESS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef RUNG_VGPU_SHARED_ACCESS_INL_HPP
#undef RUNG_VGPU_SHARED_ACCESS_INL_HPP
#else
#define RUNG_VGPU_SHARED_ACCESS_INL_HPP
#endif

#include <hwy/highway.h>

#include "vgpu/engine/memory/access-inl.hpp"
#include "vgpu/engine/memory/copy_rows-inl.hpp"
#include "vgpu/engine/memory/shadow-inl.hpp"
#include "vgpu/engine/observers.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {

/// Counts, checks and records an access to shared memory of any shape.
template <AccessKind Kind>
HWY_INLINE void observe_shared(Block& block, Warp& warp, const MemoryOp& op, Shape& shape) {
  block.observers.count_shared(block, op, shape, Kind);
  const std::uint64_t window = op.space == ptx::Space::generic ? shared_window : 0;
  const std::int64_t offset = op.offset - static_cast<std::int64_t>(window);
  const std::uint32_t bytes = op.access_bytes();
  if (block.worker.watched) {
    block.observers.tell_access(block, warp, op.site, shape, offset, bytes, Kind, true);
  }
  SharedShadow& shadow = block.shadow;
  const std::uint64_t low = shape.low + static_cast<std::uint64_t>(offset);
  const std::uint64_t last = shape.high + static_cast<std::uint64_t>(offset) + bytes - 1;
  const Regions regions = shadow.regions(low, last);
  if constexpr (Kind == AccessKind::load) {
    if (op.deferred) return;
    if ((regions & shadow.suspect()) != 0) check_read(block, warp, op.site, shape, offset, bytes);
    block.observers.log_read(block, warp, op.site, shape, offset, bytes);
    shadow.log.regions |= regions;
  } else {
    if ((shadow.log.regions & regions) != 0) {
      block.observers.settle_reads_before(block, warp, shape, offset, bytes);
    }
    shadow.written_since_barrier |= regions;
    const bool linear =
        shape.kind == Shape::Kind::linear && shape.stride == static_cast<std::int64_t>(bytes);
    const std::size_t first = low >> shadow.granule_shift;
    const std::uint32_t granules = bytes >> shadow.granule_shift;
    if (linear) {
      with_lane_shift(granules, [&]<int LaneShift>() HWY_ATTR {
        write_linear<LaneShift>(block, warp, op.site, first);
      });
    } else {
      block.observers.write_shared(block, warp, op.site, shape, offset, bytes);
    }
  }
}

/// Loads one element per lane, of the size of its row.
template <class Word, AtShape General>
void load_shared(Warp& warp, const Instr& instr) {
  const auto& op = instr.op<MemoryOp>();
  Worker& worker = *warp.worker;
  Shape& shape = shape_of(worker, warp, op);
  Place place;
  const bool dense = shape.stride == static_cast<std::int64_t>(sizeof(Word));
  if (!(shape.kind == Shape::Kind::uniform || (shape.kind == Shape::Kind::linear && dense)) ||
      !locate_shared(*warp.block, op, shape, place)) {
    General(warp, instr, shape);
    return;
  }
  if (worker.observe) observe_shared<AccessKind::load>(*warp.block, warp, op, shape);
  const Word* from = reinterpret_cast<const Word*>(place.at(shape.low, 0));
  Word* row = warp.row<Word>(instr.row[0]);
  if (dense) {
    const auto rows = [&](int) { return row; };
    RowCopy<Word, Word, decltype(rows)>(1, rows).load_dense(from);
  } else {
    const auto value = *from;
    for (int lane = 0; lane < warp_size; ++lane) row[lane] = value;
  }
}

/// Stores one element per lane at adjacent addresses.
template <class Word, AtShape General>
void store_shared(Warp& warp, const Instr& instr) {
  const auto& op = instr.op<MemoryOp>();
  Worker& worker = *warp.worker;
  Shape& shape = shape_of(worker, warp, op);
  Place place;
  if (shape.kind != Shape::Kind::linear || shape.stride != sizeof(Word) ||
      !locate_shared(*warp.block, op, shape, place)) {
    General(warp, instr, shape);
    return;
  }
  if (worker.observe) observe_shared<AccessKind::store>(*warp.block, warp, op, shape);
  Word* const row = warp.row<Word>(instr.row[0]);
  const auto rows = [&](int) { return row; };
  RowCopy<Word, Word, decltype(rows)>(1, rows).store_dense(
      reinterpret_cast<Word*>(place.at(shape.low, 0)));
}

}  // namespace rung::vgpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
