// Finds the memory of an access, and checks its bounds and alignment.

#include <fmt/format.h>

#include "vgpu/engine/execution/report.hpp"
#include "vgpu/engine/memory/access.hpp"

namespace rung::vgpu {
namespace {

using ptx::Space;

struct Range {
  std::uint64_t begin, end;  // of addresses, including the instruction's offset

  bool holds(std::uint64_t low, std::uint64_t high) const {
    return low >= begin && high <= end && low <= high;
  }
};

/// The state space of an address of this operation.
Space space_of(const MemoryOp& op, std::uint64_t address) {
  if (op.space != Space::generic) return op.space;
  switch (address & ~window_mask) {
    case 0: return Space::global;
    case shared_window: return Space::shared;
    case local_window: return Space::local;
    case param_window: return Space::param;
    default: return Space::generic;
  }
}

const SharedArray* array_of(const Block& block, const MemoryOp& op) {
  if (op.origin.kind != Origin::Kind::shared) return nullptr;
  return &block.worker.kernel.shared_arrays[op.origin.index];
}

Range shared_range(const Block& block, const MemoryOp& op) {
  const std::uint32_t all = block.worker.launch.shared_bytes;
  const SharedArray* array = array_of(block, op);
  if (array == nullptr) return {0, all};
  return {array->offset, array->dynamic ? all : array->offset + array->bytes};
}

/// The allocation that this operation must stay in or, without provenance, the one that contains
/// the address.
const Allocation* allocation_for(Block& block, const MemoryOp& op, std::uint64_t address) {
  if (op.origin.kind == Origin::Kind::parameter) {
    const auto& known = block.worker.launch.parameter_allocations;
    const std::size_t index = op.origin.index / 8;
    if (index < known.size() && known[index] != nullptr) return known[index];
  }
  return block.worker.launch.memory.find(address);
}

/// `bits`: of addresses, including the instruction's offset.
bool misaligned(const MemoryOp& op, std::uint64_t bits) {
  return (bits & (op.alignment() - 1)) != 0;
}

bool locate_global(Block& block, const MemoryOp& op, std::uint64_t low, std::uint64_t end,
                   AccessKind kind, Place& place) {
  const Allocation*& last = block.worker.last_allocation[op.cache];
  if (last == nullptr || low < last->address || end > last->address + last->bytes) {
    const Allocation* found = allocation_for(block, op, low);
    if (found == nullptr || low < found->address || end > found->address + found->bytes) {
      return false;
    }
    last = found;
  }
  if (last->read_only && kind != AccessKind::load) return false;
  place.allocation = last;
  return true;
}

std::string describe_global(Block& block, const MemoryOp& op, std::uint64_t address) {
  const DeviceMemory& memory = block.worker.launch.memory;
  const Allocation* meant = allocation_for(block, op, address);
  if (meant == nullptr || (address >= meant->address && address < meant->address + meant->bytes)) {
    return memory.describe(address);
  }
  return fmt::format(
      "{} {} {}", memory.describe(meant->address), address < meant->address ? "-" : "+",
      address < meant->address ? meant->address - address : address - meant->address);
}

struct Wrong {
  HazardKind kind;
  std::string address, message;
};

/// The address adjusted so that its sum with the offset wraps as on hardware.
std::uint64_t wrapped(const MemoryOp& op, std::uint64_t address) {
  if (!op.wraps()) return address;
  const auto offset = static_cast<std::uint64_t>(op.offset);
  return static_cast<std::uint32_t>(address + offset) - offset;
}

/// The error of one lane's access, if any.
std::optional<Wrong> wrong_with(Block& block, const MemoryOp& op, std::uint64_t address,
                                Space space, AccessKind kind) {
  const std::uint64_t bytes = op.access_bytes();
  const std::uint64_t at = address + static_cast<std::uint64_t>(op.offset);
  const std::uint64_t inside = op.space == Space::generic ? at & window_mask : at;
  const auto misaligned_here = [&](std::string where) -> std::optional<Wrong> {
    if (!misaligned(op, at)) return std::nullopt;
    return Wrong{
        HazardKind::misaligned, std::move(where),
        fmt::format("{} bytes at an address that is not a multiple of {}", bytes, op.alignment())};
  };
  switch (space) {
    case Space::shared: {
      const Range range = shared_range(block, op);
      if (range.holds(inside, inside + bytes))
        return misaligned_here(shared_address(block, inside));
      const SharedArray* array = array_of(block, op);
      return Wrong{
          HazardKind::out_of_bounds,
          array == nullptr
              ? fmt::format("shared memory + {}", inside)
              : fmt::format("{} {} {}", array->name, inside < range.begin ? "-" : "+",
                            inside < range.begin ? range.begin - inside : inside - range.begin),
          fmt::format("{} bytes, outside of {}, which has {} bytes", bytes,
                      array == nullptr ? "the block's shared memory" : array->name,
                      range.end - range.begin)};
    }
    case Space::local:
      if (inside + bytes <= block.worker.kernel.local_bytes) {
        return misaligned_here(fmt::format("local memory + {}", inside));
      }
      return Wrong{HazardKind::out_of_bounds, fmt::format("local memory + {}", inside),
                   fmt::format("{} bytes, outside of the thread's local memory of {} bytes", bytes,
                               block.worker.kernel.local_bytes)};
    case Space::param:
      if (inside + bytes <= block.worker.launch.parameters.size()) {
        return misaligned_here(fmt::format("parameters + {}", inside));
      }
      return Wrong{HazardKind::out_of_bounds, fmt::format("parameters + {}", inside),
                   fmt::format("{} bytes, outside of the kernel's {} bytes of parameters", bytes,
                               block.worker.launch.parameters.size())};
    default: {
      const Allocation* allocation = allocation_for(block, op, at);
      if (allocation == nullptr || at < allocation->address ||
          at + bytes > allocation->address + allocation->bytes) {
        return Wrong{HazardKind::out_of_bounds, describe_global(block, op, at),
                     fmt::format("{} bytes outside of {}", bytes,
                                 allocation == nullptr ? "every allocation"
                                                       : "the allocation that "
                                                         "the pointer came from")};
      }
      if (allocation->read_only && kind != AccessKind::load) {
        return Wrong{HazardKind::read_only_write, describe_global(block, op, at),
                     "constant memory cannot be written by a kernel"};
      }
      return misaligned_here(describe_global(block, op, at));
    }
  }
}

}  // namespace

const char* name(AccessKind kind) {
  switch (kind) {
    case AccessKind::load: return "read";
    case AccessKind::store: return "write";
    case AccessKind::atomic: return "atomic";
  }
  return "";
}

bool locate(Block& block, Warp& warp, const MemoryOp& op, Shape& shape, AccessKind kind,
            Place& place) {
  const auto offset = static_cast<std::uint64_t>(op.offset);
  if (misaligned(op, (shape.low + offset) | shape.low_bits)) return false;
  std::uint64_t low = shape.low + offset;
  std::uint64_t end = shape.high + offset + op.access_bytes();
  if (low > end) return false;
  place.space = space_of(op, low);
  place.bias = offset;
  if (op.space == Space::generic && place.space != Space::global) {
    if (space_of(op, end - 1) != place.space) return false;
    const std::uint64_t window = low & ~window_mask;
    low -= window;
    end -= window;
    place.bias -= window;
  }
  switch (place.space) {
    case Space::shared:
      if (!shared_range(block, op).holds(low, end)) return false;
      place.bias += reinterpret_cast<std::uint64_t>(block.shared.data());
      return true;
    case Space::local:
      if (end > block.worker.kernel.local_bytes || low > end) return false;
      place.bias += reinterpret_cast<std::uint64_t>(block.local(warp, 0));
      place.lane_stride = block.worker.kernel.local_bytes;
      return true;
    case Space::param:
      if (end > block.worker.launch.parameters.size() || low > end) return false;
      place.bias += reinterpret_cast<std::uint64_t>(block.worker.launch.parameters.data());
      return true;
    case Space::global:
    case Space::constant: return locate_global(block, op, low, end, kind, place);
    default: return false;
  }
}

void access_good_lanes(Block& block, Warp& warp, const Instr& instr, const MemoryOp& op,
                       Shape& shape, AccessKind kind, AccessLanes access) {
  const Mask active = warp.mask;
  for (Mask left = shape.mask; left != 0; left &= left - 1) {
    const int lane = first_lane(left);
    const std::uint64_t address = wrapped(op, shape.address(lane));
    const Space space = space_of(op, address + static_cast<std::uint64_t>(op.offset));
    if (const auto wrong = wrong_with(block, op, address, space, kind)) {
      report(block, wrong->kind, block.thread(warp, lane), op.site, name(kind), wrong->address,
             wrong->message);
      continue;
    }
    Shape& one = block.worker.scratch_shape;
    std::array<std::uint64_t, warp_size> alone{};
    alone[lane] = address;
    one.describe(1u << lane, alone.data());
    warp.mask = one.mask;
    Place place;
    if (locate(block, warp, op, one, kind, place)) access(block, warp, instr, one, place);
  }
  warp.mask = active;
}

}  // namespace rung::vgpu
