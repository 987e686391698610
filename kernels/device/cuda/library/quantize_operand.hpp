#pragma once
// The parameter of the kernel in quantize_operand.cu, and the layout of its result: a bfloat16
// operand in a block format, K-major, with its scales in the order in which tcgen05.cp reads them.

#include <cstdint>

#include "core/block_format.hpp"
#include "core/integers.hpp"
#include "device/cuda/entry/launch.hpp"

namespace rung::cuda {

/// Tiles of scales: 128 rows of A or columns of B and four blocks along k have 512 bytes. Byte
/// 16 (r % 32) + 4 (r / 32) + b belongs to row r and block b of the tile, so that 16 bytes are a
/// lane of four columns of tensor memory. Tiles are ordered by rows, then by k.
/// https://docs.nvidia.com/cuda/parallel-thread-execution/#tcgen05-mma-scale-factor-a-layout-1x
struct ScaleTile {
  static constexpr int rows = 128, blocks = 4, bytes = rows * blocks;

  /// The first byte of the tile of rows from `row` and k-steps from k, both at a tile's start.
  static constexpr std::int64_t offset(BlockFormat format, std::int64_t row_length,
                                       std::int64_t row, std::int64_t k) {
    const std::int64_t steps = std::int64_t{blocks} * elements_of_block(format);
    return (row / rows * (padded(format, row_length) / steps) + k / steps) * bytes;
  }
  /// A number of k-steps, rounded up to whole rows of 128 bytes of elements, which have whole tiles.
  static constexpr std::int64_t padded(BlockFormat format, std::int64_t row_length) {
    return round_up(row_length, std::int64_t{128 * 8 / bits_of_element(format)});
  }
};

struct QuantizeOperand {
  static constexpr int threads = 128;

  const void* from;  // bfloat16
  void* to;          // rows of bytes_in_row(), padded with zeros
  void* scales;      // ScaleTiles, padded with zeros
  std::int64_t row_length, rows;
  std::int64_t from_row, from_k;  // strides in elements
  BlockFormat format;

  static constexpr std::int64_t bytes_in_row(BlockFormat format, std::int64_t row_length) {
    return ScaleTile::padded(format, row_length) * bits_of_element(format) / 8;
  }
  static constexpr std::int64_t bytes_of_scales(BlockFormat format, std::int64_t row_length,
                                                std::int64_t rows) {
    return round_up(rows, std::int64_t{ScaleTile::rows}) * ScaleTile::padded(format, row_length) /
           elements_of_block(format);
  }
};

/// The tensor map of a bfloat16 operand in a block format. A box has 128 bytes of k-steps of
/// `box_rows` rows of A or columns of B. It is marked as in digits; no other map of elements of
/// 16 bits is.
template <class T>
constexpr TensorMapSpec quantized_map(BlockFormat format, const Matrix<const T>& x,
                                      std::int64_t extent, std::int64_t k, int box_rows) {
  const bool is_k_major = x.col_stride == 1;
  return {.data = x.data,
          .element_bytes = sizeof(T),
          .row_length = k,
          .rows = extent,
          .ld = is_k_major ? x.row_stride : x.col_stride,
          .box_row_length = 128 * 8 / bits_of_element(format),
          .box_rows = box_rows,
          .is_transposed = !is_k_major,
          .is_in_digits = true};
}

/// The format of a map's operand.
constexpr BlockFormat block_format(const TensorMapSpec& spec) {
  if (!spec.is_in_digits || spec.element_bytes != 2 || spec.is_split) return BlockFormat::none;
  return spec.box_row_length == 128 ? BlockFormat::mxfp8 : BlockFormat::nvfp4;
}

}  // namespace rung::cuda
