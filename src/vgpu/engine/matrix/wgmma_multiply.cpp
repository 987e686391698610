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

/// Sums of a tile of D, which has its registers after those of the tiles to its left.
using TileSums = std::array<ProductSums, fragment_columns>;

/// Takes A from up to four registers per lane, in the layout of mma.sync (PTX ISA, 9.7.15.5.1.1).
void load_registers(Warp& warp, const WgmmaOp& op, WgmmaTile& tile) {
  for (std::size_t i = 0; i < op.a_rows.size(); ++i) {
    const std::size_t word = i / 2 * lanes_of_group, row = i % 2 * fragment_groups;
    columns_of_register(warp.row<const std::uint32_t>(op.a_rows[i]),
                        tile.a.data() + word * wgmma_rows + row, wgmma_rows);
  }
}

/// Adds the sums of products, integers that are exact in f32, to D.
void store_integers(Warp& warp, const WgmmaOp& op, const std::uint32_t* rows, bool adds,
                    TileSums& sums) {
  for (int half = 0; half < 2; ++half) {
    for (int odd = 0; odd < 2; ++odd) {
      float products[warp_size];
      register_of_columns(column_of(sums.data(), odd, half), 2 * product_rows, products);
      auto* const row = warp.row<std::int32_t>(rows[2 * half + odd]);
      for (int lane = 0; lane < warp_size; ++lane) {
        const std::int64_t sum = static_cast<std::int64_t>(products[lane]) + (adds ? row[lane] : 0);
        const std::int64_t stopped = std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX);
        row[lane] = static_cast<std::int32_t>(op.saturating ? stopped : sum);
      }
    }
  }
}

void multiply(Warp& warp, const WgmmaOp& op, WgmmaTile& tile, bool adds) {
  const TensorProducts& products = tensor_products();
  const SumRule rule = sum_rule(op.a, op.b, op.d, true);
  if (op.a_in_registers) load_registers(warp, op, tile);
  products.set_rows(
      {op.a, op.negate_a, op.transpose_a, op.k, rule.min_exponent_a, false, tile.a.data()},
      tile.rows);
  products.set_columns(
      {op.b, op.negate_b, op.transpose_b, op.k, rule.min_exponent_b, false, tile.b.data()}, op.n,
      tile.columns);
  const int registers = op.d == Element::f16 ? 2 : 4;  // of a tile
  for (int first = 0; first < op.n; first += fragment_columns) {
    const std::uint32_t* const rows = op.sums.data() + first / fragment_columns * registers;
    const ColumnRange columns{tile.columns, first, fragment_columns};
    alignas(64) TileSums sums = {};
    if (op.d == Element::s32) {
      products.add_integers(op.k, tile.rows, columns, sums.data());
      store_integers(warp, op, rows, adds, sums);
      continue;
    }
    const SumTile of_d{warp, op.d, 2, rows};
    if (adds) load_sums(of_d, sums.data());
    products.add_floats(rule, op.k, tile.rows, columns, sums.data());
    store_sums(of_d, sums.data());
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
