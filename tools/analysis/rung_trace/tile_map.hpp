#pragma once
// Maps each element of a block's tile of C to the thread that computes it, derived from stores.

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
  std::vector<int> thread;  // per element, row-major; -1 if not stored by this block

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
