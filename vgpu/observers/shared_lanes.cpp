#include "vgpu/observers/shared_lanes.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vgpu/observers/shared_lanes.cpp"
#include "vgpu/engine/lanes/targets.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// Computes the latest and the earliest of several stamps, adding `width` at a time.
template <std::size_t width>
class Range {
 public:
  HWY_INLINE Range() : latest_(hn::Zero(d)), earliest_(hn::Set(d, ~Stamp{0})) {}

  HWY_INLINE void add(const Stamp* stamps) {
    const auto found = hn::LoadU(d, stamps);
    latest_ = hn::Max(latest_, found);
    earliest_ = hn::Min(earliest_, found);
  }
  HWY_INLINE bool are_below(Stamp end) const {
    return hn::AllTrue(d, hn::Lt(latest_, hn::Set(d, end)));
  }
  HWY_INLINE bool are_above(Stamp begin) const {
    return hn::AllTrue(d, hn::Gt(earliest_, hn::Set(d, begin)));
  }

 private:
  static constexpr hn::CappedTag<Stamp, width> d{};
  hn::Vec<hn::CappedTag<Stamp, width>> latest_, earliest_;
};

template <>
class Range<1> {
 public:
  void add(const Stamp* stamp) {
    latest_ = std::max(latest_, *stamp);
    earliest_ = std::min(earliest_, *stamp);
  }
  bool are_below(Stamp end) const { return latest_ < end; }
  bool are_above(Stamp begin) const { return earliest_ > begin; }

 private:
  Stamp latest_ = 0, earliest_ = ~Stamp{0};
};

constexpr std::size_t width = hn::MaxLanes(hn::CappedTag<Stamp, 4>());  // stamps per vector

/// Calls f(index, granule) for each access, at every `step`-th granule.
template <std::size_t step, class F>
HWY_INLINE void for_each_place(const SharedPlaces& places, const F& f) {
  const std::size_t count = places.count, granules = places.granules;
  if (granules == step) {
    for (std::size_t i = 0; i < count; ++i) f(i, std::size_t{places.first[i]});
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t at = 0; at < granules; at += step) f(i, places.first[i] + at);
  }
}

bool are_plainly_ordered(const SharedShadow& shadow, Stamp safe, const SharedPlaces& places) {
  bool ordered = true;
  for_each_place<1>(places, [&](std::size_t i, std::size_t at) {
    const auto thread = static_cast<int>(places.thread[i]);
    ordered &= is_plainly_ordered(shadow.written[at], safe, thread) &&
               is_plainly_ordered(shadow.first_reader[at], safe, thread) &&
               is_plainly_ordered(shadow.other_reader[at], safe, thread);
  });
  return ordered;
}

template <std::size_t step>
HWY_NOINLINE bool write(SharedShadow& shadow, Stamp safe, const SharedPlaces& places,
                        std::uint32_t site) {
  Stamp* const written = shadow.written.data();
  Range<step> writes, reads;
  for_each_place<step>(places,
                       [&](std::size_t, std::size_t at) HWY_ATTR { writes.add(written + at); });
  if (shadow.has_readers) {
    for_each_place<step>(places, [&](std::size_t, std::size_t at) HWY_ATTR {
      reads.add(shadow.first_reader.data() + at);
      reads.add(shadow.other_reader.data() + at);
    });
  }
  const bool old = writes.are_below(safe) && reads.are_below(safe);
  if (!old && !are_plainly_ordered(shadow, safe, places)) return false;
  if (!writes.are_above(0)) {
    for_each_place<1>(places, [&](std::size_t, std::size_t at) {
      if (written[at] == 0) shadow.count_first_write(at);
    });
  }
  std::uint32_t* const sites = shadow.write_site.data();
  for_each_place<step>(places, [&](std::size_t i, std::size_t at) HWY_ATTR {
    const hn::CappedTag<Stamp, step> d;
    hn::StoreU(hn::Set(d, places.stamp[i]), d, written + at);
    hn::StoreU(hn::Set(d, site), d, sites + at);
  });
  return true;
}

template <std::size_t step>
HWY_NOINLINE bool are_before(const SharedShadow& shadow, Stamp safe, const SharedPlaces& places) {
  Range<step> writes;
  for_each_place<step>(places, [&](std::size_t, std::size_t at)
                                   HWY_ATTR { writes.add(shadow.written.data() + at); });
  return writes.are_below(safe) && writes.are_above(0);
}

bool write_lanes(SharedShadow& shadow, Stamp safe, const SharedPlaces& places, std::uint32_t site) {
  return places.granules % width == 0 ? write<width>(shadow, safe, places, site)
                                      : write<1>(shadow, safe, places, site);
}

bool check_lanes(const SharedShadow& shadow, Stamp safe, const SharedPlaces& places) {
  return places.granules % width == 0 ? are_before<width>(shadow, safe, places)
                                      : are_before<1>(shadow, safe, places);
}

}  // namespace
}  // namespace rung::vgpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rung::vgpu {

bool write_if_ordered(SharedShadow& shadow, Stamp safe, const SharedPlaces& places,
                      std::uint32_t site) {
  static const auto picked = RUNG_PICK_LANES(write_lanes);
  return picked(shadow, safe, places, site);
}

bool are_written_before(const SharedShadow& shadow, Stamp safe, const SharedPlaces& places) {
  static const auto picked = RUNG_PICK_LANES(check_lanes);
  return picked(shadow, safe, places);
}

}  // namespace rung::vgpu
#endif  // HWY_ONCE
