#pragma once
// What wmma.load and wmma.store need besides loads and stores: addresses, and elements put
// together.

#include "vgpu/engine/matrix/wmma_accesses.hpp"
#include "vgpu/model/instr.hpp"
#include "vgpu/model/kernel.hpp"

namespace rung::vgpu {

/// Where the accesses of this layout go, for a base address and a stride that a launch decides.
WmmaAddresses wmma_addresses(const WmmaLayout& layout, const WmmaAccesses& accesses,
                             bool column_major);

/// Instr::imm is a WmmaAddresses; row i gets the addresses of access i, of 64 bits. All 32 lanes
/// take part, and rows of the matrix are aligned: it is reported if not.
void run_wmma_addresses(Warp& warp, const Instr& instr);

/// Row 0 gets the low bytes of rows 1 to 4, the first lowest.
void run_join_bytes(Warp& warp, const Instr& instr);

/// Row 0 gets row 1, both of 32 bits.
void run_copy_register(Warp& warp, const Instr& instr);

}  // namespace rung::vgpu
