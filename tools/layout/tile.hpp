#pragma once
// A tile of shared memory that TMA boxes fill, and the matrix descriptor that fits it.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "vgpu/layout.hpp"

namespace rung::layout {

using vgpu::layout::Chunk;
using vgpu::layout::Descriptor;

/// A box of these extents, innermost first, as cuTensorMapEncodeTiled encodes it. Throws
/// std::invalid_argument with the driver's message if it refuses.
vgpu::TensorMap make_box(vgpu::MatrixElement type, const std::vector<int>& extents,
                         vgpu::TensorSwizzle swizzle);

/// Bounding box and traversal stride of a column of pixels, in the order of W, H, D.
struct PixelBox {
  std::vector<std::int32_t> lower, upper;
  int step = 1;
};
/// A column of box[1] pixels of box[0] channels, as cuTensorMapEncodeIm2col encodes it for images of these extents: W, H,
/// D and their number. Throws std::invalid_argument with what the driver refuses.
vgpu::TensorMap make_pixels(vgpu::MatrixElement type, const std::vector<int>& box,
                            const std::vector<int>& image, const PixelBox& pixels,
                            vgpu::TensorSwizzle swizzle);

/// Boxes one after the other in shared memory, first along the outer dimension. The innermost
/// dimension is k if K-major, and m or n if MN-major.
struct Tile {
  vgpu::TensorMap box;  // shape, element type and swizzle; of two dimensions if it has an operand
  std::uint32_t address = 0;  // of the first box in shared memory
  int inner = 0, outer = 0;   // elements of the tile

  int boxes_along_inner() const { return (inner + box.box[0] - 1) / box.box[0]; }
  int boxes_along_outer() const { return (outer + box.box[1] - 1) / box.box[1]; }
  /// The bytes before an element, without the swizzle.
  std::uint32_t offset(int inner_index, int outer_index) const;
  /// Chunk::at counts from the tile's first element.
  std::vector<Chunk> chunks() const;
};

/// The part of a tile that an instruction reads: `lines` rows of A or columns of B, by k from
/// `first_k` on.
struct Part {
  vgpu::MatrixElement type;
  bool transposed;  // MN-major
  int lines, k, first_k;
};

/// The descriptor for which the instruction reads that part, if there is one.
Descriptor fitting(const Tile& tile, const Part& part);

/// One chunk that is not where the descriptor expects it. `found` is empty if no box wrote there.
struct Misplaced {
  int line, k;                               // wanted
  std::uint32_t address;                     // read
  std::optional<std::pair<int, int>> found;  // line and k of what is there
};

struct Fit {
  int chunks = 0, wrong = 0;
  std::optional<Misplaced> first;  // of the wrong ones
};
/// Compares the chunks that a descriptor reads with those that the boxes wrote.
Fit compare(const Tile& tile, const Part& part, const Descriptor& descriptor);

/// Why a descriptor does not fit, and what would, one cause a line: each field that alone makes it
/// fit, otherwise all fields that differ. Empty if it fits.
std::vector<std::string> causes(const Tile& tile, const Part& part, const Descriptor& descriptor);

/// "swizzle 128 B", "no swizzle".
std::string text_of(vgpu::TensorSwizzle swizzle);
/// "start 0x20, LBO 16 (not used), SBO 1024, base offset 0, swizzle 128 B".
std::string text_of(const Descriptor& descriptor, bool transposed, int lines,
                    vgpu::MatrixElement type);

}  // namespace rung::layout
