#include "vgpu/engine/matrix/matrix.hpp"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "vgpu/engine/matrix/matrix_multiply.hpp"
#include "vgpu/engine/matrix/matrix_names.hpp"
#include "vgpu/engine/matrix/matrix_transpose.hpp"
#include "vgpu/engine/matrix/simdgroup_matrix.hpp"
#include "vgpu/ptx/opcodes.hpp"

namespace rung::vgpu {
namespace {

using Element = MatrixElement;
using ptx::Instruction;

/// The parsed parts of a mnemonic.
struct Parts {
  std::optional<MatrixShape> shape;
  std::vector<Element> types;  // in the order written: D, A, B, C; for wmma with f16 inputs D, C
  std::vector<bool> columns;   // for A and B: .col, not .row
  std::optional<MatrixMode> mode;
  bool sync = false, aligned = false;
};

std::optional<Parts> parts_of(const Instruction& instruction) {
  Parts parts;
  for (const std::string& modifier : instruction.modifiers) {
    if (modifier == "sync") {
      parts.sync = true;
    } else if (modifier == "aligned") {
      parts.aligned = true;
    } else if (modifier == "row" || modifier == "col") {
      parts.columns.push_back(modifier == "col");
    } else if (const auto shape = matrix_shape_named(modifier); shape && !parts.shape) {
      parts.shape = shape;
    } else if (const auto element = matrix_element_named(modifier)) {
      parts.types.push_back(*element);
    } else if (const auto mode = matrix_mode_named(modifier); mode && !parts.mode) {
      parts.mode = mode;
    } else {
      return std::nullopt;
    }
  }
  if (!parts.sync || !parts.aligned || !parts.shape || parts.columns.size() != 2) {
    return std::nullopt;
  }
  return parts;
}

bool among(Element element, std::initializer_list<Element> elements) {
  return std::find(elements.begin(), elements.end(), element) != elements.end();
}

bool among(const MatrixShape& shape, std::initializer_list<MatrixShape> shapes) {
  return std::find(shapes.begin(), shapes.end(), shape) != shapes.end();
}

/// True if mma has this shape with these types (PTX ISA, 9.7.14.5).
bool mma_has(const MatrixForm& form, const MatrixShape& shape) {
  if (form.c != form.d) return false;
  switch (form.a) {
    case Element::f16:
    case Element::bf16: return form.b == form.a && among(shape, {{16, 8, 8}, {16, 8, 16}});
    case Element::tf32: return form.b == form.a && among(shape, {{16, 8, 4}, {16, 8, 8}});
    case Element::f64:
      return form.b == form.a && among(shape, {{8, 8, 4}, {16, 8, 4}, {16, 8, 8}, {16, 8, 16}});
    case Element::s8:
    case Element::u8:
      return among(form.b, {Element::s8, Element::u8}) &&
             among(shape, {{8, 8, 16}, {16, 8, 16}, {16, 8, 32}});
    case Element::s4:
    case Element::u4:
      return among(form.b, {Element::s4, Element::u4}) &&
             among(shape, {{8, 8, 32}, {16, 8, 32}, {16, 8, 64}});
    case Element::e4m3:
    case Element::e5m2:
      return among(form.b, {Element::e4m3, Element::e5m2}) &&
             among(shape, {{16, 8, 16}, {16, 8, 32}});
    default: return false;
  }
}

bool mode_fits(MatrixMode mode, Element sum) {
  if (mode == MatrixMode::nearest) return true;
  return sum == (mode == MatrixMode::saturating ? Element::s32 : Element::f64);
}

/// The PTX type of a fragment's registers.
ptx::Type register_type(Element element) {
  switch (element) {
    case Element::f64: return ptx::Type::f64;
    case Element::f32: return ptx::Type::f32;
    case Element::s32: return ptx::Type::s32;
    default: return ptx::Type::b32;
  }
}

OpSpec multiply_spec(const MatrixForm& form) {
  OpSpec spec;
  spec.full = spec.masked = matrix_handler();
  spec.imm = imm_of(form);
  spec.destinations = form.sum_registers(form.d);
  const auto add = [&](Element element, int registers) {
    spec.operands.insert(spec.operands.end(), static_cast<std::size_t>(registers),
                         register_type(element));
  };
  add(form.d, spec.destinations);
  add(form.a, form.a_registers());
  add(form.b, form.b_registers());
  add(form.c, form.sum_registers(form.c));
  return spec;
}

}  // namespace

std::optional<MatrixForm> matrix_form(const Instruction& instruction) {
  const bool wmma = instruction.opcode == ptx::Opcode::wmma;
  if (!wmma && instruction.opcode != ptx::Opcode::mma) return std::nullopt;
  Instruction rest = instruction;
  if (wmma) {
    if (rest.modifiers.empty() || rest.modifiers.front() != "mma") return std::nullopt;
    rest.modifiers.erase(rest.modifiers.begin());
  }
  const auto parts = parts_of(rest);
  if (!parts) return std::nullopt;
  std::vector<Element> types = parts->types;
  if (wmma && types.size() == 2) types = {types[0], Element::f16, Element::f16, types[1]};
  const bool row_by_column = parts->columns == std::vector<bool>{false, true};
  if (types.size() != 4 || !(wmma || row_by_column)) return std::nullopt;

  const MatrixShape shape = *parts->shape;
  const MatrixForm form = {static_cast<std::uint8_t>(shape.m),
                           static_cast<std::uint8_t>(shape.n),
                           static_cast<std::uint8_t>(shape.k),
                           types[1],
                           types[2],
                           types[3],
                           types[0],
                           parts->mode.value_or(MatrixMode::nearest)};
  if (!matrix_sum_fits(form.a, form.c) || !matrix_sum_fits(form.a, form.d)) return std::nullopt;
  if (!mode_fits(form.mode, form.d)) return std::nullopt;
  const bool there = wmma ? form.a == form.b && wmma_has(shape, form.a) : mma_has(form, shape);
  return there ? std::optional(form) : std::nullopt;
}

std::optional<OpSpec> matrix(const Instruction& instruction) {
  if (instruction.opcode == ptx::Opcode::movmatrix) return matrix_transpose(instruction);
  if (instruction.has("simdgroup")) return simdgroup_matrix(instruction);
  const auto form = matrix_form(instruction);
  return form ? std::optional(multiply_spec(*form)) : std::nullopt;
}

}  // namespace rung::vgpu
