#pragma once
// Micro-kernels on dot-product instructions, for element types narrower than their sums: each lane
// multiplies a group of consecutive k-elements and adds all products to one sum.

#include <cstdint>

#include "core/problem.hpp"
#include "device/cpu/micro_kernels.hpp"

namespace rung::cpu {

/// Consecutive k-elements of a row of A or a column of B: two of 16 bits or four of 8, the first in
/// the low bits, padded with zeros beyond K.
using KGroup = std::uint32_t;

/// panel[step * width + c] is the group of matrix(k, c) for k from step * group, for c < valid; it
/// is 0 for other c < width. One stride of the matrix is 1.
template <class In>
using PackGroups = void (*)(std::int64_t k, const Matrix<const In>& matrix, std::int64_t valid,
                            std::int64_t width, KGroup* panel);

/// Packs elements without conversion. In is bfloat16 or std::int8_t.
template <class In>
PackGroups<In> pack_groups();
template <>
PackGroups<bfloat16> pack_groups<bfloat16>();
template <>
PackGroups<std::int8_t> pack_groups<std::int8_t>();

template <class In, class Acc>
struct DotKernels {
  static constexpr int max_rows = 14;
  using Tiles = TileFunction<KGroup, Acc>[max_rows][2];  // [rows - 1][vectors - 1]

  std::int64_t group;  // elements per KGroup
  std::int64_t MR;     // rows of the largest tile
  std::int64_t lanes;  // columns per vector
  std::int64_t NR;     // columns of the largest tile: two vectors

  Tiles packed_a;  // packed A: a_stride is the distance between k-steps, in groups
  Tiles direct_a;  // row-major A with K a multiple of the group: a_stride is the distance between
                   // rows, in bytes. Null if packing converts elements

  PackGroups<In> pack_a;  // packs the transpose of A
  PackGroups<In> pack_b;
  /// start[i] is the initial sum of row i, for a block of A with k columns. Null: sums start from
  /// 0.
  void (*start_rows)(std::int64_t k, const Matrix<const In>& a, std::int64_t rows, Acc* start);
};

/// The kernels for this machine, or null if it has no such instruction. For int8 there are always
/// kernels.
template <class In, class Acc>
const DotKernels<In, Acc>* dot_kernels() {
  return nullptr;
}
template <>
const DotKernels<bfloat16, float>* dot_kernels<bfloat16, float>();
template <>
const DotKernels<std::int8_t, std::uint32_t>* dot_kernels<std::int8_t, std::uint32_t>();

}  // namespace rung::cpu
