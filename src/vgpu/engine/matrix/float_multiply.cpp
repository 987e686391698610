// mma.sync and wmma.mma of floats up to tf32: fragments become rows of A and columns of B and C.

#include "vgpu/engine/matrix/matrix_multiply.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vgpu/engine/matrix/float_multiply.cpp"
#include "vgpu/engine/lanes/targets.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "vgpu/engine/matrix/fragments-inl.hpp"
#include "vgpu/engine/matrix/tensor_core_products.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {
namespace {

constexpr int most_tiles = 4;  // of 8 columns, or two of 16 rows

/// 16 rows of A, and the fragment that they were made of: the next instruction often has the same.
struct KnownRows {
  alignas(64) std::array<std::uint32_t, most_words * product_rows> words{};
  int k = 0;
  MatrixElement type{};
  ProductRows rows;
};

/// An instruction's operands in memory. All are read before any is written, because D may share
/// registers with A, B and C.
struct Operands {
  alignas(64) std::array<std::uint32_t, most_words * product_rows> a;
  alignas(64) std::array<std::uint32_t, most_words * most_tiles * fragment_columns> b;
  std::array<KnownRows, 2> rows;
  ProductColumns columns;
  alignas(64) std::array<ProductSums, most_tiles * fragment_columns> sums;
};

/// Words [word of a row][row].
void load_a(const MatrixForm& form, Warp& warp, const std::uint32_t* rows, std::uint32_t* words) {
  const int halves = form.tile_rows() / fragment_groups;
  for (int i = 0; i < form.a_registers_of_tile(); i += halves) {
    std::uint32_t* const to = words + i / halves * lanes_of_group * product_rows;
    const auto* const first = warp.row<const std::uint32_t>(rows[i]);
    if (halves == 2) {
      columns_of_registers(first, warp.row<const std::uint32_t>(rows[i + 1]), to, product_rows);
    } else {
      columns_of_register(first, to, product_rows);
    }
  }
}

/// Words [column][word of a column]: register i of lane 4 g + t has word 4 i + t of column g.
void load_b(const MatrixForm& form, Warp& warp, const std::uint32_t* rows, std::uint32_t* words) {
  const int registers = form.b_registers_of_tile();
  for (int i = 0; i < registers; ++i) {
    const auto* const from = warp.row<const std::uint32_t>(rows[i]);
    for (int g = 0; g < fragment_columns; ++g) {
      std::copy_n(from + g * lanes_of_group, lanes_of_group,
                  words + (g * registers + i) * lanes_of_group);
    }
  }
}

void set_rows(const MatrixForm& form, const SumRule& rule, const Operands& from, KnownRows& to) {
  if (to.k == form.k && to.type == form.a && to.words == from.a) return;
  tensor_products().set_rows(
      {form.a, false, false, form.k, rule.min_exponent_a, rule.by_halves, from.a.data()}, to.rows);
  to.words = from.a;
  to.k = form.k;
  to.type = form.a;
}

void load(const MatrixForm& form, const SumRule& rule, Warp& warp, const RowsOf& rows,
          Operands& to) {
  if (form.tile_rows() < product_rows) to.a.fill(0);
  for (int i = 0; i < form.row_tiles(); ++i) {
    load_a(form, warp, rows.a + i * form.a_registers_of_tile(), to.a.data());
    set_rows(form, rule, to, to.rows[static_cast<std::size_t>(i)]);
  }
  for (int j = 0; j < form.column_tiles(); ++j) {
    load_b(form, warp, rows.b + j * form.b_registers_of_tile(),
           to.b.data() + j * fragment_columns * form.k / per_register(form.b));
  }
  tensor_products().set_columns(
      {form.b, false, false, form.k, rule.min_exponent_b, rule.by_halves, to.b.data()}, form.n,
      to.columns);
}

/// Calls f(rows, sums) for each tile of C or D, whose type is `type`.
template <class F>
void for_each_tile(const MatrixForm& form, MatrixElement type, Warp& warp,
                   const std::uint32_t* rows, Operands& operands, const F& f) {
  const int halves = form.tile_rows() / fragment_groups;
  const int registers = form.sum_registers_of_tile(type);
  for (int tile = 0; tile < form.row_tiles() * form.column_tiles(); ++tile) {
    f(SumTile{warp, type, halves, rows + tile * registers},
      operands.sums.data() + tile * fragment_columns);
  }
}

void multiply_floats(const MatrixForm& form, Warp& warp, const Instr& instr) {
  thread_local Operands operands;
  const SumRule rule = sum_rule(form.a, form.b, form.d, false);
  const RowsOf rows = rows_of(form, instr);
  load(form, rule, warp, rows, operands);
  if (form.tile_rows() < product_rows) operands.sums.fill({});
  for_each_tile(form, form.c, warp, rows.c, operands, load_sums);
  for (int i = 0; i < form.row_tiles(); ++i) {
    tensor_products().add_floats(rule, form.k, operands.rows[static_cast<std::size_t>(i)].rows,
                                 {operands.columns, 0, form.n}, operands.sums.data() + i * form.n);
  }
  for_each_tile(form, form.d, warp, rows.d, operands, store_sums);
}

}  // namespace
}  // namespace rung::vgpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rung::vgpu {

FloatMultiply float_multiply() { return RUNG_PICK_LANES(multiply_floats); }

}  // namespace rung::vgpu
#endif
