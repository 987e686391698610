#pragma once
// The bytes of a tensor's box, in global and in shared memory (PTX ISA, 5.5, "Tensors", tiled
// mode).

#include <array>
#include <cstdint>
#include <vector>

#include "vgpu/model/tensor_map.hpp"

namespace rung::vgpu {

using TensorPlace = std::array<std::int32_t, TensorMap::most_dimensions>;

/// Contiguous bytes of the box's innermost dimension, or a single element if it has an element
/// stride: the part inside the tensor, and its position in the box.
struct BoxRow {
  std::uint64_t address = 0;  // global, of the first byte inside the tensor
  std::uint32_t inside = 0;   // bytes
  std::uint32_t skipped = 0;  // bytes of the row before those: outside
  std::uint32_t bytes = 0;    // of the row
  std::uint32_t offset = 0;   // from the box's beginning in shared memory, before swizzling
};

/// The rows of the box at that position, which may be outside the tensor.
std::vector<BoxRow> box_rows(const TensorMap& map, const TensorPlace& at);

/// Bytes of shared memory that the box covers. Rows that are narrower than the swizzle's span
/// occupy the whole span.
std::uint32_t box_extent(const TensorMap& map);

/// Whether its rows are narrower than the swizzle's span, so that a copy leaves bytes between them as they
/// are.
bool has_gaps(const TensorMap& map);

/// Converts elements as the copy does: tf32 is rounded to nearest, ties to even, as on an H200;
/// subnormals of the flushed types become 0.
void convert_elements(TensorElement element, std::byte* data, std::uint32_t bytes);

}  // namespace rung::vgpu
