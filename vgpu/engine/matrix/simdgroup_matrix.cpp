#include "vgpu/engine/matrix/simdgroup_matrix.hpp"

#include <string>
#include <vector>

#include "vgpu/engine/matrix/fragment_places.hpp"
#include "vgpu/engine/matrix/matrix_elements.hpp"
#include "vgpu/engine/matrix/matrix_names.hpp"
#include "vgpu/engine/warp/warp_ops.hpp"
#include "vgpu/model/warp.hpp"
#include "vgpu/ptx/opcodes.hpp"

namespace rung::vgpu {
namespace {

using Element = MatrixElement;

constexpr int size = 8;  // rows and columns

/// A row-major matrix of f32. Each lane holds two elements.
struct Square {
  alignas(64) float at[size][size];

  /// The lane's i-th element.
  float& element(int lane, int i) {
    const MatrixPlace place = place_in_simdgroup(lane, i);
    return at[place.row][place.column];
  }
};

Square read_sums(Warp& warp, const std::uint32_t* rows) {
  Square result;
  for (int i = 0; i < 2; ++i) {
    const float* const values = warp.row<const float>(rows[i]);
    for (int lane = 0; lane < warp_size; ++lane) result.element(lane, i) = values[lane];
  }
  return result;
}

template <Element type>
Square read(Warp& warp, const std::uint32_t* rows) {
  if constexpr (type == Element::f32) {
    return read_sums(warp, rows);
  } else {
    const auto* const words = warp.row<const std::uint32_t>(rows[0]);
    Square result;
    for (int lane = 0; lane < warp_size; ++lane) {
      for (int i = 0; i < 2; ++i) {
        result.element(lane, i) = matrix_element<type>(words[lane], i);
      }
    }
    return result;
  }
}

template <Element type>
constexpr int registers = type == Element::f32 ? 2 : 1;

template <Element type>
void multiply_accumulate(Warp& warp, const Instr& instr) {
  if (warp.mask != all_lanes) report_bad_participant(warp, instr, ~warp.mask);
  const std::uint32_t* const d = instr.rows;
  const Square a = read<type>(warp, d + 2);
  const Square b = read<type>(warp, d + 2 + registers<type>);
  Square sums = read_sums(warp, d + 2 + 2 * registers<type>);
  for (int row = 0; row < size; ++row) {
    for (int k = 0; k < size; ++k) {
      for (int col = 0; col < size; ++col) sums.at[row][col] += a.at[row][k] * b.at[k][col];
    }
  }
  for (int i = 0; i < 2; ++i) {
    float* const values = warp.row<float>(d[i]);
    for (int lane = 0; lane < warp_size; ++lane) {
      if (((warp.mask >> lane) & 1) != 0) values[lane] = sums.element(lane, i);
    }
  }
}

template <Element type>
OpSpec spec() {
  using ptx::Type;
  OpSpec spec;
  spec.full = spec.masked = multiply_accumulate<type>;
  spec.destinations = 2;
  spec.operands = {Type::f32, Type::f32};
  const Type factor = type == Element::f32 ? Type::f32 : Type::b32;
  spec.operands.insert(spec.operands.end(), 2 * registers<type>, factor);
  spec.operands.insert(spec.operands.end(), 2, Type::f32);
  return spec;
}

}  // namespace

std::optional<OpSpec> simdgroup_matrix(const ptx::Instruction& instruction) {
  const std::vector<std::string>& words = instruction.modifiers;
  if (instruction.opcode != ptx::Opcode::mma || words.size() != 5 || words[0] != "simdgroup") {
    return std::nullopt;
  }
  if (words[1] != "f32" || words[2] != words[3] || words[4] != "f32") return std::nullopt;
  switch (matrix_element_named(words[2]).value_or(Element::f64)) {
    case Element::f32: return spec<Element::f32>();
    case Element::f16: return spec<Element::f16>();
    case Element::bf16: return spec<Element::bf16>();
    default: return std::nullopt;
  }
}

}  // namespace rung::vgpu
