#pragma once
// ldmatrix and stmatrix: move 8x8 matrices of 16-bit elements between shared memory and fragments.

#include "vgpu/model/instr.hpp"
#include "vgpu/model/kernel.hpp"

namespace rung::vgpu {

/// Rows: one register of the fragment for each of MemoryOp::count matrices. Lane 8 i + r provides
/// the address of row r of matrix i (PTX ISA, ldmatrix).
void run_load_matrix(Warp& warp, const Instr& instr);
void run_load_matrix_transposed(Warp& warp, const Instr& instr);
void run_store_matrix(Warp& warp, const Instr& instr);
void run_store_matrix_transposed(Warp& warp, const Instr& instr);

}  // namespace rung::vgpu
