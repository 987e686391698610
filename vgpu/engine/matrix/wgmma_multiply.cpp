// The arithmetic of wgmma, compiled for each instruction set.

#include "vgpu/engine/matrix/wgmma.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vgpu/engine/matrix/wgmma_multiply.cpp"
#include "vgpu/engine/lanes/targets.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "vgpu/engine/matrix/fragments-inl.hpp"
#include "vgpu/engine/matrix/transpose_square.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {
namespace {

using Element = MatrixElement;

constexpr int max_tiles = 4;  // of 8 columns, multiplied together

/// Sums of adjacent tiles of D. The registers of a tile follow those of the tiles to its left.
using TileSums = std::array<ProductSums, max_tiles * fragment_columns>;

/// Loads A from up to four registers per lane, in the layout of mma.sync (PTX ISA, 9.7.15.5.1.1).
void load_registers(Warp& warp, const WgmmaOp& op, WgmmaTile& tile) {
  for (std::size_t i = 0; i < op.a_rows.size(); i += 2) {
    columns_of_registers(warp.row<const std::uint32_t>(op.a_rows[i]),
                         warp.row<const std::uint32_t>(op.a_rows[i + 1]),
                         tile.a.data() + i / 2 * lanes_of_group * wgmma_rows, wgmma_rows);
  }
}

/// Adds the sums of products to D. They are integers that are exact in f32.
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

/// D = A B + D, or D = A B, for a range of columns.
void multiply_columns(Warp& warp, const WgmmaOp& op, const SumRule& rule, const ProductRows& a,
                      const ColumnRange& b, bool adds) {
  const TensorProducts& products = tensor_products();
  const int registers = wgmma_tile_registers(op.d);
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

constexpr int a_registers = 4, b_registers = 2, sum_registers = 4;  // per tile, in f32
using FragmentWord = std::array<std::uint32_t, warp_size>;          // one register of all lanes

/// True if summing in the fragment layout may work.
bool fits_fragments(const Warp& warp, const WgmmaOp& op) {
  return (op.a == Element::f16 || op.a == Element::bf16) && op.d == Element::f32 &&
         op.k == fragment_steps && !op.negate_a && !op.negate_b && warp.mask == all_lanes &&
         tensor_products().add_fragments != nullptr;
}

/// Reads 8 x 8 16-bit elements that start at step `step` and line `line` (a row of A or a column of
/// B) of a matrix whose lines are side by side. Lane 4 g + t receives elements 2 t and 2 t + 1 of
/// line g.
void transpose_word(const std::uint32_t* matrix, int lines, int step, int line, FragmentWord& to) {
  const auto* const from = reinterpret_cast<const std::byte*>(matrix);
  constexpr int bytes = 2;
  Square turned;
  transpose_square([&](int i) { return from + ((step + i) * lines + line) * bytes; }, turned);
  std::memcpy(to.data(), turned, sizeof turned);
}

void set_fragment_rows(Warp& warp, const WgmmaOp& op, WgmmaTile& tile) {
  alignas(64) FragmentWord words[a_registers];
  const std::uint32_t* registers[a_registers];
  for (int i = 0; i < a_registers; ++i) {
    registers[i] = op.a_in_registers
                       ? warp.row<const std::uint32_t>(op.a_rows[static_cast<std::size_t>(i)])
                       : words[i].data();
  }
  for (int half = 0; !op.a_in_registers && half < 2; ++half) {  // of the steps
    if (op.transpose_a) {
      transpose_word(tile.a.data(), wgmma_rows, half * 8, 0, words[2 * half]);
      transpose_word(tile.a.data(), wgmma_rows, half * 8, 8, words[2 * half + 1]);
    } else {
      registers_of_columns(tile.a.data() + half * lanes_of_group * wgmma_rows, wgmma_rows,
                           words[2 * half].data(), words[2 * half + 1].data());
    }
  }
  tensor_products().set_fragment_rows(op.a, registers, tile.fragment_rows);
}

void set_fragment_columns(const WgmmaOp& op, WgmmaTile& tile, int first) {
  alignas(64) FragmentWord words[b_registers];
  for (int half = 0; half < b_registers; ++half) {
    if (op.transpose_b) {
      transpose_word(tile.b.data(), op.n, half * 8, first, words[half]);
      continue;
    }
    for (int column = 0; column < fragment_columns; ++column) {
      std::copy_n(tile.b.data() + (first + column) * max_words + half * lanes_of_group,
                  lanes_of_group, words[half].data() + column * lanes_of_group);
    }
  }
  const std::uint32_t* const registers[b_registers] = {words[0].data(), words[1].data()};
  tensor_products().set_fragment_columns(op.b, registers, tile.fragment_columns);
}

/// D = A B + D, or D = A B, for columns from `first` on, until some cannot be summed in this
/// layout. Returns the first of these, or the end.
int multiply_fragments(Warp& warp, const WgmmaOp& op, WgmmaTile& tile, int first, bool adds) {
  alignas(64) static constexpr float zeros[warp_size] = {};
  for (; first < op.n; first += fragment_columns) {
    set_fragment_columns(op, tile, first);
    const std::uint32_t* const rows = op.sums.data() + first / fragment_columns * sum_registers;
    const float* from[sum_registers];
    float* to[sum_registers];
    for (int i = 0; i < sum_registers; ++i) {
      to[i] = warp.row<float>(rows[i]);
      from[i] = adds ? to[i] : zeros;
    }
    if (!tensor_products().add_fragments(tile.fragment_rows, tile.fragment_columns, from, to)) {
      break;
    }
  }
  return first;
}

/// Unpacks A and B for multiply_columns().
void set_operands(Warp& warp, const WgmmaOp& op, const SumRule& rule, WgmmaTile& tile) {
  const TensorProducts& products = tensor_products();
  if (op.a_in_registers) load_registers(warp, op, tile);
  products.set_rows(
      {op.a, op.negate_a, op.transpose_a, op.k, rule.min_exponent_a, false, tile.a.data()},
      tile.rows);
  products.set_columns(
      {op.b, op.negate_b, op.transpose_b, op.k, rule.min_exponent_b, false, tile.b.data()}, op.n,
      tile.columns.elements());
}

void multiply(Warp& warp, const WgmmaOp& op, WgmmaTile& tile, bool adds) {
  const SumRule rule = sum_rule(op.a, op.b, op.d, true);
  const bool in_fragments = fits_fragments(warp, op);
  if (in_fragments) set_fragment_rows(warp, op, tile);
  const int at_once = in_fragments ? fragment_columns : max_tiles * fragment_columns;
  bool are_set = false;
  for (int first = 0; first < op.n; first += at_once) {
    if (in_fragments) first = multiply_fragments(warp, op, tile, first, adds);
    if (first == op.n) return;
    if (!are_set) set_operands(warp, op, rule, tile);
    are_set = true;
    const ProductColumns columns = tile.columns.elements();
    multiply_columns(warp, op, rule, tile.rows, {columns, first, std::min(at_once, op.n - first)},
                     adds);
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
