// The handlers of loads and stores, compiled for each instruction set.

#include "vgpu/engine/memory/access.hpp"

#include <algorithm>
#include <array>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vgpu/engine/memory/access.cpp"
#include "vgpu/engine/lanes/targets.hpp"

#include "vgpu/engine/memory/access-inl.hpp"
#include "vgpu/engine/memory/move_lanes-inl.hpp"
#include "vgpu/engine/memory/plain_access-inl.hpp"
#include "vgpu/engine/memory/shared_access-inl.hpp"
#include "vgpu/engine/observers.hpp"
#include "vgpu/memory/launch_accesses.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {
namespace {

/// Number of sectors of local memory accessed. One word of 32 lanes fills a line of 128 bytes, so
/// eight lanes share a sector if they access the same word.
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

/// Counts accesses to local memory and parameters, and their sectors if accesses are watched.
/// Generic addresses are not counted: the site's own counters are for global memory.
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

/// Records loads from constant memory for the order of the launch with copies to it.
void note_constant(Block& block, const MemoryOp& op, Shape& shape, const Place& place) {
  LaunchAccesses* const touched = block.worker.touched;
  if (touched == nullptr || !touched->includes(*place.allocation)) return;
  TouchedBytes& bytes = touched->of(*place.allocation, false);
  for (Mask left = shape.mask; left != 0; left &= left - 1) {
    const int lane = first_lane(left);
    const std::uint64_t at = place.address(shape.address(lane), lane);
    bytes.add(at - place.allocation->address, op.access_bytes(), Touch::read);
  }
}

template <AccessKind Kind>
void observe(Block& block, Warp& warp, const MemoryOp& op, Shape& shape, const Place& place) {
  switch (place.space) {
    case ptx::Space::shared: observe_shared<Kind>(block, warp, op, shape); break;
    case ptx::Space::global:
      block.observers.observe_global(block, warp, op, shape, place, Kind);
      break;
    case ptx::Space::generic: break;  // observed by the other block
    case ptx::Space::constant: note_constant(block, op, shape, place); [[fallthrough]];
    default: count_local<Kind>(block.worker, op, shape, place.space);
  }
}

template <class Mem, class Dst>
struct Load {
  static constexpr AccessKind kind = AccessKind::load;

  static HWY_INLINE void lanes(Block&, Warp& warp, const Instr& instr, Shape& shape,
                               const Place& place) {
    load_lanes<Mem, Dst>(warp, instr, shape, place);
  }
  static void lane(Block&, Warp& warp, const Instr& instr, Shape& shape, const Place& place) {
    warp.worker->polls += instr.op<MemoryOp>().relaxed;
    load_one_by_one<Mem, Dst>(warp, instr, shape, place);
  }
  /// Sets lanes that load from an invalid address to 0, instead of leaving old values.
  static void clear(Warp& warp, const Instr& instr) {
    for (int e = 0; e < instr.op<MemoryOp>().count; ++e) {
      Dst* const row = warp.row<Dst>(instr.rows[e]);
      for (Mask left = warp.mask; left != 0; left &= left - 1) row[first_lane(left)] = 0;
    }
  }
};

template <class Mem, class Src>
struct Store {
  static constexpr AccessKind kind = AccessKind::store;

  static HWY_INLINE void lanes(Block& block, Warp& warp, const Instr& instr, Shape& shape,
                               const Place& place) {
    store_lanes<Mem, Src>(block, warp, instr, shape, place);
  }
  static void lane(Block&, Warp& warp, const Instr& instr, Shape& shape, const Place& place) {
    store_one_by_one<Mem, Src>(warp, instr, shape, place);
  }
  static void clear(Warp&, const Instr&) {}
};

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

/// `Access` is Load or Store.
template <class Access>
HWY_INLINE void access_inline(Warp& warp, const Instr& instr, Shape& shape) {
  const auto& op = instr.op<MemoryOp>();
  Block& block = *warp.block;
  Place place;
  if (locate_shared(block, op, shape, place) ||
      locate_again(block, op, shape, Access::kind, place) ||
      locate(block, warp, op, shape, Access::kind, place)) {
    access_and_observe<Access::kind, Access::lanes>(block, warp, instr, shape, place);
  } else {
    Access::clear(warp, instr);
    access_good_lanes(block, warp, instr, op, shape, Access::kind,
                      access_and_observe<Access::kind, Access::lane>);
  }
}

/// access_inline() as a function, for handlers of frequent accesses that have computed the shape.
template <class Access>
void access_at(Warp& warp, const Instr& instr, Shape& shape) {
  access_inline<Access>(warp, instr, shape);
}

template <class Access>
void access(Warp& warp, const Instr& instr) {
  Shape& shape = shape_of(*warp.worker, warp, instr.op<MemoryOp>());
  access_inline<Access>(warp, instr, shape);
}

template <class Mem, class Dst>
constexpr AtShape load_at = access_at<Load<Mem, Dst>>;
template <class Mem, class Dst>
constexpr Handler load = access<Load<Mem, Dst>>;

template <class Mem, class Src>
constexpr AtShape store_at = access_at<Store<Mem, Src>>;
template <class Mem, class Src>
constexpr Handler store = access<Store<Mem, Src>>;

Handler by_row(int row_bytes, Handler narrow, Handler word, Handler wide) {
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

/// Elements as wide as the row are copied without conversion, whether signed or not.
template <class Mem, class Lane>
using Copied = std::conditional_t<sizeof(Mem) == sizeof(Lane), std::make_unsigned_t<Mem>, Mem>;

template <class Mem, class Lane>
constexpr Handler load_into() {
  if constexpr (sizeof(Mem) > sizeof(Lane))
    return nullptr;
  else
    return load<Copied<Mem, Lane>, Lane>;
}
template <class Mem>
Handler loads(int row_bytes) {
  return by_row(row_bytes, load_into<Mem, std::uint16_t>(), load_into<Mem, std::uint32_t>(),
                load_into<Mem, std::uint64_t>());
}

template <class Mem, class Lane>
constexpr Handler store_from() {
  if constexpr (sizeof(Mem) > sizeof(Lane))
    return nullptr;
  else
    return store<Mem, Lane>;
}
template <class Mem>
Handler stores(int row_bytes) {
  return by_row(row_bytes, store_from<Mem, std::uint16_t>(), store_from<Mem, std::uint32_t>(),
                store_from<Mem, std::uint64_t>());
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

/// Handlers for non-volatile loads of one element with the type of its row.
Handler find_shared_load(ptx::Type element, int row_bytes) {
  switch (ptx::size_of(element)) {
    case 2: return shared_loads<std::uint16_t>(row_bytes);
    case 4: return shared_loads<std::uint32_t>(row_bytes);
    case 8: return shared_loads<std::uint64_t>(row_bytes);
    default: return nullptr;
  }
}

/// Handlers for non-volatile accesses to global memory, of one word with the size of its row.
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
