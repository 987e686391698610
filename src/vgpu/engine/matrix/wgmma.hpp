#pragma once
// wgmma: a warpgroup multiplies matrices, at least one of them in shared memory (PTX ISA, 9.7.15,
// "Asynchronous warpgroup level matrix instructions"). Each warp computes 16 rows of D.
//
// Sums are available at once; a static analysis checks that they are not read before
// wgmma.wait_group (program/wgmma_registers.hpp). Until then, the shared memory that a wgmma reads
// counts as in use. Numerics are those of engine/matrix/matrix.hpp.

#include <array>
#include <cstdint>

#include "vgpu/engine/matrix/tensor_core_products.hpp"
#include "vgpu/model/async_ops.hpp"
#include "vgpu/model/instr.hpp"
#include "vgpu/model/warp.hpp"

namespace rung::vgpu {

inline constexpr int wgmma_rows = product_rows;  // per warp

/// The operands of one warp, in the order of a PackedMatrix.
struct WgmmaTile {
  alignas(64) std::array<std::uint32_t, most_words * wgmma_rows> a;
  alignas(64) std::array<std::uint32_t, most_product_columns * most_words> b;
  // As tensor_core_products.hpp has them, in fragments or by columns.
  FragmentRows fragment_rows;
  FragmentColumns fragment_columns;
  ProductRows rows;
  ColumnStorage<most_product_columns> columns;
};

/// D = A B + D of one warp, or A B alone. Takes A from registers if it is there.
using WgmmaMultiply = void (*)(Warp& warp, const WgmmaOp& op, WgmmaTile& tile, bool adds);
WgmmaMultiply wgmma_multiply();

/// Instr::imm points at a WgmmaOp.
void run_wgmma(Warp& warp, const Instr& instr);
/// Instr::imm points at a WgmmaRegisterReport.
void report_wgmma_register(Warp& warp, const Instr& instr);
void commit_wgmma(Warp& warp, const Instr& instr);
/// Waits until at most Instr::imm groups are in flight.
void wait_wgmma(Warp& warp, const Instr& instr);

}  // namespace rung::vgpu
