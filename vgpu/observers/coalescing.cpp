#include "vgpu/observers/coalescing.hpp"

#include <algorithm>

#include "vgpu/engine/execution/report.hpp"
#include "vgpu/memory/launch_accesses.hpp"
#include "vgpu/memory/written_bytes.hpp"
#include "vgpu/observers/access_watch.hpp"
#include "vgpu/observers/early_access.hpp"
#include "vgpu/observers/global_access.hpp"
#include "vgpu/observers/global_races.hpp"

namespace rung::vgpu {
namespace {

/// Calls f(address, bytes, lane) for each lane's access, or once for all lanes if they are
/// contiguous.
template <class F>
void for_each_range(Shape& shape, const MemoryOp& op, const Place& place, const F& f) {
  const std::uint32_t bytes = op.access_bytes();
  const std::int64_t distance = shape.stride < 0 ? -shape.stride : shape.stride;
  if (shape.kind == Shape::Kind::uniform) {
    f(place.address(shape.low, 0), bytes, 0);
  } else if (shape.kind == Shape::Kind::linear && distance == static_cast<std::int64_t>(bytes)) {
    f(place.address(shape.low, 0), bytes * warp_size, 0);
  } else {
    for (Mask left = shape.mask; left != 0; left &= left - 1) {
      const int lane = first_lane(left);
      f(place.address(shape.address(lane), lane), bytes, lane);
    }
  }
}

/// Called if some of a lane's bytes at this address were never written. True if reading them is an
/// error: for elements that are only copied, such as a structure's padding, only if none of their
/// bytes were written.
bool is_error(const Block& block, const MemoryOp& op, const Allocation& allocation,
              std::uint64_t at) {
  const auto& all_copied = block.worker.kernel.copied;
  const auto copied = all_copied.find(op.site);
  if (copied == all_copied.end()) return true;
  if (copied->second.used.empty()) return false;
  const std::uint32_t bytes = copied->second.element_bytes;
  bool any_written = false;
  for (std::size_t i = 0; i < copied->second.used.size(); ++i, at += bytes) {
    const bool whole = find_unwritten(allocation, at, bytes) == bytes;
    if (!whole && copied->second.used[i]) return true;
    any_written = any_written || whole || has_written(allocation, at, bytes);
  }
  return !any_written;
}

/// True if all bytes of the lanes were written, for lanes that read whole words of the shadow at
/// separate addresses. Examines all of them before it decides.
bool are_words_written(const Shape& shape, const MemoryOp& op, const Place& place) {
  constexpr std::uint32_t word = sizeof(ShadowWord::all);
  const std::uint32_t bytes = op.access_bytes();
  if (shape.kind != Shape::Kind::scattered || shape.mask != all_lanes || bytes % word != 0 ||
      reinterpret_cast<std::uintptr_t>(
          place.allocation->shadow(place.address(shape.address(0), 0))) %
              word !=
          0) {
    return false;
  }
  bool lines = true;
  for (int lane = 0; lane < warp_size; ++lane) {
    // An aligned access is within one line.
    lines = lines && is_line_written(*place.allocation, place.address(shape.address(lane), lane));
  }
  if (lines) return true;
  std::uint64_t written = ShadowWord::all;
  for (int lane = 0; lane < warp_size; ++lane) {
    std::uint8_t* const shadow = place.allocation->shadow(place.address(shape.address(lane), lane));
    for (std::uint32_t at = 0; at < bytes; at += word) {
      written &= ShadowWord::at(shadow + at).load(std::memory_order_relaxed);
    }
  }
  return written == ShadowWord::all;
}

void check_initialised(Block& block, Warp& warp, const MemoryOp& op, Shape& shape,
                       const Place& place) {
  if (are_words_written(shape, op, place)) return;
  const std::uint32_t one = op.access_bytes();
  for_each_range(shape, op, place, [&](std::uint64_t at, std::uint32_t bytes, int lane) {
    // A contiguous access is one range for all lanes; the offset identifies the lane.
    for (std::uint32_t begin = 0; begin < bytes; begin += one) {
      begin +=
          static_cast<std::uint32_t>(find_unwritten(*place.allocation, at + begin, bytes - begin)) /
          one * one;
      if (begin >= bytes) return;
      if (!is_error(block, op, *place.allocation, at + begin)) continue;
      const std::size_t byte = begin + find_unwritten(*place.allocation, at + begin, one);
      const int who = bytes > one ? static_cast<int>(begin / one) : lane;
      report(block, HazardKind::uninitialised_read, block.thread(warp, who), op.site, "read", [&] {
        const auto copied = block.worker.kernel.copied.find(op.site);
        const bool is_used = copied == block.worker.kernel.copied.end() ||
                             copied->second.used.empty() ||
                             std::any_of(copied->second.used.begin(), copied->second.used.end(),
                                         [](bool used) { return used; });
        return Description{
            block.worker.launch.memory.describe(at + byte),
            is_used ? "nothing has been written there"
                    : "nothing has been written there; the value is only copied or not used"};
      });
      return;
    }
  });
}

void check_early(Warp& warp, const MemoryOp& op, Shape& shape, const Place& place,
                 AccessKind kind) {
  const Mask early = early_lanes(warp, shape.mask);
  if (early == 0 || place.allocation->read_only) return;
  const int lane = first_lane(early);
  report_early_access(warp, lane, op.site, name(kind), place.address(shape.address(lane), lane));
}

Touch touch_of(AccessKind kind, bool synchronized) {
  if (kind == AccessKind::load) return synchronized ? Touch::synchronized_read : Touch::read;
  return synchronized || kind == AccessKind::atomic ? Touch::synchronized_write : Touch::write;
}

/// Records the bytes for the order of the launch with the program's other operations.
void note_touched(Block& block, Warp& warp, const MemoryOp& op, Shape& shape, const Place& place,
                  AccessKind kind) {
  LaunchAccesses& accesses = *block.worker.touched;
  const Allocation& allocation = *place.allocation;
  if (!accesses.includes(allocation)) return;
  // A load of data that must not change while the kernel runs may be moved above griddepcontrol.wait (PTX
  // ISA, "ld.global.nc").
  const bool moves = block.worker.launch.options.starts_early &&
                     block.worker.kernel.sites[op.site].mnemonic.find(".nc") != std::string::npos;
  const bool early =
      moves || ((shape.mask & warp.early) != 0 && early_lanes(warp, shape.mask) != 0);
  TouchedBytes& touched = accesses.of(allocation, early);
  const Touch touch = touch_of(kind, op.relaxed);
  for_each_range(shape, op, place, [&](std::uint64_t at, std::uint32_t bytes, int) {
    touched.add(at - allocation.address, bytes, touch);
    if (op.reads_flag) touched.add(at - allocation.address, bytes, Touch::synchronized_read);
  });
}

}  // namespace

void observe_global(Block& block, Warp& warp, const MemoryOp& op, Shape& shape, const Place& place,
                    AccessKind kind) {
  Worker& worker = block.worker;
  Worker::Accesses& accesses = worker.accesses[op.site];
  ++accesses.requests;
  accesses.units += static_cast<std::uint64_t>(shape.sectors(op.access_bytes(), op.offset));
  if (worker.watched) {
    tell_access(block, warp, op.site, shape, op.offset, op.access_bytes(), kind, false);
  }
  if ((shape.mask & warp.early) != 0) check_early(warp, op, shape, place, kind);
  if (!op.deferred) check_global(block, warp, op, shape, place, kind);
}

void check_global(Block& block, Warp& warp, const MemoryOp& op, Shape& shape, const Place& place,
                  AccessKind kind) {
  const Allocation& allocation = *place.allocation;
  if (kind != AccessKind::load) block.can_restart = false;
  // If everything has been written, the shadow is never touched, so its pages are not allocated.
  if (!allocation.host && !allocation.all_initialised) {
    if (kind != AccessKind::store) check_initialised(block, warp, op, shape, place);
    if (kind != AccessKind::load) {
      for_each_range(shape, op, place, [&](std::uint64_t at, std::uint32_t bytes, int) {
        note_written(allocation, at, bytes);
      });
    }
  }
  if (block.worker.touched != nullptr) note_touched(block, warp, op, shape, place, kind);
  if (block.worker.launch.orders(allocation)) {
    observe_global_order(block, warp, op, shape, place, kind);
  }
}

void count_shared(Block& block, const MemoryOp& op, Shape& shape, AccessKind kind) {
  Worker& worker = block.worker;
  const bool load = kind == AccessKind::load;
  const auto wavefronts =
      static_cast<std::uint64_t>(shape.wavefronts(op.access_bytes(), op.offset, load));
  if (op.space == ptx::Space::generic || op.counted_apart) {
    // The instruction's own counters are for global memory.
    Counters& counters = worker.apart;
    ++(load ? counters.shared_load_requests : counters.shared_store_requests);
    (load ? counters.shared_load_wavefronts : counters.shared_store_wavefronts) += wavefronts;
    ++(load ? counters.issued_shared_load_requests : counters.issued_shared_store_requests);
    (load ? counters.issued_shared_load_wavefronts : counters.issued_shared_store_wavefronts) +=
        wavefronts;
    return;
  }
  Worker::Accesses& accesses = worker.accesses[op.site];
  if (!op.joins_previous) ++accesses.requests;
  accesses.units += wavefronts;
  for (const MemoryOp::Issued& issued : op.issued) {
    if (issued.bytes == 0) continue;
    if (!op.joins_previous) ++accesses.issued_requests;
    accesses.issued_wavefronts += issued.bytes == op.access_bytes()
                                      ? wavefronts
                                      : static_cast<std::uint64_t>(shape.wavefronts(
                                            issued.bytes, op.offset + issued.shift, load));
  }
}

}  // namespace rung::vgpu
