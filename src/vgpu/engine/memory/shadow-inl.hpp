// Race detection in shared memory: the loops over granules. Included once per target.

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

/// All 32 lanes read adjacent words: granules from `first` on, 2^LaneShift per lane.
template <int LaneShift>
inline void check_linear_read(Block& block, const Warp& warp, std::uint32_t site,
                              std::size_t first) {
  constexpr std::size_t count = std::size_t{warp_size} << LaneShift;
  const Stamp safe = block.order.safe_below(warp.index);
  const Stamp* written = block.shadow.written.data() + first;
  // A stamp of 0 (never written) wraps around to the largest.
  Stamp doubtful = 0;
  for (std::size_t i = 0; i < count; ++i) doubtful |= written[i] - 1 >= safe - 1 ? 1u : 0u;
  if (doubtful != 0) block.observers.check_reads(block, warp, site, first, LaneShift);
}

/// The same for a write, which is also recorded.
template <int LaneShift>
inline void write_linear(Block& block, const Warp& warp, std::uint32_t site, std::size_t first) {
  SharedShadow& shadow = block.shadow;
  constexpr std::size_t count = std::size_t{warp_size} << LaneShift;
  const Stamp safe = block.order.safe_below(warp.index);
  Stamp* written = shadow.written.data() + first;
  Stamp doubtful = 0;
  Stamp fresh = 0;
  for (std::size_t i = 0; i < count; ++i) {
    doubtful |= written[i] >= safe ? 1u : 0u;
    fresh |= written[i] == 0 ? 1u : 0u;
  }
  if (shadow.has_readers) {
    const Stamp* first_reader = shadow.first_reader.data() + first;
    const Stamp* other_reader = shadow.other_reader.data() + first;
    for (std::size_t i = 0; i < count; ++i) {
      doubtful |= (first_reader[i] >= safe ? 1u : 0u) | (other_reader[i] >= safe ? 1u : 0u);
    }
  }
  if (doubtful != 0) block.observers.check_writes(block, warp, site, first, LaneShift);
  if (fresh != 0) shadow.count_first_writes(first, count);

  const Stamp stamp = make_stamp(block.order.segment(warp.index), block.thread(warp, 0));
  std::uint32_t* sites = shadow.write_site.data() + first;
  RUNG_LANES for (std::size_t i = 0; i < count; ++i) {
    written[i] = stamp + static_cast<Stamp>(i >> LaneShift);
    sites[i] = site;
  }
}

/// Calls f<log2 of granules>(), so that loops over granules have a constant length.
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

/// Checks a read of any shape against writes. `offset` is added to the shape's addresses to get
/// offsets in shared memory.
inline void check_read(Block& block, const Warp& warp, std::uint32_t site, Shape& shape,
                       std::int64_t offset, std::uint32_t bytes) {
  if (shape.kind == Shape::Kind::linear && shape.stride == static_cast<std::int64_t>(bytes)) {
    const int shift = block.shadow.granule_shift;
    const std::size_t first = (shape.low + static_cast<std::uint64_t>(offset)) >> shift;
    with_lane_shift(bytes >> shift, [&]<int LaneShift>() {
      check_linear_read<LaneShift>(block, warp, site, first);
    });
  } else {
    block.observers.check_read_shared(block, warp, site, shape, offset, bytes);
  }
}

}  // namespace rung::vgpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
