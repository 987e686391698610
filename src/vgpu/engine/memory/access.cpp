// The handlers of loads and stores, compiled for each instruction set.

#include "vgpu/engine/memory/access.hpp"

#include <algorithm>
#include <array>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vgpu/engine/memory/access.cpp"
#include "vgpu/engine/lanes/targets.hpp"

#include "vgpu/engine/execution/report.hpp"
#include "vgpu/engine/memory/access-inl.hpp"
#include "vgpu/engine/memory/copy_rows-inl.hpp"
#include "vgpu/engine/memory/plain_access-inl.hpp"
#include "vgpu/engine/memory/shared_access-inl.hpp"
#include "vgpu/engine/observers.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {
namespace {

// Blocks run on several CPU threads. A program orders strong accesses (volatile, relaxed and
// stronger) with others by fences; here the access itself has that order.
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

/// Whether the lanes' elements are contiguous.
bool is_dense(const MemoryOp& op, const Shape& shape, const Place& place) {
  return shape.kind == Shape::Kind::linear && place.lane_stride == 0 && !op.relaxed &&
         shape.stride == static_cast<std::int64_t>(op.access_bytes());
}

/// Whether all lanes access elements at the shape's narrow distances.
bool is_near(const MemoryOp& op, const Shape& shape) {
  return shape.mask == all_lanes && shape.narrow && !op.relaxed;
}

/// Whether so many lanes are active that it is faster to load for all 32. The shape has distances for
/// the others, too: those of the first active lane.
bool has_many_lanes(const MemoryOp& op, const Shape& shape) {
  constexpr int many = 6;
  return shape.narrow && !op.relaxed && lanes_in(shape.mask) >= many;
}

/// The lanes' elements, of which only those of active lanes change their rows.
template <class Mem, class Dst>
HWY_INLINE void load_some_lanes(const std::byte* from, const Shape& shape, const Place& place,
                                int count, Warp& warp, const std::uint32_t* rows) {
  namespace hn = hwy::HWY_NAMESPACE;
  constexpr int most_elements = 8;
  alignas(64) Dst loaded[most_elements][warp_size];
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
HWY_INLINE void load_lanes(Block&, Warp& warp, const Instr& instr, Shape& shape,
                           const Place& place) {
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
    for (Mask left = shape.mask; left != 0; left &= left - 1) {
      const int lane = first_lane(left);
      const Mem* from = reinterpret_cast<const Mem*>(place.at(shape.address(lane), lane));
      for (int e = 0; e < count; ++e) {
        warp.row<Dst>(instr.rows[e])[lane] = static_cast<Dst>(load_element(from + e, op));
      }
    }
  }
}

/// Reports lanes that store different values to one address: which one wins is unspecified.
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

/// Whether no two lanes access the same byte.
bool has_distinct_bytes(const MemoryOp& op, Shape& shape, const Place& place) {
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

/// Sectors of local memory: a word of 32 lanes is a line of 128 bytes, so that eight lanes share a
/// sector where they access the same word of theirs.
std::uint64_t local_sectors(Shape& shape, std::int64_t offset, std::uint32_t bytes) {
  constexpr std::uint64_t word = 4;
  constexpr int lanes_of_sector = 8;
  std::array<std::uint64_t, 32> sectors;
  std::size_t count = 0;
  for (Mask left = shape.mask; left != 0; left &= left - 1) {
    const int lane = first_lane(left);
    const std::uint64_t first = (shape.address(lane) + static_cast<std::uint64_t>(offset)) / word;
    sectors[count++] = first * 4 + static_cast<std::uint64_t>(lane / lanes_of_sector);
  }
  const auto end = sectors.begin() + static_cast<std::ptrdiff_t>(count);
  std::sort(sectors.begin(), end);
  const auto distinct = std::unique(sectors.begin(), end) - sectors.begin();
  return static_cast<std::uint64_t>(distinct) * std::max<std::uint64_t>(1, bytes / word);
}

/// Counts accesses to local memory and parameters, and their sectors if someone watches accesses.
/// With a generic address, the site's own counters are for global memory.
template <AccessKind Kind>
void count_local(Worker& worker, const MemoryOp& op, Shape& shape, ptx::Space space) {
  if (op.space != ptx::Space::generic) {
    ++worker.accesses[op.site].requests;
    if (worker.watched && space == ptx::Space::local) {
      worker.accesses[op.site].units += local_sectors(shape, op.offset, op.access_bytes());
    }
  } else if (Kind == AccessKind::load) {
    ++worker.apart.local_load_requests;
  } else {
    ++worker.apart.local_store_requests;
  }
}

template <AccessKind Kind>
void observe(Block& block, Warp& warp, const MemoryOp& op, Shape& shape, const Place& place) {
  switch (place.space) {
    case ptx::Space::shared: observe_shared<Kind>(block, warp, op, shape); break;
    case ptx::Space::global:
      block.observers.observe_global(block, warp, op, shape, place, Kind);
      break;
    case ptx::Space::generic: break;  // observed in the other block
    default: count_local<Kind>(block.worker, op, shape, place.space);
  }
}

template <AccessKind Kind, AccessLanes Lanes>
HWY_INLINE void access_and_observe(Block& block, Warp& warp, const Instr& instr, Shape& shape,
                                   const Place& place) {
  const auto& op = instr.op<MemoryOp>();
  if (block.worker.observe) observe<Kind>(block, warp, op, shape, place);
  const bool orders = op.relaxed && place.space == ptx::Space::global;
  if (Kind == AccessKind::store && orders) block.observers.release_by(warp, op, shape, place);
  Lanes(block, warp, instr, shape, place);
  if (Kind == AccessKind::load && orders) block.observers.acquire_by(warp, op, shape, place);
}

/// Lanes that load from a wrong address get 0, in place of whatever their row has.
template <class Dst>
void clear_lanes(Warp& warp, const Instr& instr) {
  for (int e = 0; e < instr.op<MemoryOp>().count; ++e) {
    Dst* const row = warp.row<Dst>(instr.rows[e]);
    for (Mask left = warp.mask; left != 0; left &= left - 1) row[first_lane(left)] = 0;
  }
}

template <AccessKind Kind, AccessLanes Lanes, Handler Clear>
HWY_INLINE void access_inline(Warp& warp, const Instr& instr, Shape& shape) {
  const auto& op = instr.op<MemoryOp>();
  Block& block = *warp.block;
  Place place;
  if (locate_shared(block, op, shape, place) || locate_again(block, op, shape, Kind, place) ||
      locate(block, warp, op, shape, Kind, place)) {
    access_and_observe<Kind, Lanes>(block, warp, instr, shape, place);
  } else {
    if constexpr (Clear != nullptr) Clear(warp, instr);
    access_good_lanes(block, warp, instr, op, shape, Kind, access_and_observe<Kind, Lanes>);
  }
}

/// The same as a function: for handlers of frequent accesses, which have determined the shape.
template <AccessKind Kind, AccessLanes Lanes, Handler Clear>
void access_at(Warp& warp, const Instr& instr, Shape& shape) {
  access_inline<Kind, Lanes, Clear>(warp, instr, shape);
}

template <AccessKind Kind, AccessLanes Lanes, Handler Clear>
void access(Warp& warp, const Instr& instr) {
  Shape& shape = shape_of(*warp.worker, warp, instr.op<MemoryOp>());
  access_inline<Kind, Lanes, Clear>(warp, instr, shape);
}

template <class Mem, class Dst>
constexpr AtShape load_at = access_at<AccessKind::load, load_lanes<Mem, Dst>, clear_lanes<Dst>>;
template <class Mem, class Dst>
constexpr Handler load = access<AccessKind::load, load_lanes<Mem, Dst>, clear_lanes<Dst>>;

template <class Mem, class Src>
constexpr AtShape store_at = access_at<AccessKind::store, store_lanes<Mem, Src>, nullptr>;
template <class Mem, class Src>
constexpr Handler store = access<AccessKind::store, store_lanes<Mem, Src>, nullptr>;

template <class U16, class U32, class U64>
Handler by_row(int row_bytes, U16 narrow, U32 word, U64 wide) {
  switch (row_bytes) {
    case 2: return narrow;
    case 4: return word;
    case 8: return wide;
    default: return nullptr;
  }
}

template <class Mem>
Handler shared_loads(int row_bytes) {
  using std::uint16_t, std::uint32_t, std::uint64_t;
  if (row_bytes != sizeof(Mem)) return nullptr;
  if constexpr (sizeof(Mem) == 2) return load_shared<uint16_t, load_at<Mem, uint16_t>>;
  if constexpr (sizeof(Mem) == 4) return load_shared<uint32_t, load_at<Mem, uint32_t>>;
  if constexpr (sizeof(Mem) == 8) return load_shared<uint64_t, load_at<Mem, uint64_t>>;
  return nullptr;
}

template <class Mem>
Handler loads(int row_bytes) {
  const Handler none = nullptr;
  using std::uint16_t, std::uint32_t, std::uint64_t;
  if constexpr (sizeof(Mem) <= 2) {
    return by_row(row_bytes, load<Mem, uint16_t>, load<Mem, uint32_t>, load<Mem, uint64_t>);
  } else if constexpr (sizeof(Mem) == 4) {
    return by_row(row_bytes, none, load<Mem, uint32_t>, load<Mem, uint64_t>);
  } else {
    return by_row(row_bytes, none, none, load<Mem, uint64_t>);
  }
}

template <class Mem>
Handler stores(int row_bytes) {
  const Handler none = nullptr;
  using std::uint16_t, std::uint32_t, std::uint64_t;
  if constexpr (sizeof(Mem) <= 2) {
    return by_row(row_bytes, store<Mem, uint16_t>, store<Mem, uint32_t>, store<Mem, uint64_t>);
  } else if constexpr (sizeof(Mem) == 4) {
    return by_row(row_bytes, none, store<Mem, uint32_t>, store<Mem, uint64_t>);
  } else {
    return by_row(row_bytes, none, none, store<Mem, uint64_t>);
  }
}

Handler find_load(ptx::Type element, int row_bytes) {
  const bool is_signed = ptx::is_signed(element);
  switch (ptx::size_of(element)) {
    case 1: return is_signed ? loads<std::int8_t>(row_bytes) : loads<std::uint8_t>(row_bytes);
    case 2: return is_signed ? loads<std::int16_t>(row_bytes) : loads<std::uint16_t>(row_bytes);
    case 4: return is_signed ? loads<std::int32_t>(row_bytes) : loads<std::uint32_t>(row_bytes);
    case 8: return loads<std::uint64_t>(row_bytes);
    default: return nullptr;
  }
}

/// For non-volatile loads of one element that has the type of its row.
Handler find_shared_load(ptx::Type element, int row_bytes) {
  switch (ptx::size_of(element)) {
    case 2: return shared_loads<std::uint16_t>(row_bytes);
    case 4: return shared_loads<std::uint32_t>(row_bytes);
    case 8: return shared_loads<std::uint64_t>(row_bytes);
    default: return nullptr;
  }
}

/// For non-volatile accesses to global memory, of one word that has the size of its row.
Handler find_plain_load(ptx::Type element, int row_bytes) {
  using std::uint32_t, std::uint64_t;
  if (ptx::size_of(element) != row_bytes) return nullptr;
  return by_row(row_bytes, nullptr, load_plainly<uint32_t, load_at<uint32_t, uint32_t>>,
                load_plainly<uint64_t, load_at<uint64_t, uint64_t>>);
}
Handler find_shared_store(ptx::Type element, int row_bytes) {
  using std::uint32_t, std::uint64_t;
  if (ptx::size_of(element) != row_bytes) return nullptr;
  return by_row(row_bytes, nullptr, store_shared<uint32_t, store_at<uint32_t, uint32_t>>,
                store_shared<uint64_t, store_at<uint64_t, uint64_t>>);
}
Handler find_plain_store(ptx::Type element, int row_bytes) {
  using std::uint32_t, std::uint64_t;
  if (ptx::size_of(element) != row_bytes) return nullptr;
  return by_row(row_bytes, nullptr, store_plainly<uint32_t, store_at<uint32_t, uint32_t>>,
                store_plainly<uint64_t, store_at<uint64_t, uint64_t>>);
}

Handler find_store(ptx::Type element, int row_bytes) {
  switch (ptx::size_of(element)) {
    case 1: return stores<std::uint8_t>(row_bytes);
    case 2: return stores<std::uint16_t>(row_bytes);
    case 4: return stores<std::uint32_t>(row_bytes);
    case 8: return stores<std::uint64_t>(row_bytes);
    default: return nullptr;
  }
}

}  // namespace
}  // namespace rung::vgpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rung::vgpu {

namespace {

bool is_plain(const MemoryOp& op, ptx::Space space) {
  return op.space == space && op.count == 1 && !op.relaxed;
}

}  // namespace

Handler load_handler(const MemoryOp& op, ptx::Type element, int row_bytes) {
  static const auto find = RUNG_PICK_LANES(find_load);
  static const auto find_shared = RUNG_PICK_LANES(find_shared_load);
  static const auto find_plain = RUNG_PICK_LANES(find_plain_load);
  Handler special = nullptr;
  if (is_plain(op, ptx::Space::shared)) special = find_shared(element, row_bytes);
  if (is_plain(op, ptx::Space::global)) special = find_plain(element, row_bytes);
  return special != nullptr ? special : find(element, row_bytes);
}

Handler store_handler(const MemoryOp& op, ptx::Type element, int row_bytes) {
  static const auto find = RUNG_PICK_LANES(find_store);
  static const auto find_shared = RUNG_PICK_LANES(find_shared_store);
  static const auto find_plain = RUNG_PICK_LANES(find_plain_store);
  Handler special = nullptr;
  if (is_plain(op, ptx::Space::shared)) special = find_shared(element, row_bytes);
  if (is_plain(op, ptx::Space::global)) special = find_plain(element, row_bytes);
  return special != nullptr ? special : find(element, row_bytes);
}

MakeShape make_shape() {
  static const MakeShape picked = RUNG_PICK_LANES(make_shape);
  return picked;
}

}  // namespace rung::vgpu
#endif
