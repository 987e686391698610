#pragma once
// Loads the matrices of a tcgen05.mma from shared and tensor memory.

#include <span>

#include "vgpu/engine/async/async_state.hpp"
#include "vgpu/engine/matrix/matrix_descriptor.hpp"
#include "vgpu/engine/tensor_memory/tcgen05.hpp"
#include "vgpu/engine/tensor_memory/tensor_multiply.hpp"

namespace rung::vgpu {

/// Lines of a matrix in one block's shared memory.
struct TensorSource {
  Block& block;
  const char* name;  // "A"
  MatrixDescriptor descriptor;
  TensorElement5 element;
  bool transposed;  // MN-major
  int lines, k;

  /// Bytes of an element of a chunk: those of 4 and 6 bits take one each, but in .kind::mxf4 and mxf4nvf4.
  int element_bits;
  int first_line = 0;              // of the matrix
  bool lines_are_rows = true;      // lines of a box must be rows of its tensor
  const SumCells* sums = nullptr;  // of rows of A
  int per_chunk() const { return 128 / element_bits; }
};

/// Loads the lines into the tile from `first` on. Returns false after a report of a fault.
bool load_lines(const TensorIssue& issue, const TensorSource& source, int first, TensorTile& tile);

/// Loads rows of A from the tensor memory of a block.
bool load_rows(const TensorIssue& issue, Block& block, TensorAddress at,
               const TensorProduct& product, TensorTile& tile);

/// Moves the elements of a sparse A to their positions by the metadata at this address. Returns false after a report.
bool expand_rows(const TensorIssue& issue, Block& block, TensorAddress metadata,
                 const TensorProduct& product, TensorTile& tile);

/// Loads the block scales of rows of A or columns of B.
bool load_scales(const TensorIssue& issue, Block& block, TensorAddress at,
                 const TensorProduct& product, int lines, int first_byte, TensorScales& scales);

}  // namespace rung::vgpu
