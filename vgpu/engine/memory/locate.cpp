// Computes the location of an access, and checks its bounds and alignment.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "vgpu/engine/async/async_state.hpp"
#include "vgpu/engine/async/cluster_access.hpp"
#include "vgpu/engine/execution/report.hpp"
#include "vgpu/engine/memory/access.hpp"

namespace rung::vgpu {
namespace {

using ptx::Space;

struct Range {
  std::uint64_t begin, end;  // addresses, including the instruction's offset

  bool holds(std::uint64_t low, std::uint64_t high) const {
    return low >= begin && high <= end && low <= high;
  }
};

/// The state space of an address used by this operation.
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

/// The allocation that this operation must stay in. Without provenance, the allocation that
/// contains the address.
const Allocation* allocation_for(Block& block, const MemoryOp& op, std::uint64_t address) {
  if (op.origin.kind == Origin::Kind::parameter) {
    const auto& known = block.worker.launch.parameter_allocations;
    const std::size_t index = op.origin.index / 8;
    if (index < known.size() && known[index] != nullptr) return known[index];
  }
  return block.worker.launch.memory.find(address);
}

/// `bits`: the OR of addresses, including the instruction's offset.
bool misaligned(const MemoryOp& op, std::uint64_t bits) {
  return (bits & (op.alignment() - 1)) != 0;
}

/// True if the elements of a vector of Metal are aligned. Apple's GPUs then perform the access,
/// although the Metal Shading Language Specification (section 2.2) demands the vector's alignment.
bool has_aligned_elements(const MemoryOp& op, std::uint64_t bits) {
  return op.element_alignment != 0 && (bits & (op.element_alignment - 1u)) == 0;
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
  place.to_data = last->to_data;
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

/// Adjusts an address so that its sum with the offset wraps as on hardware.
std::uint64_t wrapped(const MemoryOp& op, std::uint64_t address) {
  if (!op.wraps()) return address;
  const auto offset = static_cast<std::uint64_t>(op.offset);
  return static_cast<std::uint32_t>(address + offset) - offset;
}

/// One lane's access, which may be invalid.
class LaneAccess {
 public:
  LaneAccess(Block& block, const MemoryOp& op, std::uint64_t address, AccessKind kind)
      : block_(block),
        op_(op),
        kind_(kind),
        at_(address + static_cast<std::uint64_t>(op.offset)),
        inside_(op.space == Space::generic ? at_ & window_mask : at_),
        space_(space_of(op, at_)) {}

  /// The kind of error; nullopt for a valid access.
  std::optional<HazardKind> error() const {
    if (!is_inside()) return HazardKind::out_of_bounds;
    if (writes_constant()) return HazardKind::read_only_write;
    if (!misaligned(op_, at_)) return std::nullopt;
    return has_aligned_elements(op_, at_) ? HazardKind::unaligned_vector : HazardKind::misaligned;
  }

  /// The text for error().
  Description describe() const {
    if (!is_inside()) return {outside(), outside_of()};
    if (writes_constant()) return {place(), "constant memory cannot be written by a kernel"};
    if (has_aligned_elements(op_, at_)) {
      return {place(),
              fmt::format("a vector of {} bytes at an address that is a multiple of {}, not of {}",
                          op_.access_bytes(), op_.element_alignment, op_.alignment())};
    }
    return {place(), fmt::format("{} bytes at an address that is not a multiple of {}",
                                 op_.access_bytes(), op_.alignment())};
  }

 private:
  bool in_windows() const {
    return space_ == Space::shared || space_ == Space::local || space_ == Space::param;
  }
  /// The memory that the access must stay in. For global memory, its allocation.
  Range range() const {
    switch (space_) {
      case Space::shared: return shared_range(block_, op_);
      case Space::local: return {0, block_.worker.kernel.local_bytes};
      case Space::param: return {0, block_.worker.launch.parameters.size()};
      default: {
        const Allocation* const meant = allocation_for(block_, op_, at_);
        return meant == nullptr ? Range{1, 0}
                                : Range{meant->address, meant->address + meant->bytes};
      }
    }
  }
  bool is_inside() const {
    const std::uint64_t begin = in_windows() ? inside_ : at_;
    return range().holds(begin, begin + op_.access_bytes());
  }
  bool writes_constant() const {
    return !in_windows() && kind_ != AccessKind::load &&
           allocation_for(block_, op_, at_)->read_only;
  }

  std::string place() const {
    switch (space_) {
      case Space::shared: return shared_address(block_, inside_);
      case Space::local: return fmt::format("local memory + {}", inside_);
      case Space::param: return fmt::format("parameters + {}", inside_);
      default: return describe_global(block_, op_, at_);
    }
  }
  /// Describes a location outside that memory.
  std::string outside() const {
    if (space_ != Space::shared) return place();
    const SharedArray* const array = array_of(block_, op_);
    if (array == nullptr) return fmt::format("shared memory + {}", inside_);
    const std::uint64_t begin = range().begin;
    return fmt::format("{} {} {}", array->name, inside_ < begin ? "-" : "+",
                       inside_ < begin ? begin - inside_ : inside_ - begin);
  }
  std::string outside_of() const {
    const char* const does = kind_ == AccessKind::load    ? "reads"
                             : kind_ == AccessKind::store ? "writes"
                                                          : "changes";
    const std::string bytes = fmt::format("{} {} bytes", does, op_.access_bytes());
    switch (space_) {
      case Space::shared: {
        const SharedArray* const array = array_of(block_, op_);
        return bytes + distance(array == nullptr ? "the block's shared memory" : array->name);
      }
      case Space::local: return bytes + distance("the thread's local memory");
      case Space::param: return bytes + distance("the kernel's parameters");
      default:
        return bytes + (allocation_for(block_, op_, at_) == nullptr
                            ? ", outside of every allocation" + parameter()
                            : distance("the allocation that the pointer came from"));
    }
  }
  /// "; parameter 2 of the kernel is null", if the pointer came from it.
  std::string parameter() const {
    if (op_.origin.kind != Origin::Kind::parameter) return {};
    const auto& all = block_.worker.kernel.info.parameters;
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& parameter) {
      return parameter.offset == op_.origin.index && parameter.bytes == sizeof(std::uint64_t);
    });
    if (found == all.end()) return {};
    std::uint64_t value = 0;
    std::memcpy(&value, block_.worker.launch.parameters.data() + found->offset, sizeof value);
    return fmt::format("; parameter {} of the kernel is {}", found - all.begin() + 1,
                       value == 0 ? "null" : fmt::format("{:#x}", value));
  }
  /// ", 16 bytes past the end of As (64 bytes)".
  std::string distance(const std::string& memory) const {
    const Range all = range();
    const std::uint64_t begin = in_windows() ? inside_ : at_, size = all.end - all.begin;
    if (begin < all.begin) {
      return fmt::format(", {} bytes before the beginning of {} ({} bytes)", all.begin - begin,
                         memory, size);
    }
    if (begin < all.end) {
      return fmt::format(", the last {} of them past the end of {} ({} bytes)",
                         begin + op_.access_bytes() - all.end, memory, size);
    }
    if (begin == all.end) return fmt::format(", right past the end of {} ({} bytes)", memory, size);
    return fmt::format(", {} bytes past the end of {} ({} bytes)", begin - all.end, memory, size);
  }

  Block& block_;
  const MemoryOp& op_;
  const AccessKind kind_;
  const std::uint64_t at_, inside_;  // inside_: offset in its window
  const Space space_;
};

}  // namespace

const char* name(AccessKind kind) {
  switch (kind) {
    case AccessKind::load: return "read";
    case AccessKind::store: return "write";
    case AccessKind::atomic: return "atomic";
  }
  return "";
}

namespace {

/// locate() without its check of alignment.
bool locate_inside(Block& block, Warp& warp, const MemoryOp& op, Shape& shape, AccessKind kind,
                   Place& place) {
  const auto offset = static_cast<std::uint64_t>(op.offset);
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

}  // namespace

bool locate(Block& block, Warp& warp, const MemoryOp& op, Shape& shape, AccessKind kind,
            Place& place) {
  const std::uint64_t bits = (shape.low + static_cast<std::uint64_t>(op.offset)) | shape.low_bits;
  return !misaligned(op, bits) && locate_inside(block, warp, op, shape, kind, place);
}

bool locate_lane(Block& block, Warp& warp, const MemoryOp& op, Shape& shape, AccessKind kind,
                 Place& place) {
  const std::uint64_t at = shape.low + static_cast<std::uint64_t>(op.offset);
  return (!misaligned(op, at) || has_aligned_elements(op, at)) &&
         locate_inside(block, warp, op, shape, kind, place);
}

namespace {

/// Writes a shape that contains only this lane to the worker's scratch shape.
Shape& only_lane(Warp& warp, int lane, std::uint64_t address) {
  Shape& one = warp.block->worker.scratch_shape;
  std::array<std::uint64_t, warp_size> alone{};
  alone[lane] = address;
  one.describe(1u << lane, alone.data());
  warp.mask = one.mask;
  return one;
}

/// Performs a lane's access to an address that names a block of the cluster. If that block
/// is the lane's own, returns the address instead, and the caller performs the access.
std::optional<std::uint64_t> access_in_cluster(Warp& warp, const Instr& instr, const MemoryOp& op,
                                               int lane, std::uint64_t address, AccessKind kind,
                                               AccessLanes access) {
  Block& block = *warp.block;
  const std::uint64_t at = address + static_cast<std::uint64_t>(op.offset);
  const auto found =
      cluster_place(warp, lane, op.site, at, op.access_bytes(), op.alignment(), name(kind));
  if (!found) return std::nullopt;
  if (found->block == &block) {
    return (at & ~window_mask) + found->offset - static_cast<std::uint64_t>(op.offset);
  }
  if (!op.deferred) {
    observe_in_cluster(*found->block, warp, lane, op.site, kind,
                       {found->offset, op.access_bytes()});
  }
  Place place;
  place.space = Space::generic;
  place.bias =
      reinterpret_cast<std::uint64_t>(found->block->shared.data()) + found->offset - address;
  access(block, warp, instr, only_lane(warp, lane, address), place);
  return std::nullopt;
}

}  // namespace

void access_good_lanes(Block& block, Warp& warp, const Instr& instr, const MemoryOp& op,
                       Shape& shape, AccessKind kind, AccessLanes access) {
  const Mask active = warp.mask;
  for (Mask left = shape.mask; left != 0; left &= left - 1) {
    const int lane = first_lane(left);
    std::uint64_t address = wrapped(op, shape.address(lane));
    if (names_block(op, address + static_cast<std::uint64_t>(op.offset))) {
      const auto own = access_in_cluster(warp, instr, op, lane, address, kind, access);
      if (!own) continue;
      address = *own;
    }
    const LaneAccess lane_access(block, op, address, kind);
    if (const auto error = lane_access.error()) {
      report(block, *error, block.thread(warp, lane), op.site, name(kind),
             [&] { return lane_access.describe(); });
      if (*error != HazardKind::unaligned_vector) continue;
    }
    Shape& one = only_lane(warp, lane, address);
    Place place;
    if (locate_lane(block, warp, op, one, kind, place)) access(block, warp, instr, one, place);
  }
  warp.mask = active;
}

}  // namespace rung::vgpu
