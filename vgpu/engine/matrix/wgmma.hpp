#pragma once
// wgmma: a warpgroup multiplies matrices, B in shared memory, A there or in registers (PTX ISA,
// 9.7.15, "Asynchronous warpgroup level matrix instructions"). Each warp computes 16 rows of D.
//
// The sums are available immediately. A static analysis checks that they are not read before
// wgmma.wait_group (program/wgmma_registers.hpp). Until then, the shared memory that a wgmma reads
// counts as in use. Numerics: see engine/matrix/matrix.hpp.

#include <array>
#include <cstdint>

#include "vgpu/engine/matrix/tensor_core_products.hpp"
#include "vgpu/model/async_ops.hpp"
#include "vgpu/model/instr.hpp"
#include "vgpu/model/warp.hpp"

namespace rung::vgpu {

inline constexpr int wgmma_rows = product_rows;  // per warp

/// The operands of one warp, in the layout of a PackedMatrix.
struct WgmmaTile {
  alignas(64) std::array<std::uint32_t, max_words * wgmma_rows> a;
  alignas(64) std::array<std::uint32_t, max_product_columns * max_words> b;
  // The operands in the layouts of tensor_core_products.hpp: fragments, or columns.
  FragmentRows fragment_rows;
  FragmentColumns fragment_columns;
  ProductRows rows;
  ColumnStorage<max_product_columns> columns;
};

/// D = A B + D, or D = A B, for one warp. Reads A from registers if the operation has it there.
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
