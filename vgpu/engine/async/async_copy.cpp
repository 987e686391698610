#include "vgpu/engine/async/async_copy.hpp"

#include <algorithm>
#include <cstring>

#include "vgpu/engine/memory/access.hpp"
#include "vgpu/engine/observers.hpp"

namespace rung::vgpu {
namespace {

/// Data read by the lanes of the current access. A global, because the callbacks have no parameter
/// for it.
thread_local std::array<std::array<std::byte, 16>, warp_size> read_data;

/// memcpy with a compile-time size for the usual sizes.
void copy_bytes(std::byte* to, const std::byte* from, std::uint32_t bytes) {
  switch (bytes) {
    case 4: std::memcpy(to, from, 4); break;
    case 8: std::memcpy(to, from, 8); break;
    case 16: std::memcpy(to, from, 16); break;
    default: std::memcpy(to, from, bytes); break;
  }
}

void read_lanes(Block& block, Warp& warp, const Instr& instr, Shape& shape, const Place& place) {
  const auto& op = instr.op<AsyncCopyOp>();
  block.observers.observe_global(block, warp, op.from, shape, place, AccessKind::load);
  auto& data = read_data;
  for (Mask left = shape.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::size_t>(first_lane(left));
    copy_bytes(data[lane].data(),
               place.at(shape.address(static_cast<int>(lane)), static_cast<int>(lane)), op.bytes);
  }
}

void write_lanes(Block& block, Warp& warp, const Instr& instr, Shape& shape, const Place& place) {
  const auto& op = instr.op<AsyncCopyOp>();
  block.observers.count_shared(block, op.to, shape, AccessKind::store);
  if (block.worker.watched) {
    const auto to_shared = static_cast<std::int64_t>(
        place.bias - reinterpret_cast<std::uint64_t>(block.shared.data()));
    block.observers.tell_access(block, warp, op.to.site, shape, to_shared, op.bytes,
                                AccessKind::store, true);
  }
  AsyncCopy& copy = block.copies[static_cast<std::size_t>(warp.index)].issue();
  const auto& data = read_data;
  copy.bytes = op.bytes;
  copy.distinct = shape.kind == Shape::Kind::linear || shape.uniques() == lanes_in(shape.mask);
  for (Mask left = shape.mask; left != 0; left &= left - 1) {
    const int lane = first_lane(left);
    const auto i = static_cast<std::size_t>(copy.count++);
    copy.lane[i] = static_cast<std::uint8_t>(lane);
    copy.offset[i] =
        static_cast<std::uint32_t>(place.at(shape.address(lane), lane) - block.shared.data());
    copy.data[i] = data[static_cast<std::size_t>(lane)];
  }
  block.observers.write_shared_pending(block, warp, op.to.site, copy);
}

void access(Warp& warp, const Instr& instr, const MemoryOp& op, AccessKind kind,
            AccessLanes lanes) {
  Block& block = *warp.block;
  Shape& shape = block.worker.shapes[op.slot];
  make_shape()(shape, warp, op);
  Place place;
  if (locate(block, warp, op, shape, kind, place)) {
    lanes(block, warp, instr, shape, place);
  } else {
    access_good_lanes(block, warp, instr, op, shape, kind, lanes);
  }
}

/// The lanes among `lanes` that copy exactly `bytes` source bytes. `most`: the size of the copy.
Mask lanes_that_want(const std::uint32_t* wanted, Mask lanes, std::uint32_t bytes,
                     std::uint32_t most) {
  Mask found = 0;
  for (Mask left = lanes; left != 0; left &= left - 1) {
    const int lane = first_lane(left);
    if (std::min(wanted[lane], most) == bytes) found |= Mask{1} << lane;
  }
  return found;
}

/// Reads the first `bytes` of each active lane's source. The memory after them may be inaccessible.
void read_some(Warp& warp, const Instr& instr, const AsyncCopyOp& op, std::uint32_t bytes) {
  if (bytes == op.bytes) return access(warp, instr, op.from, AccessKind::load, read_lanes);
  AsyncCopyOp part = op;
  part.bytes = bytes;
  const std::uint32_t element = bytes & (~bytes + 1);  // the largest power of two that divides it
  part.from.bytes = static_cast<std::uint8_t>(element);
  part.from.count = static_cast<std::uint8_t>(bytes / element);
  Instr of_part = instr;
  of_part.imm = imm_to(part);
  access(warp, of_part, part.from, AccessKind::load, read_lanes);
}

void complete(Block& block, const Warp& warp, const AsyncCopy& copy) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(copy.count); ++i) {
    copy_bytes(block.shared.data() + copy.offset[i], copy.data[i].data(), copy.bytes);
  }
  block.observers.complete_pending(block, warp, copy);
}

}  // namespace

void run_async_copy(Warp& warp, const Instr& instr) {
  const auto& op = instr.op<AsyncCopyOp>();
  const Mask active = warp.mask;
  std::memset(&read_data, 0, sizeof read_data);
  if (op.source_bytes_row == 0) {
    access(warp, instr, op.from, AccessKind::load, read_lanes);
  } else {
    const std::uint32_t* const wanted = warp.row<std::uint32_t>(op.source_bytes_row);
    for (Mask left = active; left != 0; left &= ~warp.mask) {
      const std::uint32_t bytes = std::min(wanted[first_lane(left)], op.bytes);
      warp.mask = lanes_that_want(wanted, left, bytes, op.bytes);
      // A lane that reads no bytes must not access its source, which may be an invalid address.
      if (bytes > 0) read_some(warp, instr, op, bytes);
    }
    warp.mask = active;
  }
  access(warp, instr, op.to, AccessKind::store, write_lanes);
}

void commit_async_group(Warp& warp, const Instr&) {
  warp.block->copies[static_cast<std::size_t>(warp.index)].commit();
}

void wait_async_groups(Warp& warp, const Instr& instr) {
  Block& block = *warp.block;
  block.copies[static_cast<std::size_t>(warp.index)].complete(
      instr.imm, [&](const AsyncCopy& copy) { complete(block, warp, copy); });
}

void wait_async_all(Warp& warp, const Instr&) {
  Block& block = *warp.block;
  block.copies[static_cast<std::size_t>(warp.index)].complete_all(
      [&](const AsyncCopy& copy) { complete(block, warp, copy); });
}

}  // namespace rung::vgpu
