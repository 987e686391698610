#pragma once
// ldmatrix and stmatrix: 8x8 matrices of 16-bit elements between shared memory and fragments.

#include "vgpu/model/instr.hpp"
#include "vgpu/model/kernel.hpp"

namespace rung::vgpu {

/// Rows: the registers of the fragment, one per matrix. MemoryOp::count is their number. Lane 8 i +
/// r provides the address of row r of matrix i (PTX ISA, ldmatrix).
void run_load_matrix(Warp& warp, const Instr& instr);
void run_load_matrix_transposed(Warp& warp, const Instr& instr);
void run_store_matrix(Warp& warp, const Instr& instr);
void run_store_matrix_transposed(Warp& warp, const Instr& instr);

}  // namespace rung::vgpu
