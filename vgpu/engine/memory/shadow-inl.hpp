// Loops over granules for race detection in shared memory. Included once per target.

#if defined(RUNG_VGPU_SHADOW_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef RUNG_VGPU_SHADOW_INL_HPP
#undef RUNG_VGPU_SHADOW_INL_HPP
#else
#define RUNG_VGPU_SHADOW_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "vgpu/engine/execution/block.hpp"
#include "vgpu/engine/observers.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Computes the latest and the earliest of several stamps.
class StampRange {
 public:
  HWY_INLINE StampRange() : latest_(hn::Zero(d)), earliest_(hn::Set(d, ~Stamp{0})) {}

  template <std::size_t count>
  HWY_INLINE void add(const Stamp* stamps) {
    for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
      const auto found = hn::LoadU(d, stamps + i);
      latest_ = hn::Max(latest_, found);
      earliest_ = hn::Min(earliest_, found);
    }
  }
  HWY_INLINE bool are_below(Stamp end) const {
    return hn::AllTrue(d, hn::Lt(latest_, hn::Set(d, end)));
  }
  HWY_INLINE bool has_zero() const { return !hn::AllTrue(d, hn::Ne(earliest_, hn::Zero(d))); }

  static constexpr hn::CappedTag<Stamp, warp_size> d{};

 private:
  hn::Vec<hn::CappedTag<Stamp, warp_size>> latest_, earliest_;
};

/// Checks a read of adjacent words by all 32 lanes: 2^LaneShift granules per lane, starting at
/// `first`.
template <int LaneShift>
HWY_INLINE void check_linear_read(Block& block, const Warp& warp, std::uint32_t site,
                                  std::size_t first) {
  StampRange writes;
  writes.add<std::size_t{warp_size} << LaneShift>(block.shadow.written.data() + first);
  if (writes.are_below(block.order.safe_below(warp.index)) && !writes.has_zero()) return;
  block.observers.check_reads(block, warp, site, first, LaneShift);
}

/// Checks and records a write of adjacent words by all 32 lanes.
template <int LaneShift>
HWY_INLINE void write_linear(Block& block, const Warp& warp, std::uint32_t site,
                             std::size_t first) {
  SharedShadow& shadow = block.shadow;
  constexpr std::size_t count = std::size_t{warp_size} << LaneShift;
  const Stamp safe = block.order.safe_below(warp.index);
  Stamp* const written = shadow.written.data() + first;
  StampRange writes;
  writes.add<count>(written);
  bool in_order = writes.are_below(safe);
  if (shadow.has_readers) {
    StampRange reads;
    reads.add<count>(shadow.first_reader.data() + first);
    reads.add<count>(shadow.other_reader.data() + first);
    in_order = in_order && reads.are_below(safe);
  }
  if (!in_order) block.observers.check_writes(block, warp, site, first, LaneShift);
  if (writes.has_zero()) shadow.count_first_writes(first, count);

  const auto d = StampRange::d;
  const Stamp stamp = make_stamp(block.order.segment(warp.index), block.thread(warp, 0));
  std::uint32_t* const sites = shadow.write_site.data() + first;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const auto lane = hn::ShiftRight<LaneShift>(hn::Iota(d, static_cast<Stamp>(i)));
    hn::StoreU(hn::Add(hn::Set(d, stamp), lane), d, written + i);
    hn::StoreU(hn::Set(d, site), d, sites + i);
  }
}

/// Calls f<log2(granules)>(), so that loops over granules have a constant length.
template <class F>
inline void with_lane_shift(std::uint32_t granules, const F& f) {
  switch (granules) {
    case 1: f.template operator()<0>(); break;
    case 2: f.template operator()<1>(); break;
    case 4: f.template operator()<2>(); break;
    case 8: f.template operator()<3>(); break;
    default: f.template operator()<4>(); break;
  }
}

/// Checks a read of any shape against earlier writes. `offset` is added to the shape's addresses to
/// get offsets in shared memory.
inline void check_read(Block& block, const Warp& warp, std::uint32_t site, Shape& shape,
                       std::int64_t offset, std::uint32_t bytes) {
  if (shape.kind == Shape::Kind::linear && shape.stride == static_cast<std::int64_t>(bytes)) {
    const int shift = block.shadow.granule_shift;
    const std::size_t first = (shape.low + static_cast<std::uint64_t>(offset)) >> shift;
    with_lane_shift(bytes >> shift, [&]<int LaneShift>() HWY_ATTR {
      check_linear_read<LaneShift>(block, warp, site, first);
    });
  } else {
    block.observers.check_read_shared(block, warp, site, shape, offset, bytes);
  }
}

}  // namespace rung::vgpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
