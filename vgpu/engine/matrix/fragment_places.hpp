#pragma once
// The position in the matrix of each element of a fragment in registers. The handlers of matrix
// instructions take their indices from these functions, and so does the layout explorer
// (vgpu/layout.hpp). Lane 4 g + t of a warp is "thread t of group g" in the manual's figures.

#include "vgpu/model/matrix_form.hpp"

namespace rung::vgpu {

struct MatrixPlace {
  int row, column;
  bool operator==(const MatrixPlace&) const = default;
};

inline constexpr int lanes_of_group = 4;
inline constexpr int half_rows = 8;  // of a tile: one row per group of lanes

/// Element `index` of register `reg` in a tile of A with 8 or 16 rows. `packed`: elements per
/// register (PTX ISA, 9.7.14.5).
constexpr MatrixPlace place_in_a(int tile_rows, int packed, int lane, int reg, int index) {
  const int halves = tile_rows / half_rows;
  return {lane / lanes_of_group + half_rows * (reg % halves),
          (lane % lanes_of_group + lanes_of_group * (reg / halves)) * packed + index};
}

/// An element of a tile of B, which has 8 columns.
constexpr MatrixPlace place_in_b(int packed, int lane, int reg, int index) {
  return {(lane % lanes_of_group + lanes_of_group * reg) * packed + index, lane / lanes_of_group};
}

/// An element of a tile of C or D, which has 8 columns.
constexpr MatrixPlace place_in_sum(int packed, int lane, int reg, int index) {
  const int element = reg * packed + index;
  return {lane / lanes_of_group + half_rows * (element / 2),
          lane % lanes_of_group * 2 + element % 2};
}

/// Registers per lane for the sums of a wgmma in a tile of 16 rows and 8 columns: the registers of
/// a tile follow those of the tiles to its left (PTX ISA, 9.7.15.5.1.2).
constexpr int wgmma_tile_registers(MatrixElement sum) { return 4 / per_register(sum); }

/// An element of D of a wgmma with 64 rows, in a thread of the warpgroup.
constexpr MatrixPlace place_in_wgmma_sum(int packed, int thread, int reg, int index) {
  const int registers = 4 / packed;
  const MatrixPlace in_tile = place_in_sum(packed, thread % 32, reg % registers, index);
  return {thread / 32 * 16 + in_tile.row, reg / registers * 8 + in_tile.column};
}

/// Element `index` of a lane of Apple's simdgroup_matrix of 8x8, two per lane.
constexpr MatrixPlace place_in_simdgroup(int lane, int index) {
  return {lane / 16 * 4 + lane / 2 % 4, lane / 8 % 2 * 4 + lane % 2 * 2 + index};
}

}  // namespace rung::vgpu
