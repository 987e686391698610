#include "vgpu/engine/tensor_memory/tensor_multiply.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <span>

#include "vgpu/engine/matrix/matrix_elements.hpp"
#include "vgpu/engine/matrix/tensor_core_products.hpp"
#include "vgpu/engine/numbers/float16.hpp"
#include "vgpu/engine/numbers/small_floats.hpp"

namespace rung::vgpu {
namespace {

constexpr int row_words = max_words;

/// The type in a TensorTile.
MatrixElement stored_type(TensorElement5 element) {
  using enum TensorElement5;
  switch (element) {
    case f16: return MatrixElement::f16;
    case bf16: return MatrixElement::bf16;
    case tf32: return MatrixElement::tf32;
    case e5m2: return MatrixElement::e5m2;
    case u8: return MatrixElement::u8;
    case s8: return MatrixElement::s8;
    default: return MatrixElement::e4m3;
  }
}

/// Cells of 16 rows of D in columns [first, first + count).
struct Cells {
  TensorMemory& memory;
  const TensorProduct& product;
  TensorLayout layout;
  int row;

  /// The cell of the first row; the others are in the lanes that follow.
  std::uint32_t* at(int column) const {
    const TensorAddress cell = cell_of_d(layout, product.form.n, row, column);
    return &memory.cell(product.d.lane + cell.lane, product.d.column + cell.column);
  }
  bool is_enabled(const std::uint32_t* cell, int i) const {
    if (product.disabled == nullptr) return true;
    const auto lane = (cell - memory.column(0)) % tensor_lanes + i;
    return (product.disabled[lane / 32] >> (lane % 32) & 1) == 0;
  }
};

void load_sums(const Cells& cells, std::span<ProductSums> sums) {
  const bool is_half = cells.product.form.d == MatrixElement::f16;
  const bool is_first = cells.product.first_byte == 0;
  const float scale = std::ldexp(1.0f, is_first ? -cells.product.op.scale_d : 0);
  for (std::size_t column = 0; column < sums.size(); ++column) {
    const std::uint32_t* const from = cells.at(static_cast<int>(column));
    for (std::size_t i = 0; i < product_rows; ++i) {
      const float sum = is_half ? f32_of_f16(from[i] & 0xFFFFu) : std::bit_cast<float>(from[i]);
      sums[column][i] = sum * scale;
    }
  }
}

void store_sums(const Cells& cells, std::span<const ProductSums> sums) {
  const bool is_half = cells.product.form.d == MatrixElement::f16;
  for (std::size_t column = 0; column < sums.size(); ++column) {
    std::uint32_t* const to = cells.at(static_cast<int>(column));
    for (int i = 0; i < product_rows; ++i) {
      if (!cells.is_enabled(to, i)) continue;
      const float sum = sums[column][static_cast<std::size_t>(i)];
      to[i] = is_half ? F16::nearest(sum).bits : std::bit_cast<std::uint32_t>(sum);
    }
  }
}

/// Adds integer sums, which are exact in f32, to D.
void store_integers(const Cells& cells, std::span<const ProductSums> sums) {
  const TensorProduct& product = cells.product;
  for (std::size_t column = 0; column < sums.size(); ++column) {
    std::uint32_t* const to = cells.at(static_cast<int>(column));
    for (int i = 0; i < product_rows; ++i) {
      if (!cells.is_enabled(to, i)) continue;
      std::int64_t sum = static_cast<std::int64_t>(sums[column][static_cast<std::size_t>(i)]);
      if (product.adds) sum += static_cast<std::int32_t>(to[i]);
      if (product.form.saturates) sum = std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX);
      to[i] = static_cast<std::uint32_t>(sum);
    }
  }
}

/// Words of 16 rows, as [word][row].
void pack_rows(const TensorTile& tile, int row, int first_byte, std::uint32_t* words) {
  for (int i = 0; i < product_rows; ++i) {
    const std::uint8_t* const line =
        tile.lines[static_cast<std::size_t>(row + i)].data() + first_byte;
    for (int word = 0; word < row_words; ++word) {
      std::memcpy(words + word * product_rows + i, line + 4 * word, 4);
    }
  }
}

void pack_columns(const TensorTile& tile, int columns, int first_byte, std::uint32_t* words) {
  for (int column = 0; column < columns; ++column) {
    std::memcpy(words + column * row_words,
                tile.lines[static_cast<std::size_t>(column)].data() + first_byte, 4 * row_words);
  }
}

struct Scratch {
  alignas(64) std::array<std::uint32_t, row_words * product_rows> a;
  alignas(64) std::array<std::uint32_t, max_product_columns * row_words> b;
  ProductRows rows;
  ColumnStorage<max_product_columns> columns;
  alignas(64) std::array<ProductSums, max_product_columns> sums;
};

SumRule rule_of(const InstructionDescriptor& form) {
  return tcgen05_sum_rule(stored_type(form.a), stored_type(form.b), form.d);
}

}  // namespace

TensorLayout layout_of_d(const TensorMultiplyOp& op, int rows) {
  if (rows == 128) return {1, false};                   // layouts A and D
  if (rows == 32) return {4, false};                    // G
  if (op.weight_stationary) return {2, false};          // E
  if (op.blocks == 2 && !op.sparse) return {2, false};  // B
  return {1, true};                                     // C and F
}

void multiply_tensors(const TensorProduct& product, const TensorTile& a, const TensorTile& b,
                      TensorMemory& memory) {
  thread_local Scratch scratch;
  const InstructionDescriptor& form = product.form;
  const MatrixElement type_a = stored_type(form.a), type_b = stored_type(form.b);
  const SumRule rule = rule_of(form);
  const TensorProducts& products = tensor_products();
  pack_columns(b, form.n, product.first_byte, scratch.b.data());
  const ProductColumns columns = scratch.columns.elements();
  products.set_columns(
      {type_b, form.negate_b, false, form.k, rule.min_exponent_b, false, scratch.b.data()}, form.n,
      columns);
  const TensorLayout layout = layout_of_d(product.op, product.rows);
  const std::span sums(scratch.sums.data(), static_cast<std::size_t>(form.n));
  const bool is_integer = form.d == MatrixElement::s32;
  for (int row = 0; row < product.rows; row += product_rows) {
    const Cells cells{memory, product, layout, row};
    std::fill(sums.begin(), sums.end(), ProductSums{});
    if (product.adds && !is_integer) load_sums(cells, sums);
    pack_rows(a, row, product.first_byte, scratch.a.data());
    products.set_rows(
        {type_a, form.negate_a, false, form.k, rule.min_exponent_a, false, scratch.a.data()},
        scratch.rows);
    const ColumnRange all{columns, 0, form.n};
    if (is_integer) {
      products.add_integers(form.k, scratch.rows, all, sums.data());
      store_integers(cells, sums);
    } else {
      products.add_floats(rule, form.k, scratch.rows, all, sums.data());
      store_sums(cells, sums);
    }
  }
}

namespace {

constexpr int scaled_lanes = 16;

/// The value of element k of a line: one byte each, or four bits in .kind::mxf4 and mxf4nvf4.
double value_of(const TensorProduct& product, TensorElement5 type, const std::uint8_t* line,
                int k) {
  if (product.op.kind == TensorKind::mxf8f6f4) {
    return type == TensorElement5::e5m2 ? f32_of_e5m2(line[k]) : f32_of_e4m3(line[k]);
  }
  return decode(line[k / 2] >> (k % 2 * 4) & 0xFu, e2m1_format);
}

constexpr int max_k = 128;

/// Scaled elements of a line, and the exponents by which their products are aligned.
struct ScaledLine {
  double values[max_k];
  std::int32_t exponents[max_k];
};

void scale_line(const TensorProduct& product, TensorElement5 type, const std::uint8_t* line,
                const LineScales& scales, bool negate, ScaledLine& to) {
  const int per_scale = product.form.k / product.form.scales_of_k;
  for (int k = 0; k < product.form.k; ++k) {
    const double scale = scales[static_cast<std::size_t>(k / per_scale)];
    const double value = value_of(product, type, line, k) * (negate ? -scale : scale);
    to.values[k] = value;
    to.exponents[k] = value == 0 || !std::isfinite(value) ? -4096 : std::ilogb(value);
  }
}

struct ScaledScratch {
  std::array<ScaledLine, product_rows> a;
  std::array<ScaledLine, max_tensor_lines> b;
  alignas(64) std::array<ProductSums, max_product_columns> sums;
};

/// Adds the products of 16 rows with `count` columns from `first` on.
void add_scaled(const TensorProduct& product, const SumRule& rule, ScaledScratch& scratch,
                std::size_t first, std::size_t count) {
  for (int k0 = 0; k0 < product.form.k; k0 += max_steps) {
    Columns<scaled_lanes> columns = {};
    for (int k = 0; k < max_steps; ++k) {
      for (std::size_t j = 0; j < count; ++j) {
        columns.values[k][j] = scratch.b[first + j].values[k0 + k];
        columns.exponents[k][j] = scratch.b[first + j].exponents[k0 + k];
      }
    }
    for (std::size_t i = 0; i < product_rows; ++i) {
      float sums[scaled_lanes] = {};
      for (std::size_t j = 0; j < count; ++j) sums[j] = scratch.sums[first + j][i];
      add_group(rule, 0, max_steps, scratch.a[i].values + k0, scratch.a[i].exponents + k0, columns,
                sums);
      for (std::size_t j = 0; j < count; ++j) scratch.sums[first + j][i] = sums[j];
    }
  }
}

}  // namespace

void multiply_scaled(const TensorProduct& product, const TensorTile& a, const TensorTile& b,
                     const TensorScales& of_a, const TensorScales& of_b, TensorMemory& memory) {
  thread_local ScaledScratch scratch;
  const InstructionDescriptor& form = product.form;
  const SumRule rule = rule_of(form);
  const TensorLayout layout = layout_of_d(product.op, product.rows);
  const std::span sums(scratch.sums.data(), static_cast<std::size_t>(form.n));
  for (std::size_t n = 0; n < sums.size(); ++n) {
    scale_line(product, form.b, b.lines[n].data() + product.first_byte, of_b[n], form.negate_b,
               scratch.b[n]);
  }
  for (int row = 0; row < product.rows; row += product_rows) {
    const Cells cells{memory, product, layout, row};
    std::fill(sums.begin(), sums.end(), ProductSums{});
    if (product.adds) load_sums(cells, sums);
    for (std::size_t i = 0; i < product_rows; ++i) {
      const auto line = static_cast<std::size_t>(row) + i;
      scale_line(product, form.a, a.lines[line].data() + product.first_byte, of_a[line],
                 form.negate_a, scratch.a[i]);
    }
    for (std::size_t first = 0; first < sums.size(); first += scaled_lanes) {
      add_scaled(product, rule, scratch, first,
                 std::min<std::size_t>(scaled_lanes, sums.size() - first));
    }
    store_sums(cells, sums);
  }
}

std::uint8_t e4m3_of(TensorElement5 element, std::uint32_t bits) {
  const SmallFloat& format = element == TensorElement5::e2m3   ? e2m3_format
                             : element == TensorElement5::e3m2 ? e3m2_format
                                                               : e2m1_format;
  return static_cast<std::uint8_t>(
      encode(decode(bits, format), e4m3_format, Rounding::nearest, true));
}

}  // namespace rung::vgpu
