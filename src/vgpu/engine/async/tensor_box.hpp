#pragma once
// The bytes of a tensor's box, in global and in shared memory (PTX ISA, 5.5, "Tensors", tiled
// mode).

#include <array>
#include <cstdint>
#include <vector>

#include "vgpu/model/tensor_map.hpp"

namespace rung::vgpu {

using TensorPlace = std::array<std::int32_t, TensorMap::most_dimensions>;

/// Neighbouring bytes of the box's innermost dimension: what of them lies in the tensor, and where
/// the box has them. Of a box with element strides, one element.
struct BoxRow {
  std::uint64_t address = 0;  // global, of the first byte inside the tensor
  std::uint32_t inside = 0;   // bytes
  std::uint32_t skipped = 0;  // bytes of the row before those: outside
  std::uint32_t bytes = 0;    // of the row
  std::uint32_t offset = 0;   // from the box's beginning in shared memory, before swizzling
};

/// Of the box that begins at that place, which may lie outside.
std::vector<BoxRow> box_rows(const TensorMap& map, const TensorPlace& at);

/// Bytes of shared memory that the box covers: rows narrower than the swizzle's span take all of
/// it.
std::uint32_t box_extent(const TensorMap& map);

/// What the copy makes of the elements on the way: tf32 is rounded, to nearest with ties to even,
/// as an H200 does; subnormals of the flushed types become 0.
void convert_elements(TensorElement element, std::byte* data, std::uint32_t bytes);

}  // namespace rung::vgpu
