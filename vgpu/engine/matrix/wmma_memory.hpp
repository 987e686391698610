#pragma once
// Handlers that wmma.load and wmma.store need in addition to loads and stores: they compute
// addresses and assemble elements.

#include "vgpu/engine/matrix/wmma_accesses.hpp"
#include "vgpu/model/instr.hpp"
#include "vgpu/model/kernel.hpp"

namespace rung::vgpu {

/// The addresses of this layout's accesses relative to a base address, for any stride.
WmmaAddresses wmma_addresses(const WmmaLayout& layout, const WmmaAccesses& accesses,
                             bool column_major);

/// Instr::imm is a WmmaAddresses. Row i receives the 64-bit addresses of access i. Reports missing
/// lanes and misaligned rows of the matrix.
Handler wmma_address_handler();

/// Row 0 = the low bytes of rows 1 to 4, with row 1 in the lowest byte.
void run_join_bytes(Warp& warp, const Instr& instr);

/// Row 0 = row 1, both 32 bits wide.
void run_copy_register(Warp& warp, const Instr& instr);

}  // namespace rung::vgpu
