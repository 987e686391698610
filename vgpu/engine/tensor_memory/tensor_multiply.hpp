#pragma once
// The arithmetic of tcgen05.mma. How a B200 aligns and rounds its sums is not documented; others have measured it
// (window_sums.hpp).

#include <array>
#include <cstdint>

#include "vgpu/engine/tensor_memory/instruction_descriptor.hpp"
#include "vgpu/engine/tensor_memory/tensor_memory.hpp"

namespace rung::vgpu {

/// Bytes of k of a sparse instruction; a dense one has half of them, or 48 if k = 96.
inline constexpr int max_tensor_lines = 256, max_line_bytes = 64;

/// The rows of A or columns of B, K-major. Elements have 8, 16 or 32 bits; smaller ones are converted to e4m3,
/// which represents all of them.
struct TensorTile {
  alignas(64) std::array<std::array<std::uint8_t, max_line_bytes>, max_tensor_lines> lines;
};

/// Block scales of a line by part of k; six if k = 96.
using LineScales = std::array<double, 6>;
using TensorScales = std::array<LineScales, max_tensor_lines>;

/// One block's part of a multiplication.
struct TensorProduct {
  const TensorMultiplyOp& op;
  const InstructionDescriptor& form;
  int rows;  // of A and D in this block
  bool adds;
  TensorAddress d;
  const std::uint32_t* disabled;  // bit per lane: disable-output-lane; null if none
};

/// The number of groups of lanes among which the columns of D are divided, and the lane of a row in the first
/// (PTX ISA, 9.7.16.10.5, "Data path layout organization").
struct TensorLayout {
  int parts;    // 1, 2 or 4
  bool halves;  // 16 rows in each 32 lanes (layouts C and F)
  constexpr int lane_of(int row) const { return halves ? row / 16 * 32 + row % 16 : row; }
};
TensorLayout layout_of_d(const TensorMultiplyOp& op, int rows);

/// The cell of an element of D with n columns, relative to its address.
constexpr TensorAddress cell_of_d(const TensorLayout& layout, int n, int row, int column) {
  const int width = n / layout.parts;
  return {layout.lane_of(row) + column / width * (tensor_lanes / layout.parts), column % width};
}

/// The cell and the byte of a block scale, relative to the address of the scales of `lines` rows of A or columns of B.
/// Each 32 lanes hold a copy. `byte` counts from 0; those from 4 on, which k = 96 has, are in the cells that follow those
/// of 128 or 256 lines (PTX ISA, 9.7.16.10.7.2 and .3).
struct ScalePlace {
  int lane, column, byte;
};
constexpr ScalePlace place_of_scale(int line, int byte, int lines) {
  constexpr int lines_of_column = 32;
  const int next = (lines + 127) / 128 * 4;
  return {line % lines_of_column, line / lines_of_column + byte / 4 * next, byte % 4};
}

/// D = A B, or D += A B, for form.k elements of the lines.
void multiply_tensors(const TensorProduct& product, const TensorTile& a, const TensorTile& b,
                      TensorMemory& memory);
/// The same with block scales, or with a sparse A (window_sums.hpp).
void multiply_in_window(const TensorProduct& product, const TensorTile& a, const TensorTile& b,
                        const TensorScales& of_a, const TensorScales& of_b, TensorMemory& memory);

/// The e4m3 with the value of an element of 4 or 6 bits.
std::uint8_t e4m3_of(TensorElement5 element, std::uint32_t bits);

}  // namespace rung::vgpu
