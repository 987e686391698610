#pragma once
// The kernels' form of an epilogue: rung::Epilogue in canonical form.

#include <cstdint>

#include "rung/epilogue_kinds.hpp"

namespace rung {

/// A matrix or vector operand. A vector over rows has col_stride 0, a vector over columns
/// row_stride 0.
struct EpilogueOperand {
  void* data = nullptr;  // null: no such operand
  std::int64_t row_stride = 0, col_stride = 0;
  ElementType type = ElementType::f32;

  constexpr std::int64_t at(std::int64_t row, std::int64_t col) const {
    return row * row_stride + col * col_stride;
  }
  constexpr EpilogueOperand transposed() const { return {data, col_stride, row_stride, type}; }
};

/// The direction in which two neighboring elements of the product form one element of a gated
/// result.
enum class Pairs : std::uint8_t { none, of_columns, of_rows };

/// The operations of rung::Epilogue on an m x n product with a row-major result. A column-major
/// result is handled as the transposed product.
struct EpilogueArgs {
  std::int64_t m = 0, n = 0;
  double alpha = 1, beta = 0, result_factor = 1;
  const float* scale_a = nullptr;
  const float* scale_b = nullptr;
  const float* result_scale = nullptr;
  EpilogueOperand row_scale = {}, col_scale = {};
  EpilogueOperand row_bias = {}, col_bias = {};
  EpilogueOperand aux = {}, residual = {}, c = {};
  float* amax = nullptr;
  Activation activation = Activation::none;
  Pairs pairs = Pairs::none;

  constexpr std::int64_t result_rows() const { return pairs == Pairs::of_rows ? m / 2 : m; }
  constexpr std::int64_t result_cols() const { return pairs == Pairs::of_columns ? n / 2 : n; }
};

constexpr std::int64_t bytes_of(ElementType type) {
  switch (type) {
    case ElementType::f64: return 8;
    case ElementType::f32:
    case ElementType::i32:
    case ElementType::tf32: return 4;
    case ElementType::bf16:
    case ElementType::f16: return 2;
    default: return 1;
  }
}

/// The operand that starts at element (row, col).
constexpr EpilogueOperand shifted(EpilogueOperand operand, std::int64_t row, std::int64_t col) {
  if (operand.data == nullptr) return operand;
  operand.data = static_cast<char*>(operand.data) + operand.at(row, col) * bytes_of(operand.type);
  return operand;
}

/// The epilogue for rows [row, row + count) of the product. Both must be even if rows are paired.
constexpr EpilogueArgs rows_of(EpilogueArgs args, std::int64_t row, std::int64_t count) {
  args.row_scale = shifted(args.row_scale, row, 0);
  args.row_bias = shifted(args.row_bias, row, 0);
  args.aux = shifted(args.aux, row, 0);
  const std::int64_t result_row = args.pairs == Pairs::of_rows ? row / 2 : row;
  args.residual = shifted(args.residual, result_row, 0);
  args.c = shifted(args.c, result_row, 0);
  args.m = count;
  return args;
}

}  // namespace rung
