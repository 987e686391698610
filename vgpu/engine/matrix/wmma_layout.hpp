#pragma once
// The layout of wmma fragments, which the PTX ISA leaves unspecified (9.7.14.4.1). Here, fragments
// consist of the tiles of mma.sync in row-major order. If there are more registers than elements (A
// and B of f16), the elements repeat from the first on. The layout does not depend on the major
// order of the matrix in memory.

#include <optional>

#include "vgpu/engine/matrix/fragment_places.hpp"
#include "vgpu/model/matrix_form.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// The fragment of A, of B, or of C and D, which share a layout.
enum class WmmaFragment : std::uint8_t { a, b, sum };

struct WmmaLayout {
  WmmaFragment fragment;
  MatrixElement element;
  int rows, columns;  // of the matrix
  int registers;      // per lane; 64 bits each for f64, otherwise 32
  int per_register;   // elements per register, starting at the low bits

  /// The position of element `element_index` of a lane's register. Several registers may hold the
  /// same element.
  MatrixPlace place(int lane, int reg, int element_index) const;
};

/// The layout of a fragment of mma.sync or wmma.mma.
WmmaLayout fragment_layout(WmmaFragment fragment, const MatrixForm& form);

/// The layout of a wmma.load.{a,b,c} or wmma.store.d; nullopt for other instructions and unknown
/// forms.
std::optional<WmmaLayout> wmma_layout(const ptx::Instruction& instruction);

}  // namespace rung::vgpu
