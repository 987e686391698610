#pragma once
// Costs of bf16 and int8 products on a CPU with AMX: gemm/cpu/amx, whose instructions multiply tiles, and
// gemm/cpu/dot_products, whose dot-product instructions are faster for few rows and for very small products. They are
// counted from the kernels' instructions.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "device/cpu/cost/terms.hpp"
#include "device/cpu/machine.hpp"
#include "device/cpu/narrow_loops.hpp"

namespace rung {
namespace cost::groups {

inline double parts(std::int64_t whole, std::int64_t part) {
  return static_cast<double>((whole + part - 1) / part);
}

/// Elements of k in 32 bits.
inline std::int64_t group_of(const GemmShape& shape) { return shape.dtype == Dtype::i8 ? 4 : 2; }

inline double bytes_of(const GemmShape& shape, std::int64_t rows, std::int64_t cols) {
  return static_cast<double>(rows) * static_cast<double>(cols) * (shape.dtype == Dtype::i8 ? 1 : 2);
}

/// The cost, or the time to read the bytes from beyond L2 if that is longer.
inline double with_reading(double cost, double bytes, double cycles_per_byte) {
  if (bytes < static_cast<double>(cpu::machine().caches.l2)) return cost;
  return std::max(cost, bytes * cycles_per_byte);
}

/// Dot products of `rows` contiguous rows, a few at a time, and `cols` columns. `copies`: the columns are
/// copied element by element.
inline double narrow_dots(const GemmShape& shape, std::int64_t rows, std::int64_t cols,
                          bool copies) {
  constexpr double call = 40, tile = 16, sum = 3, element = 1.3, byte = 0.13;
  const bool is_i8 = shape.dtype == Dtype::i8;
  const double dot_product = is_i8 ? 1 : 2;  // cycles for 512 bits
  const auto m = static_cast<double>(rows), n = static_cast<double>(cols);
  const double copy = copies ? element * n * static_cast<double>(shape.k) : 0;
  const double tiles = parts(rows, cols == 1 ? 8 : 4);
  const double cost =
      call + copy + tiles * tile + m * n * (sum + dot_product * parts(shape.k, is_i8 ? 64 : 32));
  return with_reading(cost, bytes_of(shape, rows, shape.k), byte);
}

/// Sums of contiguous rows of a matrix of `cols` columns for few rows of the other.
inline double row_sums(const GemmShape& shape, std::int64_t rows, std::int64_t cols) {
  constexpr double call = 50, byte = 0.11;
  // Four rows of int8 take twice as many instructions to interleave as two of bf16, for twice as
  // many columns.
  const bool is_i8 = shape.dtype == Dtype::i8;
  const auto m = static_cast<double>(rows);
  const double step = is_i8 ? 8 + 11 * m : 5 + 5 * m;
  const double cost = call + parts(shape.k, group_of(shape)) * parts(cols, is_i8 ? 64 : 32) * step;
  return with_reading(cost, bytes_of(shape, cols, shape.k), byte);
}

/// Cost of the loops for few rows or columns; infinite for a C of more rows and columns.
inline double narrow(const GemmShape& shape) {
  constexpr double element_of_c = 4;  // to transpose it
  const bool a_by_rows = shape.a == Order::row_major, b_by_rows = shape.b == Order::row_major;
  const auto [m, n] = std::pair(shape.m, shape.n);
  switch (cpu::narrow_loop(m, n, a_by_rows, !a_by_rows, b_by_rows, !b_by_rows)) {
    case cpu::NarrowLoop::none: return infinite;
    case cpu::NarrowLoop::dots: return narrow_dots(shape, m, n, n > 1 && b_by_rows);
    case cpu::NarrowLoop::transposed_dots: return narrow_dots(shape, n, m, m > 1 && !a_by_rows);
    case cpu::NarrowLoop::row_sums: return row_sums(shape, m, n);
    case cpu::NarrowLoop::column_sums: break;
  }
  return row_sums(shape, n, m) + element_of_c * static_cast<double>(m) * static_cast<double>(n);
}

/// Reading tiles of A in place: with one strip of columns, nothing hides it.
inline double reading_a_once(const GemmShape& shape) {
  constexpr double byte_in_l2 = 0.1, byte_beyond = 0.18;
  const cpu::Caches& caches = cpu::machine().caches;
  const double bytes = bytes_of(shape, shape.m, shape.k);
  if (bytes <= static_cast<double>(caches.l1)) return 0;
  return bytes * (bytes <= static_cast<double>(caches.l2) ? byte_in_l2 : byte_beyond);
}

}  // namespace cost::groups

/// gemm/cpu/amx.
inline double cost_of_tiles(const GemmShape& shape) {
  using namespace cost::groups;
  constexpr double call = 600;       // most of it to configure the tiles
  constexpr double product = 16;     // of two tiles
  constexpr double fill = 85;        // of two tiles of B, beyond what the products hide
  constexpr double sums_to_c = 250;  // of four tiles
  const double steps = parts(shape.k, 16 * group_of(shape));
  const double strips = parts(shape.n, 32), blocks = strips * parts(shape.m, 32);
  const double products = blocks * (shape.m > 16 ? 2 : 1) * (shape.n > 16 ? 2 : 1);
  constexpr double byte = 0.15;  // by lines of many rows of B
  double cost = call + strips * steps * fill + products * steps * product + blocks * sums_to_c;
  const std::int64_t depth = 16 * group_of(shape);
  constexpr double last_step = 200;  // of 32 rows of A, copied if k ends inside a tile
  if (shape.k % depth != 0) cost += parts(shape.m, 32) * last_step;
  if (shape.a == Order::col_major) {
    const double transposing = shape.dtype == Dtype::i8 ? 300 : 480;  // of two tiles of A
    cost += parts(shape.m, 32) * steps * transposing;
  } else if (strips == 1) {
    cost += reading_a_once(shape);
  }
  return with_reading(cost, bytes_of(shape, shape.n, shape.k), byte);
}

/// gemm/cpu/dot_products.
inline double cost_of_dot_products(const GemmShape& shape) {
  using namespace cost::groups;
  const double of_narrow = narrow(shape);
  if (of_narrow < cost::infinite) return of_narrow;
  constexpr std::int64_t tile_rows = 14, tile_cols = 32;
  constexpr double call = 450;
  const double tile = shape.n % tile_cols == 0 ? 60 : 250;  // columns of C one by one
  constexpr double dot_product = 2;  // cycles for 512 bits: CPUs with AMX have one unit for them
  const double rows = static_cast<double>(std::min(shape.m, tile_rows));
  const double vectors = shape.n > tile_cols / 2 ? 2 : 1;
  const double a_element = shape.dtype == Dtype::i8 ? 3 : 2;  // to pack it by columns
  const double packing = shape.a == Order::row_major ? 0
                                                     : a_element * static_cast<double>(shape.m) *
                                                           static_cast<double>(shape.k);
  return call + packing +
         parts(shape.m, tile_rows) * parts(shape.n, tile_cols) *
             (tile + rows * vectors * dot_product * parts(shape.k, group_of(shape)));
}

}  // namespace rung
