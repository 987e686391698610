#include "vgpu/engine/matrix/wmma_layout.hpp"

#include <string>

#include "vgpu/engine/matrix/matrix_names.hpp"
#include "vgpu/ptx/opcodes.hpp"

namespace rung::vgpu {
namespace {

std::optional<WmmaFragment> fragment_named(const ptx::Instruction& instruction) {
  if (instruction.opcode != ptx::Opcode::wmma || instruction.modifiers.size() < 2)
    return std::nullopt;
  const std::string& action = instruction.modifiers[0];
  const std::string& matrix = instruction.modifiers[1];
  if (action == "load" && matrix == "a") return WmmaFragment::a;
  if (action == "load" && matrix == "b") return WmmaFragment::b;
  const bool sum = (action == "load" && matrix == "c") || (action == "store" && matrix == "d");
  return sum ? std::optional(WmmaFragment::sum) : std::nullopt;
}

/// A type of A and B that is compatible with the type of C and D in this shape. If there are
/// several, C's layout is the same for all.
std::optional<MatrixElement> factor_for(const MatrixShape& shape, MatrixElement sum) {
  using enum MatrixElement;
  for (const MatrixElement factor : {f16, tf32, s8, s4, f64}) {
    if (wmma_has(shape, factor) && matrix_sum_fits(factor, sum)) return factor;
  }
  return std::nullopt;
}

}  // namespace

WmmaLayout fragment_layout(WmmaFragment fragment, const MatrixForm& form) {
  switch (fragment) {
    case WmmaFragment::a:
      return {fragment, form.a, form.m, form.k, form.a_registers(), per_register(form.a)};
    case WmmaFragment::b:
      return {fragment, form.b, form.k, form.n, form.b_registers(), per_register(form.b)};
    case WmmaFragment::sum: break;
  }
  return {fragment, form.c, form.m, form.n, form.sum_registers(form.c), per_register(form.c)};
}

MatrixPlace WmmaLayout::place(int lane, int reg, int element_index) const {
  constexpr int lanes = 32;
  const int tile_rows = fragment == WmmaFragment::b ? rows : rows < 16 ? rows : 16;
  const int tile_columns = fragment == WmmaFragment::a ? columns : 8;
  const int tile_registers = tile_rows * tile_columns / lanes / per_register;
  const int tiles_across = columns / tile_columns;
  const int tile = reg / tile_registers % (rows / tile_rows * tiles_across);
  const int in_tile = reg % tile_registers;
  MatrixPlace place{};
  switch (fragment) {
    case WmmaFragment::a:
      place = place_in_a(tile_rows, per_register, lane, in_tile, element_index);
      break;
    case WmmaFragment::b: place = place_in_b(per_register, lane, in_tile, element_index); break;
    case WmmaFragment::sum: place = place_in_sum(per_register, lane, in_tile, element_index); break;
  }
  return {tile / tiles_across * tile_rows + place.row,
          tile % tiles_across * tile_columns + place.column};
}

std::optional<WmmaLayout> wmma_layout(const ptx::Instruction& instruction) {
  const auto fragment = fragment_named(instruction);
  if (!fragment) return std::nullopt;
  std::optional<MatrixShape> shape;
  std::optional<MatrixElement> element;
  for (const std::string& modifier : instruction.modifiers) {
    if (const auto found = matrix_shape_named(modifier)) shape = found;
    if (const auto found = matrix_element_named(modifier)) element = found;
  }
  if (!shape || !element) return std::nullopt;
  const bool sum = *fragment == WmmaFragment::sum;
  const auto factor = sum ? factor_for(*shape, *element) : element;
  if (!factor || !wmma_has(*shape, *factor)) return std::nullopt;
  const MatrixForm form = {static_cast<std::uint8_t>(shape->m),
                           static_cast<std::uint8_t>(shape->n),
                           static_cast<std::uint8_t>(shape->k),
                           *factor,
                           *factor,
                           sum ? *element : *factor,
                           sum ? *element : *factor,
                           MatrixMode::nearest};
  return fragment_layout(*fragment, form);
}

}  // namespace rung::vgpu
