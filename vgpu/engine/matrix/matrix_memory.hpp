#pragma once
// ldmatrix and stmatrix: move matrices between shared memory and fragments (PTX ISA, 9.7.14.5.15 and .16).

#include "vgpu/model/instr.hpp"
#include "vgpu/model/kernel.hpp"

namespace rung::vgpu {

/// The form of an ldmatrix or stmatrix.
struct MatrixMove {
  bool loads = true, transposed = false;
  int bits = 16;   // of an element in shared memory: 16, 8, or 6 and 4, which become bytes
  int groups = 1;  // of 8 lanes, whose addresses are used: as many as registers
};

/// The handler of a form. Rows: the registers of the fragment. Lane 8 i + r provides the address of row r of the i-th
/// eight rows, of 16 bytes each; MemoryOp::count is the number of groups.
Handler matrix_mover(const MatrixMove& move);

}  // namespace rung::vgpu
