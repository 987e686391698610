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
#include "vgpu/engine/tensor_memory/window_sums.hpp"

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
  const float scale = std::ldexp(1.0f, -cells.product.op.scale_d);
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
      // B200s write these NaNs (tcgen05_model/MODEL.md of window_sums.hpp, section 4).
      constexpr std::uint32_t nan = 0x7FFFFFFF, nan_of_half = 0x7FFF;
      if (std::isnan(sum)) {
        to[i] = is_half ? nan_of_half : nan;
        continue;
      }
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
void pack_rows(const TensorTile& tile, int row, std::uint32_t* words) {
  for (int i = 0; i < product_rows; ++i) {
    const std::uint8_t* const line = tile.lines[static_cast<std::size_t>(row + i)].data();
    for (int word = 0; word < row_words; ++word) {
      std::memcpy(words + word * product_rows + i, line + 4 * word, 4);
    }
  }
}

void pack_columns(const TensorTile& tile, int columns, std::uint32_t* words) {
  for (int column = 0; column < columns; ++column) {
    std::memcpy(words + column * row_words, tile.lines[static_cast<std::size_t>(column)].data(),
                4 * row_words);
  }
}

struct Scratch {
  alignas(64) std::array<std::uint32_t, row_words * product_rows> a;
  alignas(64) std::array<std::uint32_t, max_product_columns * row_words> b;
  ProductRows rows;
  ColumnStorage<max_product_columns> columns;
  alignas(64) std::array<ProductSums, max_product_columns> sums;
};

/// The exponent of the smallest normal number, which subnormal ones have, too.
int least_exponent(TensorElement5 element) {
  using enum TensorElement5;
  switch (element) {
    case e2m1:
    case e2m3: return 0;
    case e3m2: return -2;
    default: return min_exponent(stored_type(element));
  }
}

SumRule rule_of(const InstructionDescriptor& form) {
  SumRule rule = tcgen05_sum_rule(stored_type(form.a), stored_type(form.b), form.d);
  rule.min_exponent_a = least_exponent(form.a);
  rule.min_exponent_b = least_exponent(form.b);
  return rule;
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
  pack_columns(b, form.n, scratch.b.data());
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
    pack_rows(a, row, scratch.a.data());
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

constexpr int max_scales = 6;

/// The value of element k of a line: four bits in .kind::mxf4 and mxf4nvf4, otherwise as many as the type has in a tile.
double value_of(const TensorProduct& product, TensorElement5 type, const std::uint8_t* line,
                int k) {
  if (product.op.kind == TensorKind::mxf4 || product.op.kind == TensorKind::mxf4nvf4) {
    return decode(line[k / 2] >> (k % 2 * 4) & 0xFu, e2m1_format);
  }
  const MatrixElement stored = stored_type(type);
  std::uint32_t bits = 0;
  const auto bytes = static_cast<std::size_t>(element_bits(stored) / 8);
  std::memcpy(&bits, line + static_cast<std::size_t>(k) * bytes, bytes);
  switch (stored) {
    case MatrixElement::f16: return f32_of_f16(bits);
    case MatrixElement::bf16: return matrix_element<MatrixElement::bf16>(bits, 0);
    case MatrixElement::tf32: return matrix_element<MatrixElement::tf32>(bits, 0);
    case MatrixElement::e5m2: return f32_of_e5m2(bits);
    case MatrixElement::s8: return matrix_element<MatrixElement::s8>(bits, 0);
    case MatrixElement::u8: return bits;
    default: return f32_of_e4m3(bits);
  }
}

void set_line(const TensorProduct& product, TensorElement5 type, const std::uint8_t* line,
              const LineScales& scales, bool negate, WindowLine& to) {
  constexpr int least_of_e4m3 = -6;
  const InstructionDescriptor& form = product.form;
  const int count = form.scales_of_k, per_scale = count == 0 ? form.k : form.k / count;
  std::array<int, max_scales> exponents{};
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const bool counts = scales[i] != 0 && std::isfinite(scales[i]);
    exponents[i] = !counts                ? 0
                   : form.has_e8m0_scales ? std::ilogb(scales[i])
                                          : std::max(std::ilogb(scales[i]), least_of_e4m3);
  }
  for (int k = 0; k < form.k; ++k) {
    const auto part = static_cast<std::size_t>(k / per_scale);
    const double scale = count == 0 ? 1 : scales[part];
    const double value = value_of(product, type, line, k);
    to.set(k, negate ? -value : value, least_exponent(type), scale, exponents[part]);
  }
}

struct WindowScratch {
  std::array<WindowLine, product_rows> a;
  std::array<WindowLine, max_tensor_lines> b;
  WindowColumns columns;
  alignas(64) std::array<ProductSums, max_product_columns> sums;
};

WindowRule window_of(const TensorProduct& product) {
  const InstructionDescriptor& form = product.form;
  const bool packs_nibbles =
      product.op.kind == TensorKind::mxf4 || product.op.kind == TensorKind::mxf4nvf4;
  const Window window = !packs_nibbles         ? Window::plain
                        : form.has_e8m0_scales ? Window::mxf4
                                               : Window::nvfp4;
  return {window, rule_of(form), form.k, product.op.sparse};
}

/// Adds the products of 16 rows with `count` columns from `first` on.
void add_columns(const WindowRule& rule, WindowScratch& scratch, std::size_t first,
                 std::size_t count) {
  for (std::size_t j = 0; j < count; ++j) scratch.columns.set(j, scratch.b[first + j], rule.k);
  for (std::size_t i = 0; i < product_rows; ++i) {
    float sums[window_lanes] = {};
    for (std::size_t j = 0; j < count; ++j) sums[j] = scratch.sums[first + j][i];
    add_window(rule, scratch.a[i], scratch.columns, sums);
    for (std::size_t j = 0; j < count; ++j) scratch.sums[first + j][i] = sums[j];
  }
}

}  // namespace

void multiply_in_window(const TensorProduct& product, const TensorTile& a, const TensorTile& b,
                        const TensorScales& of_a, const TensorScales& of_b, TensorMemory& memory) {
  thread_local WindowScratch scratch;
  const InstructionDescriptor& form = product.form;
  const WindowRule rule = window_of(product);
  const TensorLayout layout = layout_of_d(product.op, product.rows);
  const std::span sums(scratch.sums.data(), static_cast<std::size_t>(form.n));
  const bool is_integer = form.d == MatrixElement::s32;
  for (std::size_t n = 0; n < sums.size(); ++n) {
    set_line(product, form.b, b.lines[n].data(), of_b[n], form.negate_b, scratch.b[n]);
  }
  for (int row = 0; row < product.rows; row += product_rows) {
    const Cells cells{memory, product, layout, row};
    std::fill(sums.begin(), sums.end(), ProductSums{});
    if (product.adds && !is_integer) load_sums(cells, sums);
    for (std::size_t i = 0; i < product_rows; ++i) {
      const auto line = static_cast<std::size_t>(row) + i;
      set_line(product, form.a, a.lines[line].data(), of_a[line], form.negate_a, scratch.a[i]);
    }
    for (std::size_t first = 0; first < sums.size(); first += window_lanes) {
      add_columns(rule, scratch, first, std::min<std::size_t>(window_lanes, sums.size() - first));
    }
    is_integer ? store_integers(cells, sums) : store_sums(cells, sums);
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
