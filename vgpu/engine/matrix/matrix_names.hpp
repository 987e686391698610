#pragma once
// Parsing of the modifiers of matrix mnemonics.

#include <optional>
#include <string_view>

#include "vgpu/model/matrix_form.hpp"

namespace rung::vgpu {

struct MatrixShape {
  int m, n, k;
  bool operator==(const MatrixShape&) const = default;
};

/// Each parses a modifier without its dot, such as "f16", "m16n8k16", "satfinite" or "rz". Returns
/// nullopt for other words.
std::optional<MatrixElement> matrix_element_named(std::string_view name);
std::optional<MatrixShape> matrix_shape_named(std::string_view name);
std::optional<MatrixMode> matrix_mode_named(std::string_view name);
/// Parses any shape, such as "m64n128k16".
std::optional<MatrixShape> read_matrix_shape(std::string_view name);

/// True if wmma has this shape for this type of A and B (PTX ISA, 9.7.14.4).
bool wmma_has(const MatrixShape& shape, MatrixElement element);

/// True if C and D may have type `sum` (f16, f32, s32, f64) when A and B have type `element`.
bool matrix_sum_fits(MatrixElement element, MatrixElement sum);

}  // namespace rung::vgpu
