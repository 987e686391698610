#pragma once
// The loads or stores that wmma.load and wmma.store consist of: those that ptxas (CUDA 13.0, for
// sm_80 and sm_90) makes of them, so that sectors and bank conflicts are the machine's.

#include <array>
#include <optional>
#include <vector>

#include "vgpu/engine/matrix/wmma_layout.hpp"
#include "vgpu/model/warp.hpp"

namespace rung::vgpu {

/// How elements come from memory to where the fragment has them.
enum class WmmaPath : std::uint8_t {
  direct,      // registers as they lie in memory
  transposed,  // those of 16 bits that lie crosswise: 8x8 matrices, through movmatrix
  by_element,  // those of 8 bits that lie crosswise: one by one
};

/// One load or store of each lane, of whole registers or of one element.
struct WmmaAccess {
  int reg;                                    // the first register
  int registers;                              // 1 or 2, side by side in memory
  int element_index;                          // by_element: of the register
  std::array<MatrixPlace, warp_size> places;  // by lane: of the first element in memory
};

struct WmmaAccesses {
  WmmaPath path;
  int distinct;  // registers; the fragment's others repeat them from the first on
  std::vector<WmmaAccess> accesses;
};

/// Nothing if there is no such form: elements of four bits do not lie crosswise.
std::optional<WmmaAccesses> wmma_accesses(const WmmaLayout& layout, bool column_major);

}  // namespace rung::vgpu
