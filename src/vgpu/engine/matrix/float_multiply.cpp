// mma.sync and wmma.mma of floats up to tf32: fragments become rows of A and columns of B and C.

#include "vgpu/engine/matrix/matrix_multiply.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vgpu/engine/matrix/float_multiply.cpp"
#include "vgpu/engine/lanes/targets.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "vgpu/engine/matrix/fragments-inl.hpp"
#include "vgpu/engine/matrix/tensor_core_products.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {
namespace {

constexpr int most_row_tiles = 2, most_column_tiles = 4;
constexpr std::size_t most_registers = most_words * product_rows / warp_size;  // of a tile

/// The registers of a tile of A or B as they were last: the next instructions often have the same
/// tile, which need not be taken apart again.
class KnownTile {
 public:
  /// Whether the tile is the one of the last call.
  bool is(const MatrixForm& form, MatrixElement type, Warp& warp, const std::uint32_t* rows,
          int registers) {
    const hn::CappedTag<std::uint32_t, warp_size> d;
    auto off = hn::Zero(d);
    for (int i = 0; i < registers; ++i) {
      const auto* const from = warp.row<const std::uint32_t>(rows[i]);
      std::uint32_t* const known = words_[static_cast<std::size_t>(i)].data();
      for (int lane = 0; lane < warp_size; lane += static_cast<int>(hn::Lanes(d))) {
        const auto words = hn::LoadU(d, from + lane);
        off = hn::Or(off, hn::Xor(words, hn::Load(d, known + lane)));
        hn::Store(words, d, known + lane);
      }
    }
    const bool same_form = form.k == k_ && form.tile_rows() == tile_rows_ && type == type_;
    k_ = form.k;
    tile_rows_ = form.tile_rows();
    type_ = type;
    return same_form && hn::AllTrue(d, hn::Eq(off, hn::Zero(d)));
  }
  const std::uint32_t* words(int i) const { return words_[static_cast<std::size_t>(i)].data(); }

 private:
  alignas(64) std::array<std::array<std::uint32_t, warp_size>, most_registers> words_{};
  int k_ = 0, tile_rows_ = 0;
  MatrixElement type_{};
};

struct KnownRows {
  KnownTile tile;
  ProductRows rows;
};

struct KnownColumns {
  KnownTile tile;
  ColumnStorage<fragment_columns> columns;
};

/// An instruction's operands in memory. All are read before any is written, because D may share
/// registers with A, B and C. Tiles have their place by the registers that they are in.
struct Operands {
  std::array<KnownRows, 2 * most_row_tiles> rows;
  std::array<KnownColumns, 4 * most_column_tiles> columns;
  alignas(64) std::array<ProductSums, most_row_tiles * most_column_tiles * fragment_columns> sums;
};

/// The place of a tile that begins with this register. The tiles of an instruction have different
/// ones, and so have most of an unrolled loop's.
template <class Known, std::size_t count>
Known& place_of(std::array<Known, count>& places, std::uint32_t row, int tile, int registers) {
  const std::size_t first = row / (warp_size * sizeof(std::uint32_t));
  const int shift = std::countr_zero(static_cast<unsigned>(registers));
  return places[((first >> shift) + static_cast<std::size_t>(tile)) % count];
}

/// Words [word of a row][row].
void set_rows(const MatrixForm& form, const SumRule& rule, KnownRows& known) {
  alignas(64) std::array<std::uint32_t, most_words * product_rows> words;
  const int halves = form.tile_rows() / fragment_groups;
  if (halves == 1) words.fill(0);
  for (int i = 0; i < form.a_registers_of_tile(); i += halves) {
    std::uint32_t* const to = words.data() + i / halves * lanes_of_group * product_rows;
    if (halves == 2) {
      columns_of_registers(known.tile.words(i), known.tile.words(i + 1), to, product_rows);
    } else {
      columns_of_register(known.tile.words(i), to, product_rows);
    }
  }
  tensor_products().set_rows(
      {form.a, false, false, form.k, rule.min_exponent_a, rule.by_halves, words.data()},
      known.rows);
}

/// Words [column][word of a column]: register i of lane 4 g + t has word 4 i + t of column g.
void set_columns(const MatrixForm& form, const SumRule& rule, KnownColumns& known) {
  alignas(64) std::array<std::uint32_t, most_words * fragment_columns> words;
  const int registers = form.b_registers_of_tile();
  for (int i = 0; i < registers; ++i) {
    const std::uint32_t* const from = known.tile.words(i);
    for (int g = 0; g < fragment_columns; ++g) {
      std::copy_n(from + g * lanes_of_group, lanes_of_group,
                  words.data() + (g * registers + i) * lanes_of_group);
    }
  }
  const ProductColumns to = known.columns.elements();
  tensor_products().set_columns(
      {form.b, false, false, form.k, rule.min_exponent_b, rule.by_halves, words.data()},
      fragment_columns, to);
}

/// The tiles of an instruction, taken apart.
struct Tiles {
  std::array<const ProductRows*, most_row_tiles> rows;
  std::array<ColumnStorage<fragment_columns>*, most_column_tiles> columns;
};

void load(const MatrixForm& form, const SumRule& rule, Warp& warp, const RowsOf& from,
          Operands& operands, Tiles& tiles) {
  const int of_a = form.a_registers_of_tile(), of_b = form.b_registers_of_tile();
  for (int i = 0; i < form.row_tiles(); ++i) {
    const std::uint32_t* const registers = from.a + i * of_a;
    KnownRows& known = place_of(operands.rows, from.a[0], i, of_a);
    if (!known.tile.is(form, form.a, warp, registers, of_a)) set_rows(form, rule, known);
    tiles.rows[static_cast<std::size_t>(i)] = &known.rows;
  }
  for (int j = 0; j < form.column_tiles(); ++j) {
    const std::uint32_t* const registers = from.b + j * of_b;
    KnownColumns& known = place_of(operands.columns, from.b[0], j, of_b);
    if (!known.tile.is(form, form.b, warp, registers, of_b)) set_columns(form, rule, known);
    tiles.columns[static_cast<std::size_t>(j)] = &known.columns;
  }
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
  Tiles tiles;
  load(form, rule, warp, rows, operands, tiles);
  if (form.tile_rows() < product_rows) operands.sums.fill({});
  for_each_tile(form, form.c, warp, rows.c, operands, load_sums);
  ProductSums* sums = operands.sums.data();
  for (int i = 0; i < form.row_tiles(); ++i) {
    for (int j = 0; j < form.column_tiles(); ++j, sums += fragment_columns) {
      const ProductColumns columns = tiles.columns[static_cast<std::size_t>(j)]->elements();
      tensor_products().add_floats(rule, form.k, *tiles.rows[static_cast<std::size_t>(i)],
                                   {columns, 0, fragment_columns}, sums);
    }
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
