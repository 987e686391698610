#pragma once
// Loads and stores.

#include <cstdint>

#include "vgpu/engine/execution/block.hpp"
#include "vgpu/model/instr.hpp"
#include "vgpu/model/kernel.hpp"

namespace rung::vgpu {

/// The handler of a load of elements of this type into rows of `row_bytes` per lane, or of a store
/// from such rows; nullptr if the combination is not supported.
Handler load_handler(const MemoryOp& op, ptx::Type element, int row_bytes);
Handler store_handler(const MemoryOp& op, ptx::Type element, int row_bytes);
/// Updates the shape in MemoryOp::slot. Used by other instructions that access memory.
using MakeShape = void (*)(Shape& shape, Warp& warp, const MemoryOp& op);
MakeShape make_shape();

/// The location of an access. A lane's device address, or the host address of its shared or local
/// memory, is address + bias + lane * lane_stride. The data are at that address + to_data.
struct Place {
  ptx::Space space = ptx::Space::global;   // generic: shared memory of another block
  std::uint64_t bias = 0;                  // includes MemoryOp::offset
  std::uint64_t lane_stride = 0;           // bytes between the local memories of neighbouring lanes
  std::uint64_t to_data = 0;               // Allocation::to_data
  const Allocation* allocation = nullptr;  // global

  std::uint64_t address(std::uint64_t in_lane, int lane) const {
    return in_lane + bias + static_cast<std::uint64_t>(lane) * lane_stride;
  }
  std::byte* at(std::uint64_t in_lane, int lane) const {
    return reinterpret_cast<std::byte*>(address(in_lane, lane) + to_data);
  }
};

enum class AccessKind : std::uint8_t { load, store, atomic };
/// "read", "write", "atomic".
const char* name(AccessKind kind);

/// Computes `place`, and checks that all addresses of the shape are aligned and inside the memory
/// that they may access. Returns false if that fails for some lane, or if lanes access different
/// spaces.
bool locate(Block& block, Warp& warp, const MemoryOp& op, Shape& shape, AccessKind kind,
            Place& place);

/// locate() for a shape of one lane. Accepts a vector of Metal whose elements alone are aligned.
bool locate_lane(Block& block, Warp& warp, const MemoryOp& op, Shape& shape, AccessKind kind,
                 Place& place);

/// Handles a shape that locate() rejected: reports the invalid lanes, and calls `access` for the
/// others and for unaligned vectors, each time with a shape of lanes that access the same space.
using AccessLanes = void (*)(Block&, Warp&, const Instr&, Shape&, const Place&);
void access_good_lanes(Block& block, Warp& warp, const Instr& instr, const MemoryOp& op,
                       Shape& shape, AccessKind kind, AccessLanes access);

}  // namespace rung::vgpu
