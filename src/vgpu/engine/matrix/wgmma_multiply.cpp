// The arithmetic of wgmma, compiled for each instruction set.

#include "vgpu/engine/matrix/wgmma.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vgpu/engine/matrix/wgmma_multiply.cpp"
#include "vgpu/engine/lanes/targets.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "vgpu/engine/matrix/fragments-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {
namespace {

using Element = MatrixElement;

constexpr int most_tiles = 4;  // of 8 columns, multiplied at once

/// Sums of adjacent tiles of D. A tile has its registers after those of the tiles to its left.
using TileSums = std::array<ProductSums, most_tiles * fragment_columns>;

/// Takes A from up to four registers per lane, in the layout of mma.sync (PTX ISA, 9.7.15.5.1.1).
void load_registers(Warp& warp, const WgmmaOp& op, WgmmaTile& tile) {
  for (std::size_t i = 0; i < op.a_rows.size(); i += 2) {
    columns_of_registers(warp.row<const std::uint32_t>(op.a_rows[i]),
                         warp.row<const std::uint32_t>(op.a_rows[i + 1]),
                         tile.a.data() + i / 2 * lanes_of_group * wgmma_rows, wgmma_rows);
  }
}

/// Adds the sums of products, integers that are exact in f32, to D.
void store_integers(Warp& warp, const WgmmaOp& op, const std::uint32_t* rows, bool adds,
                    ProductSums* sums) {
  for (int half = 0; half < 2; ++half) {
    for (int odd = 0; odd < 2; ++odd) {
      float products[warp_size];
      register_of_columns(column_of(sums, odd, half), 2 * product_rows, products);
      auto* const row = warp.row<std::int32_t>(rows[2 * half + odd]);
      for (int lane = 0; lane < warp_size; ++lane) {
        const std::int64_t sum = static_cast<std::int64_t>(products[lane]) + (adds ? row[lane] : 0);
        const std::int64_t stopped = std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX);
        row[lane] = static_cast<std::int32_t>(op.saturating ? stopped : sum);
      }
    }
  }
}

/// D = A B + D, or A B, for some of its columns.
void multiply_columns(Warp& warp, const WgmmaOp& op, const SumRule& rule, const ProductRows& a,
                      const ColumnRange& b, bool adds) {
  const TensorProducts& products = tensor_products();
  const int registers = op.d == Element::f16 ? 2 : 4;  // of a tile
  const auto rows_of = [&](int column) {
    return op.sums.data() + (b.first + column) / fragment_columns * registers;
  };
  alignas(64) TileSums sums;
  const auto for_each_tile = [&](const auto& f) {
    for (int column = 0; column < b.count; column += fragment_columns) {
      f(rows_of(column), sums.data() + column);
    }
  };
  if (!adds || op.d == Element::s32) std::fill_n(sums.begin(), b.count, ProductSums{});
  if (op.d == Element::s32) {
    products.add_integers(op.k, a, b, sums.data());
    for_each_tile([&](const std::uint32_t* rows, ProductSums* of_tile) {
      store_integers(warp, op, rows, adds, of_tile);
    });
    return;
  }
  if (adds) {
    for_each_tile([&](const std::uint32_t* rows, ProductSums* of_tile) {
      load_sums({warp, op.d, 2, rows}, of_tile);
    });
  }
  products.add_floats(rule, op.k, a, b, sums.data());
  for_each_tile([&](const std::uint32_t* rows, ProductSums* of_tile) {
    store_sums({warp, op.d, 2, rows}, of_tile);
  });
}

void multiply(Warp& warp, const WgmmaOp& op, WgmmaTile& tile, bool adds) {
  const TensorProducts& products = tensor_products();
  const SumRule rule = sum_rule(op.a, op.b, op.d, true);
  if (op.a_in_registers) load_registers(warp, op, tile);
  products.set_rows(
      {op.a, op.negate_a, op.transpose_a, op.k, rule.min_exponent_a, false, tile.a.data()},
      tile.rows);
  const ProductColumns columns = tile.columns.elements();
  products.set_columns(
      {op.b, op.negate_b, op.transpose_b, op.k, rule.min_exponent_b, false, tile.b.data()}, op.n,
      columns);
  constexpr int most_columns = most_tiles * fragment_columns;
  for (int first = 0; first < op.n; first += most_columns) {
    const int count = std::min(most_columns, op.n - first);
    multiply_columns(warp, op, rule, tile.rows, {columns, first, count}, adds);
  }
}

}  // namespace
}  // namespace rung::vgpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rung::vgpu {

WgmmaMultiply wgmma_multiply() { return RUNG_PICK_LANES(multiply); }

}  // namespace rung::vgpu
#endif
