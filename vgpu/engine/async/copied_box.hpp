#pragma once
// The part of a tensor that one cp.async.bulk.tensor copies: a box, rows of one box each, or a column of pixels.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "vgpu/engine/async/tensor_box.hpp"

namespace rung::vgpu {

struct CopiedBox {
  static constexpr std::size_t picked_rows = 4;  // of .tile::gather4 and ::scatter4

  TensorMap map;
  TensorPlace at{};
  // The boxes of one row at these rows, one after the other (PTX ISA, 5.5.3.2, "Tiled::gather4 mode").
  bool picks_rows = false;
  std::array<std::int32_t, picked_rows> rows{};
  // Added to the coordinates of pixels: the position in the filter (5.5.4.1, "Bounding Box"), or wOffset (5.5.5.4).
  std::array<std::int32_t, TensorMap::max_spatial> offsets{};
  std::int32_t halo = 0;  // wHalo: pixels that follow each run (5.5.5.3)

  std::uint32_t boxes() const { return picks_rows ? picked_rows : 1; }
  /// Bytes of shared memory that it covers, with the gaps between its rows.
  std::uint32_t extent() const;
  /// Bytes that a load signals to its mbarrier: without the padding of elements of 4 and 6 bits.
  std::uint32_t signalled_bytes() const;

  /// Pixels of a run, which a halo follows, and all pixels with halos.
  std::uint32_t pixels_of_run() const;
  std::uint32_t pixels() const;
};

/// The rows that are copied, in their order in shared memory; a pixel is a row.
std::vector<BoxRow> rows_of(const CopiedBox& box);

/// A message about the first coordinate outside of the bounding box; empty if all are inside.
std::string position_error(const CopiedBox& box);

}  // namespace rung::vgpu
