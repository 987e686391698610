#pragma once
// The bytes of a tensor box in global and in shared memory (PTX ISA, 5.5, "Tensors", tiled mode).

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "vgpu/model/tensor_map.hpp"

namespace rung::vgpu {

using TensorPlace = std::array<std::int32_t, TensorMap::max_dimensions>;

/// Contiguous bytes of the box's innermost dimension, or a single element if it has an element
/// stride: the part inside the tensor, and its position in the box.
struct BoxRow {
  std::uint64_t address = 0;  // in global memory, of the first byte inside the tensor
  std::uint32_t inside = 0;   // bytes inside the tensor
  std::uint32_t skipped = 0;  // bytes of the row that precede them, outside the tensor
  std::uint32_t bytes = 0;    // of the whole row, without padding
  std::uint32_t offset = 0;   // from the start of the box in shared memory, before swizzling
};

/// The rows of the box at a position, which may be outside the tensor.
std::vector<BoxRow> box_rows(const TensorMap& map, const TensorPlace& at);

/// Bytes that a swizzle moves together, at least.
constexpr std::uint32_t chunk_of(TensorSwizzle swizzle) {
  return swizzle == TensorSwizzle::bytes_128_atom_32_flip_8 ? 8 : 16;
}

/// Calls f(offset in shared memory, offset in the row, bytes) for each contiguous piece of a box
/// row in shared memory, for a box at offset `base`.
template <class F>
void for_each_chunk(const TensorMap& map, const BoxRow& row, std::uint32_t base, const F& f) {
  if (is_padded(map.element)) {
    constexpr std::uint32_t chunk = 16;
    const std::uint32_t filled = bytes_of(map.element, chunk);  // 16 elements of a chunk
    for (std::uint32_t done = 0; done < row.bytes; done += filled) {
      f(swizzled(base + row.offset + done / filled * chunk, map.swizzle), done, filled);
    }
    return;
  }
  const bool whole = map.swizzle == TensorSwizzle::none;
  const std::uint32_t chunk = chunk_of(map.swizzle);
  for (std::uint32_t done = 0; done < row.bytes;) {
    const std::uint32_t at = base + row.offset + done;
    const std::uint32_t bytes = whole ? row.bytes : std::min(row.bytes - done, chunk - at % chunk);
    f(swizzled(at, map.swizzle), done, bytes);
    done += bytes;
  }
}

/// Bytes from a row of the box in shared memory to the next.
std::uint32_t box_pitch(const TensorMap& map);

/// Bytes of shared memory that the box covers. Rows narrower than the swizzle span occupy a whole
/// span.
std::uint32_t box_extent(const TensorMap& map);

/// True if the rows are narrower than the swizzle span, so that a copy leaves the bytes between
/// them unchanged.
bool has_gaps(const TensorMap& map);

/// Converts elements as the hardware copy does: tf32 is rounded to nearest, ties to even, as on an
/// H200; subnormals of the flushed types become 0.
void convert_elements(TensorElement element, std::byte* data, std::uint32_t bytes);

}  // namespace rung::vgpu
