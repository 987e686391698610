#pragma once
// Which element of a matrix a register of a wmma fragment holds. The PTX ISA leaves it open
// (9.7.14.4.1); here fragments consist of the tiles of mma.sync, row of tiles by row of tiles, and
// where there are more registers than elements (A and B of f16) they begin again with the first. It
// does not depend on whether the matrix lies row by row or column by column in memory.

#include <optional>

#include "vgpu/model/matrix_form.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

struct MatrixPlace {
  int row, column;
  bool operator==(const MatrixPlace&) const = default;
};

/// A fragment of A, B, or C and D, which share a layout.
enum class WmmaFragment : std::uint8_t { a, b, sum };

struct WmmaLayout {
  WmmaFragment fragment;
  MatrixElement element;
  int rows, columns;  // of the matrix
  int registers;      // of a lane; 64 bits each for f64, else 32
  int per_register;   // elements, from the low bits up

  /// What `element_index` of a lane's register holds. Several may hold the same.
  MatrixPlace place(int lane, int reg, int element_index) const;
};

/// What wmma.load.{a,b,c} or wmma.store.d moves; nothing if it is another instruction or has no
/// such form.
std::optional<WmmaLayout> wmma_layout(const ptx::Instruction& instruction);

}  // namespace rung::vgpu
