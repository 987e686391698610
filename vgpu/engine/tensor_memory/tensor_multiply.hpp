#pragma once
// The arithmetic of tcgen05.mma, with the sums of wgmma (tensor_core_sums.hpp). How a B200 aligns and rounds
// its sums is not documented and was not measured.

#include <array>
#include <cstdint>

#include "vgpu/engine/tensor_memory/instruction_descriptor.hpp"
#include "vgpu/engine/tensor_memory/tensor_memory.hpp"

namespace rung::vgpu {

/// Bytes of k that one step multiplies; a sparse instruction takes two steps.
inline constexpr int step_bytes = 32;
inline constexpr int max_tensor_lines = 256, max_line_bytes = 2 * step_bytes;

/// The rows of A or columns of B, K-major. Elements have 8, 16 or 32 bits; smaller ones are converted to e4m3,
/// which represents all of them.
struct TensorTile {
  alignas(64) std::array<std::array<std::uint8_t, max_line_bytes>, max_tensor_lines> lines;
};

/// Block scales by line and part of k.
using TensorScales = std::array<std::array<double, 4>, max_tensor_lines>;

/// One block's part of a multiplication.
struct TensorProduct {
  const TensorMultiplyOp& op;
  const InstructionDescriptor& form;
  int rows;  // of A and D in this block
  bool adds;
  TensorAddress d;
  const std::uint32_t* disabled;  // bit per lane: disable-output-lane; null if none
  int first_byte = 0;             // of the lines that are multiplied
};

/// The number of groups of lanes among which the columns of D are divided, and the lane of a row in the first
/// (PTX ISA, 9.7.16.10.5, "Data path layout organization").
struct TensorLayout {
  int parts;    // 1, 2 or 4
  bool halves;  // 16 rows in each 32 lanes (layout F)
  int lane_of(int row) const { return halves ? row / 16 * 32 + row % 16 : row; }
};
TensorLayout layout_of_d(const TensorMultiplyOp& op, int rows);

/// D = A B, or D += A B, for form.k elements of the lines.
void multiply_tensors(const TensorProduct& product, const TensorTile& a, const TensorTile& b,
                      TensorMemory& memory);
/// The same with block scales.
void multiply_scaled(const TensorProduct& product, const TensorTile& a, const TensorTile& b,
                     const TensorScales& of_a, const TensorScales& of_b, TensorMemory& memory);

/// The e4m3 with the value of an element of 4 or 6 bits.
std::uint8_t e4m3_of(TensorElement5 element, std::uint32_t bits);

}  // namespace rung::vgpu
