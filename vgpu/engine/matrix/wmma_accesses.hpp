#pragma once
// The loads and stores that make up wmma.load and wmma.store. They are those that ptxas generates
// (CUDA 13.0, sm_80 and sm_90), so that sectors and bank conflicts match the hardware.

#include <array>
#include <optional>
#include <vector>

#include "vgpu/engine/matrix/wmma_layout.hpp"
#include "vgpu/model/warp.hpp"

namespace rung::vgpu {

/// How elements are transferred between memory and their positions in the fragment.
enum class WmmaPath : std::uint8_t {
  direct,      // registers have the layout of memory
  transposed,  // 16-bit elements of the other major order: 8x8 matrices, with movmatrix
  by_element,  // 8-bit elements of the other major order: one by one
};

/// One load or store per lane, of whole registers or of a single element.
struct WmmaAccess {
  int reg;                                    // the first register
  int registers;                              // 1 or 2, adjacent in memory
  int element_index;                          // by_element: index within the register
  std::array<MatrixPlace, warp_size> places;  // by lane: the first element in memory
};

struct WmmaAccesses {
  WmmaPath path;
  int distinct;  // number of registers; the others of the fragment repeat them in order
  std::vector<WmmaAccess> accesses;
};

/// Returns nullopt for forms that do not exist: 4-bit elements have only one major order.
std::optional<WmmaAccesses> wmma_accesses(const WmmaLayout& layout, bool column_major);

}  // namespace rung::vgpu
