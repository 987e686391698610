#pragma once
// The words of matrix mnemonics.

#include <optional>
#include <string_view>

#include "vgpu/model/matrix_form.hpp"

namespace rung::vgpu {

struct MatrixShape {
  int m, n, k;
  bool operator==(const MatrixShape&) const = default;
};

/// Each without its dot: "f16", "m16n8k16", "satfinite" or "rz". Nothing for what is no such word.
std::optional<MatrixElement> matrix_element_named(std::string_view name);
std::optional<MatrixShape> matrix_shape_named(std::string_view name);
std::optional<MatrixMode> matrix_mode_named(std::string_view name);
/// Any numbers in the form of a shape: "m64n128k16".
std::optional<MatrixShape> read_matrix_shape(std::string_view name);

/// The shapes and types of wmma (PTX ISA, 9.7.14.4); A and B have the same type.
bool wmma_has(const MatrixShape& shape, MatrixElement element);

/// Whether C and D may have this type (f16, f32, s32, f64) where A and B have that.
bool matrix_sum_fits(MatrixElement element, MatrixElement sum);

}  // namespace rung::vgpu
