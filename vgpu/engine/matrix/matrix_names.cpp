#include "vgpu/engine/matrix/matrix_names.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <utility>

namespace rung::vgpu {
namespace {

using enum MatrixElement;

template <std::size_t count>
std::optional<std::size_t> index_of(const std::array<std::string_view, count>& names,
                                    std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names.begin());
}

}  // namespace

std::optional<MatrixElement> matrix_element_named(std::string_view name) {
  constexpr std::array<std::string_view, 12> names = {"f16", "bf16", "tf32", "e4m3", "e5m2", "s8",
                                                      "u8",  "s4",   "u4",   "f32",  "s32",  "f64"};
  const auto index = index_of(names, name);
  if (!index) return std::nullopt;
  return static_cast<MatrixElement>(*index);
}

std::optional<MatrixMode> matrix_mode_named(std::string_view name) {
  constexpr std::array<std::string_view, 5> names = {"rn", "rz", "rm", "rp", "satfinite"};
  const auto index = index_of(names, name);
  if (!index) return std::nullopt;
  return static_cast<MatrixMode>(*index);
}

std::optional<MatrixShape> matrix_shape_named(std::string_view name) {
  constexpr std::array<std::string_view, 12> names = {
      "m8n8k4",   "m8n8k16",  "m8n8k32",  "m16n8k4",   "m16n8k8",  "m16n8k16",
      "m16n8k32", "m16n8k64", "m16n16k8", "m16n16k16", "m32n8k16", "m8n32k16"};
  constexpr std::array<MatrixShape, 12> shapes = {{{8, 8, 4},
                                                   {8, 8, 16},
                                                   {8, 8, 32},
                                                   {16, 8, 4},
                                                   {16, 8, 8},
                                                   {16, 8, 16},
                                                   {16, 8, 32},
                                                   {16, 8, 64},
                                                   {16, 16, 8},
                                                   {16, 16, 16},
                                                   {32, 8, 16},
                                                   {8, 32, 16}}};
  const auto index = index_of(names, name);
  if (!index) return std::nullopt;
  return shapes[*index];
}

std::optional<MatrixShape> read_matrix_shape(std::string_view name) {
  MatrixShape shape{};
  const char* at = name.data();
  const char* const end = at + name.size();
  for (const auto& [letter, extent] :
       {std::pair{'m', &shape.m}, std::pair{'n', &shape.n}, std::pair{'k', &shape.k}}) {
    if (at == end || *at != letter) return std::nullopt;
    const auto read = std::from_chars(at + 1, end, *extent);
    if (read.ec != std::errc() || *extent <= 0) return std::nullopt;
    at = read.ptr;
  }
  return at == end ? std::optional(shape) : std::nullopt;
}

bool wmma_has(const MatrixShape& shape, MatrixElement element) {
  switch (element) {
    case f16:
    case bf16:
    case s8:
    case u8:
      return shape == MatrixShape{16, 16, 16} || shape == MatrixShape{32, 8, 16} ||
             shape == MatrixShape{8, 32, 16};
    case tf32: return shape == MatrixShape{16, 16, 8};
    case f64: return shape == MatrixShape{8, 8, 4};
    case s4:
    case u4: return shape == MatrixShape{8, 8, 32};
    default: return false;
  }
}

bool matrix_sum_fits(MatrixElement element, MatrixElement sum) {
  switch (element) {
    case f64: return sum == f64;
    case s8:
    case u8:
    case s4:
    case u4: return sum == s32;
    case f16:
    case e4m3:
    case e5m2: return sum == f16 || sum == f32;
    case bf16:
    case tf32: return sum == f32;
    default: return false;
  }
}

}  // namespace rung::vgpu
