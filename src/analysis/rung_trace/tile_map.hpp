#pragma once
// Which thread of a block computes which element of its tile of C, derived from its stores.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "vgpu/model/access_watch.hpp"

namespace rung {

/// C (row-major, contiguous columns) in the virtual GPU's memory.
struct CInMemory {
  std::uint64_t address;
  std::int64_t rows, cols, row_stride;  // in elements
  std::uint32_t element_bytes;
};

/// The tile of the block that stores C(0, 0).
struct TileMap {
  int rows = 0, cols = 0;
  std::vector<int> thread;  // per element, row by row; -1: not stored by that block

  int warps() const;
  /// The extent of the elements stored by threads [first, last]: rows, columns, and their number.
  struct Extent {
    int rows, cols, elements;
  };
  Extent extent(int first, int last) const;
};

/// Empty if no thread stores C(0, 0).
std::optional<TileMap> tile_map(std::span<const vgpu::WarpAccess> stores, const CInMemory& c);

}  // namespace rung
