#pragma once
// mma.sync with .kind: matrices of 4-, 6- and 8-bit floats, with or without block scales (PTX ISA, 9.7.14.5.14,
// "Multiply-and-Accumulate Instruction: mma", and 9.7.14.5.12, "mma with block scaling"), and with a sparse A (9.7.14.6).

#include <cstdint>
#include <optional>
#include <vector>

#include "vgpu/engine/tensor_memory/instruction_descriptor.hpp"
#include "vgpu/model/instr.hpp"
#include "vgpu/model/warp.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// Block scales of A or B. One thread's register holds the scales of a row or column, in consecutive bytes.
struct NarrowScales {
  std::uint32_t data = 0;  // row
  std::uint32_t byte = 0,
                thread = 0;  // rows: first byte, and which threads of each four hold the scales
};

/// D (16 x 8) = A (16 x k) B (k x 8) + C. Rows of registers are indices as in Instr::rows.
struct NarrowMultiplyOp {
  TensorElement5 a = TensorElement5::e4m3, b = TensorElement5::e4m3;
  int k = 32;                // of the matrix without compression, if A is sparse
  bool has_nibbles = false;  // elements of 4 bits, eight in a register; otherwise each takes a byte
  bool sparse = false;       // A holds half of its elements, and metadata their positions
  bool has_half_sums = false;   // C and D are f16
  int scales_of_k = 0;          // .scale_vec::1X, 2X or 4X; 0: no block scales
  bool has_e8m0_scales = true;  // otherwise ue4m3
  std::vector<std::uint32_t> d_rows, a_rows, b_rows, c_rows;
  std::uint32_t metadata = 0;  // row
  NarrowScales scale_a, scale_b;

  int sum_registers() const { return has_half_sums ? 2 : 4; }
  int b_registers() const { return sparse ? 4 : 2; }
  static constexpr int a_registers = 4;
};

/// The lane with the block scales of a row of A, or of a column of B, by the thread-id of the instruction (PTX ISA,
/// 9.7.14.3, "Block Scaling for mma.sync"): for A it selects a pair of each four threads, whose first has the scales of
/// row g and whose second those of row g + 8; for B a thread of each four.
constexpr int lane_of_a_scales(int row, int thread) {
  return row % 8 * 4 + 2 * (thread & 1) + row / 8;
}
constexpr int lane_of_b_scales(int column, int thread) { return column * 4 + (thread & 3); }

/// The form of an mma.sync with .kind, without rows; nullopt for other instructions and unknown forms.
std::optional<NarrowMultiplyOp> narrow_multiply_form(const ptx::Instruction& instruction);

/// Instr::imm points at a NarrowMultiplyOp. Sums follow the rule of tcgen05.mma; no RTX 5090 was at hand to confirm it.
void run_narrow_multiply(Warp& warp, const Instr& instr);

/// The value of a block scale.
double scale_of(std::uint32_t bits, bool is_e8m0);

}  // namespace rung::vgpu
