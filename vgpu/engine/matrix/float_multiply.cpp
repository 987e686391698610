// mma.sync and wmma.mma of floats up to tf32. Converts fragments to rows of A and columns of B and
// C.

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

constexpr int max_row_tiles = 2, max_column_tiles = 4;
constexpr std::size_t max_registers = max_words * product_rows / warp_size;  // per tile

/// Values derived from an instruction's form: numbers of tiles and of registers per tile, and the
/// index of each operand's first register.
struct Plan {
  MatrixForm form{};
  SumRule rule{};
  int row_tiles = 0, column_tiles = 0, halves = 0;
  int of_a = 0, of_b = 0, of_c = 0, of_d = 0;
  int first_a = 0, first_b = 0, first_c = 0;
  const TensorProducts* products = nullptr;
  bool in_fragments = false;  // add_fragments() may be used

  void set(const MatrixForm& of) {
    form = of;
    rule = sum_rule(form.a, form.b, form.d, false);
    row_tiles = form.row_tiles();
    column_tiles = form.column_tiles();
    halves = form.tile_rows() / fragment_groups;
    of_a = form.a_registers_of_tile();
    of_b = form.b_registers_of_tile();
    of_c = form.sum_registers_of_tile(form.c);
    of_d = form.sum_registers_of_tile(form.d);
    first_a = form.sum_registers(form.d);
    first_b = first_a + form.a_registers();
    first_c = first_b + form.b_registers();
    products = &tensor_products();
    using enum MatrixElement;
    in_fragments = (form.a == f16 || form.a == bf16) && form.k == fragment_steps && halves == 2 &&
                   form.c == f32 && form.d == f32 && products->add_fragments != nullptr;
  }
};

/// The most recent registers of a tile of A or B. Consecutive instructions often use the same tile,
/// which then need not be unpacked again.
class KnownTile {
 public:
  /// True if the tile is the same as at the last call. Remembers it otherwise.
  HWY_INLINE bool is(std::uint64_t form, Warp& warp, const std::uint32_t* rows, int registers) {
    if (form == form_ && agrees(warp, rows, registers)) return true;
    form_ = form;
    for (int i = 0; i < registers; ++i) {
      std::copy_n(warp.row<const std::uint32_t>(rows[i]), warp_size,
                  words_[static_cast<std::size_t>(i)].data());
    }
    return false;
  }
  const std::uint32_t* words(int i) const { return words_[static_cast<std::size_t>(i)].data(); }

 private:
  HWY_INLINE bool agrees(Warp& warp, const std::uint32_t* rows, int registers) const {
    const hn::CappedTag<std::uint32_t, warp_size> d;
    auto off = hn::Zero(d);
#pragma GCC unroll 4
    for (int i = 0; i < registers; ++i) {
      const auto* const from = warp.row<const std::uint32_t>(rows[i]);
      for (int lane = 0; lane < warp_size; lane += static_cast<int>(hn::Lanes(d))) {
        off = hn::Or(off, hn::Xor(hn::LoadU(d, from + lane), hn::Load(d, words(i) + lane)));
      }
    }
    return hn::AllTrue(d, hn::Eq(off, hn::Zero(d)));
  }

  alignas(64) std::array<std::array<std::uint32_t, warp_size>, max_registers> words_{};
  std::uint64_t form_ = 0;
};

struct KnownRows {
  KnownTile tile;
  FragmentRows fragment;
  bool has_rows = false;
  ProductRows rows;
};

struct KnownColumns {
  KnownTile tile;
  FragmentColumns fragment;
  bool has_columns = false;
  ColumnStorage<fragment_columns> columns;
};

/// An instruction's operands in memory. All are read before any is written, because D may share
/// registers with A, B and C. Tiles are cached by the index of their registers.
struct Operands {
  Plan plan;
  std::array<KnownRows, 2 * max_row_tiles> rows;
  std::array<KnownColumns, 4 * max_column_tiles> columns;
  alignas(64) std::array<ProductSums, max_row_tiles * max_column_tiles * fragment_columns> sums;
};

/// The cache entry for a tile that begins at this register. Tiles of one instruction always have
/// different entries, and those of an unrolled loop usually do.
template <class Known, std::size_t count>
Known& place_of(std::array<Known, count>& places, std::uint32_t row, int tile, int registers) {
  const std::size_t first = row / (warp_size * sizeof(std::uint32_t));
  const int shift = std::countr_zero(static_cast<unsigned>(registers));
  return places[((first >> shift) + static_cast<std::size_t>(tile)) % count];
}

/// Unpacks A to words[word of a row][row].
HWY_NOINLINE void set_rows(const Plan& plan, KnownRows& known) {
  known.has_rows = true;
  alignas(64) std::array<std::uint32_t, max_words * product_rows> words;
  if (plan.halves == 1) words.fill(0);
  for (int i = 0; i < plan.of_a; i += plan.halves) {
    const MatrixPlace first = place_in_a(plan.form.tile_rows(), 1, 0, i, 0);  // in words
    std::uint32_t* const to = words.data() + first.column * product_rows + first.row;
    if (plan.halves == 2) {
      columns_of_registers(known.tile.words(i), known.tile.words(i + 1), to, product_rows);
    } else {
      columns_of_register(known.tile.words(i), to, product_rows);
    }
  }
  const SumRule& rule = plan.rule;
  plan.products->set_rows(
      {plan.form.a, false, false, plan.form.k, rule.min_exponent_a, rule.by_halves, words.data()},
      known.rows);
}

/// Unpacks B to words[column][word of a column].
HWY_NOINLINE void set_columns(const Plan& plan, KnownColumns& known) {
  known.has_columns = true;
  alignas(64) std::array<std::uint32_t, max_words * fragment_columns> words;
  for (int i = 0; i < plan.of_b; ++i) {
    const std::uint32_t* const from = known.tile.words(i);
    for (int lane = 0; lane < warp_size; lane += lanes_of_group) {
      const MatrixPlace first = place_in_b(1, lane, i, 0);  // in words
      std::copy_n(from + lane, lanes_of_group,
                  words.data() + first.column * plan.of_b * lanes_of_group + first.row);
    }
  }
  const SumRule& rule = plan.rule;
  const ProductColumns to = known.columns.elements();
  plan.products->set_columns(
      {plan.form.b, false, false, plan.form.k, rule.min_exponent_b, rule.by_halves, words.data()},
      fragment_columns, to);
}

/// Calls f(tile of C or D, its sums) for each tile with `registers` registers of type `type`.
template <class F>
HWY_INLINE void for_each_tile(const Plan& plan, MatrixElement type, int registers, Warp& warp,
                              const std::uint32_t* rows, Operands& operands, const F& f) {
  for (int tile = 0; tile < plan.row_tiles * plan.column_tiles; ++tile) {
    f(SumTile{warp, type, plan.halves, rows + tile * registers},
      operands.sums.data() + tile * fragment_columns);
  }
}

/// The tiles of an instruction.
struct Tiles {
  KnownRows* rows[max_row_tiles];
  KnownColumns* columns[max_column_tiles];
};

constexpr int a_of_fragment = 4, b_of_fragment = 2, c_of_fragment = 4;  // registers per tile

/// Finds the cached tiles and unpacks the others. `of_a`, `of_b`: registers per tile. They are
/// constants in the common case, so that loops over registers are unrolled.
HWY_INLINE void find_tiles(const Plan& plan, int of_a, int of_b, Warp& warp, const Instr& instr,
                           Operands& operands, Tiles& tiles) {
  const TensorProducts& products = *plan.products;
  const auto bits = std::bit_cast<std::uint64_t>(plan.form);
  const auto* a = instr.rows + plan.first_a;
  for (int i = 0; i < plan.row_tiles; ++i) {
    KnownRows& known = place_of(operands.rows, instr.rows[plan.first_a], i, of_a);
    tiles.rows[i] = &known;
    if (known.tile.is(bits, warp, a + i * of_a, of_a)) continue;
    known.has_rows = false;
    if (!plan.in_fragments) continue;
    const KnownTile& tile = known.tile;
    const std::uint32_t* const words[a_of_fragment] = {tile.words(0), tile.words(1), tile.words(2),
                                                       tile.words(3)};
    products.set_fragment_rows(plan.form.a, words, known.fragment);
  }
  const auto* b = instr.rows + plan.first_b;
  for (int j = 0; j < plan.column_tiles; ++j) {
    KnownColumns& known = place_of(operands.columns, instr.rows[plan.first_b], j, of_b);
    tiles.columns[j] = &known;
    if (known.tile.is(bits, warp, b + j * of_b, of_b)) continue;
    known.has_columns = false;
    if (!plan.in_fragments) continue;
    const std::uint32_t* const words[b_of_fragment] = {known.tile.words(0), known.tile.words(1)};
    products.set_fragment_columns(plan.form.b, words, known.fragment);
  }
}

/// Computes D in the fragment layout with add_fragments(). Returns false, with D unchanged, if that
/// fails.
HWY_INLINE bool multiply_fragments(const Plan& plan, Warp& warp, const Instr& instr,
                                   Operands& operands, const Tiles& tiles) {
  constexpr int registers = c_of_fragment;
  const int count = plan.row_tiles * plan.column_tiles;
  const std::uint32_t* c = instr.rows + plan.first_c;
  // A register of C may belong to D of another tile, so D is written directly only if there is one
  // tile.
  float* to[registers];
  for (int tile = 0; tile < count; ++tile, c += registers) {
    const float* from[registers];
    for (int i = 0; i < registers; ++i) {
      from[i] = warp.row<const float>(c[i]);
      to[i] = count == 1 ? warp.row<float>(instr.rows[i])
                         : operands.sums[tile * fragment_columns + 2 * i].data();
    }
    if (!plan.products->add_fragments(tiles.rows[tile / plan.column_tiles]->fragment,
                                      tiles.columns[tile % plan.column_tiles]->fragment, from,
                                      to)) {
      return false;
    }
  }
  if (count == 1) return true;
  for (int i = 0; i < count * registers; ++i) {
    std::copy_n(operands.sums[2 * i].data(), warp_size, warp.row<float>(instr.rows[i]));
  }
  return true;
}

/// Computes all tiles of D, by columns.
HWY_NOINLINE void multiply_columns(const Plan& plan, Warp& warp, const Instr& instr,
                                   Operands& operands, const Tiles& tiles) {
  for (int i = 0; i < plan.row_tiles; ++i) {
    if (!tiles.rows[i]->has_rows) set_rows(plan, *tiles.rows[i]);
  }
  for (int j = 0; j < plan.column_tiles; ++j) {
    if (!tiles.columns[j]->has_columns) set_columns(plan, *tiles.columns[j]);
  }
  if (plan.halves == 1) operands.sums.fill({});
  for_each_tile(plan, plan.form.c, plan.of_c, warp, instr.rows + plan.first_c, operands, load_sums);
  ProductSums* sums = operands.sums.data();
  for (int i = 0; i < plan.row_tiles; ++i) {
    for (int j = 0; j < plan.column_tiles; ++j, sums += fragment_columns) {
      const ProductColumns of_tile = tiles.columns[j]->columns.elements();
      plan.products->add_floats(plan.rule, plan.form.k, tiles.rows[i]->rows,
                                {of_tile, 0, fragment_columns}, sums);
    }
  }
  for_each_tile(plan, plan.form.d, plan.of_d, warp, instr.rows, operands, store_sums);
}

void multiply_floats(const MatrixForm& form, Warp& warp, const Instr& instr) {
  thread_local Operands of_thread;
  Operands& operands = of_thread;
  Plan& plan = operands.plan;
  const auto bits = std::bit_cast<std::uint64_t>(form);
  if (bits != std::bit_cast<std::uint64_t>(plan.form)) plan.set(form);
  Tiles tiles;
  if (plan.in_fragments) {
    find_tiles(plan, a_of_fragment, b_of_fragment, warp, instr, operands, tiles);
  } else {
    find_tiles(plan, plan.of_a, plan.of_b, warp, instr, operands, tiles);
  }
  if (plan.in_fragments && warp.mask == all_lanes &&
      multiply_fragments(plan, warp, instr, operands, tiles)) {
    return;
  }
  multiply_columns(plan, warp, instr, operands, tiles);
}

}  // namespace
}  // namespace rung::vgpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rung::vgpu {

FloatMultiply float_multiply() { return RUNG_PICK_LANES(multiply_floats); }

}  // namespace rung::vgpu
#endif
