#pragma once
// Micro-kernels on dot-product instructions, for types narrower than their sums: each lane
// multiplies a group of consecutive k and adds all the products to one sum.

#include <cstdint>

#include "core/problem.hpp"
#include "device/cpu/micro_kernels.hpp"

namespace rung::cpu {

/// Consecutive k of a row of A or of a column of B: two elements of 16 bits or four of 8, the first
/// in the low bits. Beyond K they are 0.
using KGroup = std::uint32_t;

/// panel[step * width + c] is the group of matrix(k, c) for k from step * group on, for c < valid;
/// it is 0 for other c < width. One stride of the matrix is 1.
template <class In>
using PackGroups = void (*)(std::int64_t k, const Matrix<const In>& matrix, std::int64_t valid,
                            std::int64_t width, KGroup* panel);

/// Packs elements as they are. In is bfloat16 or std::int8_t.
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

  std::int64_t group;  // elements of a KGroup
  std::int64_t MR;     // rows of the largest tile
  std::int64_t lanes;  // columns per vector
  std::int64_t NR;     // columns of the largest tile: two vectors

  Tiles packed_a;  // A is packed: a_stride in groups, from step to step
  Tiles direct_a;  // A is row-major and K a multiple of the group: a_stride in bytes, between rows.
                   // Null if packing converts elements

  PackGroups<In> pack_a;  // of the transpose of A
  PackGroups<In> pack_b;
  /// start[i] = what the sums of row i start from, for a block of A of k columns. Null: from 0.
  void (*start_rows)(std::int64_t k, const Matrix<const In>& a, std::int64_t rows, Acc* start);
};

/// The set for this machine, or null if it has no such instruction. For int8 there always is one.
template <class In, class Acc>
const DotKernels<In, Acc>* dot_kernels() {
  return nullptr;
}
template <>
const DotKernels<bfloat16, float>* dot_kernels<bfloat16, float>();
template <>
const DotKernels<std::int8_t, std::uint32_t>* dot_kernels<std::int8_t, std::uint32_t>();

}  // namespace rung::cpu
