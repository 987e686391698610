#pragma once
// The instructions to check, and the results of the virtual GPU for their fragments.

#include <bit>
#include <cstdint>
#include <string_view>
#include <vector>

#include "vgpu/engine/matrix/matrix_elements.hpp"
#include "vgpu/engine/matrix/tensor_core_sums.hpp"
#include "vgpu/tests/tensor_cores/cases.hpp"

namespace rung::tensor_cores {

struct Instruction {
  std::string_view name;
  Type type;
  int words;  // per row of A and column of B
  bool is_half;
  bool is_wgmma;
  /// Hash of an H200's results for the first `recorded_rows` rows of fragments, by hash_of().
  std::uint64_t recorded;

  int deep() const { return words * per_word(type); }
  int rows() const { return is_wgmma ? 64 : 16; }
};

inline constexpr int recorded_rows = 480 * 16;

inline constexpr Instruction instructions[] = {
    {"mma.m16n8k16.f32.f16", f16, 8, false, false, 0xd91165cb65034e0d},
    {"mma.m16n8k8.f32.f16", f16, 4, false, false, 0x735c04c82bc6c899},
    {"mma.m16n8k16.f32.bf16", bf16, 8, false, false, 0xc68abd130eb42564},
    {"mma.m16n8k8.f32.tf32", tf32, 8, false, false, 0xd8bfbba2c51118b0},
    {"mma.m16n8k4.f32.tf32", tf32, 4, false, false, 0x28ed303c1a9d4a25},
    {"mma.m16n8k32.f32.e4m3", e4m3, 8, false, false, 0x5b90fa29802f8a91},
    {"mma.m16n8k32.f32.e5m2", e5m2, 8, false, false, 0xc865e1f43695f2d9},
    {"mma.m16n8k16.f16.f16", f16, 8, true, false, 0x73d2dd642acced93},
    {"wgmma.m64n8k16.f32.f16", f16, 8, false, true, 0xd5db885d4acb4699},
    {"wgmma.m64n8k16.f32.bf16", bf16, 8, false, true, 0x359f76bfc96e2e56},
    {"wgmma.m64n8k8.f32.tf32", tf32, 8, false, true, 0x959ec7c94a8ec39f},
    {"wgmma.m64n8k32.f32.e4m3", e4m3, 8, false, true, 0xa1f1c1c6f4a4f416},
    {"wgmma.m64n8k32.f32.e5m2", e5m2, 8, false, true, 0x62ee260cc883e969},
    {"wgmma.m64n8k16.f16.f16", f16, 8, true, true, 0x6152f3ffb577b178},
    {"wgmma.m64n8k32.f16.e4m3", e4m3, 8, true, true, 0xc41c9d933776309f},
    {"wgmma.m64n8k32.f16.e5m2", e5m2, 8, true, true, 0xc8e9adc421dabdfe},
};

/// FNV-1a hash of results, row by row in order, one word at a time.
inline std::uint64_t hash_of(const std::vector<std::uint32_t>& results) {
  std::uint64_t hash = 14695981039346656037ull;
  for (const std::uint32_t bits : results) hash = (hash ^ bits) * 1099511628211ull;
  return hash;
}

inline vgpu::MatrixElement element_type(Type type) {
  using enum vgpu::MatrixElement;
  constexpr vgpu::MatrixElement types[] = {f16, bf16, tf32, e4m3, e5m2};
  return types[type];
}

inline float number(Type type, std::uint32_t bits) {
  using vgpu::MatrixElement;
  switch (type) {
    case f16: return vgpu::matrix_element<MatrixElement::f16>(bits, 0);
    case bf16: return vgpu::matrix_element<MatrixElement::bf16>(bits, 0);
    case tf32: return vgpu::matrix_element<MatrixElement::tf32>(bits, 0);
    case e4m3: return vgpu::matrix_element<MatrixElement::e4m3>(bits, 0);
    default: return vgpu::matrix_element<MatrixElement::e5m2>(bits, 0);
  }
}

/// Appends D = A B + C of one fragment as bits, in rows of 8 columns.
inline void append_results(const Instruction& instruction, std::uint64_t fragment,
                           std::vector<std::uint32_t>& results) {
  constexpr int columns = 8, deepest = 32;
  const Type type = instruction.type;
  const int deep = instruction.deep();
  const vgpu::MatrixElement of_ab = element_type(type);
  const vgpu::SumRule rule = vgpu::sum_rule(
      of_ab, of_ab, instruction.is_half ? vgpu::MatrixElement::f16 : vgpu::MatrixElement::f32,
      instruction.is_wgmma);
  float a[deepest], b[deepest * columns];
  for (int k = 0; k < deep; ++k) {
    for (int col = 0; col < columns; ++col) {
      b[k * columns + col] = number(type, element(type, fragment, 1, col, k, deep));
    }
  }
  vgpu::Columns<columns> of_b;
  vgpu::set_columns(rule, deep, b, columns, of_b);
  for (int row = 0; row < instruction.rows(); ++row) {
    for (int k = 0; k < deep; ++k) a[k] = number(type, element(type, fragment, 0, row, k, deep));
    float sums[columns];
    for (int col = 0; col < columns; ++col) {
      const std::uint32_t c = element_of_c(instruction.is_half, fragment, row, col);
      sums[col] = instruction.is_half ? vgpu::f32_of_f16(c) : std::bit_cast<float>(c);
    }
    vgpu::add_products(rule, deep, a, of_b, sums);
    for (const float sum : sums) {
      const bool is_nan = sum != sum;
      results.push_back(instruction.is_half ? vgpu::F16::nearest(sum).bits
                        : is_nan            ? 0x7FFFFFFFu
                                            : std::bit_cast<std::uint32_t>(sum));
    }
  }
}

}  // namespace rung::tensor_cores
