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

template <class In, class Acc>
struct DotKernels {
  static constexpr int max_rows = 14;

  std::int64_t group;   // elements of a KGroup
  std::int64_t MR;      // rows of the largest tile
  std::int64_t lanes;   // columns per vector
  std::int64_t NR;      // columns of the largest tile: two vectors
  std::int64_t header;  // steps at the start of a panel of B, before those of k: 0 or 1

  TileFunction<KGroup, Acc> tiles[max_rows][2];  // [rows - 1][vectors - 1], with A packed

  /// panel[step * width + c] = the group of matrix(step * group, c), (step * group + 1, c), … for c
  /// < valid, else 0. One stride of the matrix is 1. A is packed as its transpose.
  void (*pack_a)(std::int64_t k, const Matrix<const In>& matrix, std::int64_t valid,
                 std::int64_t width, KGroup* panel);
  /// The same after a header of `header` steps.
  void (*pack_b)(std::int64_t k, const Matrix<const In>& matrix, std::int64_t valid,
                 std::int64_t width, KGroup* panel);

  /// The micro-kernel for a tile of `rows` (1 to MR) by `cols` (1 to NR).
  TileFunction<KGroup, Acc> tile(std::int64_t rows, std::int64_t cols) const {
    return tiles[rows - 1][cols > lanes];
  }
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
