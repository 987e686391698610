#include "vgpu/engine/matrix/sparse_multiply.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <string_view>

#include "vgpu/engine/matrix/fragment_places.hpp"
#include "vgpu/engine/matrix/matrix_elements.hpp"
#include "vgpu/engine/matrix/matrix_names.hpp"
#include "vgpu/engine/matrix/tensor_core_sums.hpp"
#include "vgpu/engine/numbers/float16.hpp"
#include "vgpu/engine/warp/warp_ops.hpp"
#include "vgpu/ptx/opcodes.hpp"

namespace rung::vgpu {
namespace {

using Element = MatrixElement;

constexpr int rows = 16, columns = 8, largest_k = 64;

float value_of(Element type, std::uint32_t word, int index) {
  switch (type) {
    case Element::f16: return matrix_element<Element::f16>(word, index);
    case Element::bf16: return matrix_element<Element::bf16>(word, index);
    case Element::tf32: return matrix_element<Element::tf32>(word, index);
    case Element::e4m3: return f32_of_e4m3(word >> (8 * index) & 0xFF);
    case Element::e5m2: return f32_of_e5m2(word >> (8 * index));
    case Element::s8: return matrix_element<Element::s8>(word, index);
    default: return matrix_element<Element::u8>(word, index);
  }
}

/// Elements of k that one group of products has, without sparsity.
int steps_of_k(Element type) {
  return type == Element::tf32 ? 8 : element_bits(type) == 16 ? 16 : 32;
}

/// A and B as rows and columns, with zeros where A has none.
struct Operands {
  std::array<std::array<float, largest_k>, rows> a{};
  std::array<std::array<float, largest_k>, columns> b{};
};

void load_a(Warp& warp, const SparseMultiplyOp& op, Operands& to) {
  const int packed = per_register(op.a);
  const bool is_tf32 = op.a == Element::tf32;
  const int stored = is_tf32 ? 1 : 2;  // elements of a chunk
  for (int reg = 0; reg < op.a_registers(); ++reg) {
    const auto* const words = warp.row<std::uint32_t>(op.a_rows[static_cast<std::size_t>(reg)]);
    for (int lane = 0; lane < warp_size; ++lane) {
      for (int index = 0; index < packed; ++index) {
        const MatrixPlace at = place_in_a(rows, packed, lane, reg, index);
        const int chunk = at.column / stored;
        const MetadataPlace place = metadata_place(op, at.row, chunk);
        const std::uint32_t bits = warp.row<std::uint32_t>(op.metadata)[place.lane] >> place.bit;
        // tf32: 0b0100 is the first element of two, 0b1110 the second.
        const auto position = is_tf32 ? static_cast<int>(bits >> 1 & 1)
                                      : static_cast<int>(bits >> (2 * (at.column % stored)) & 3);
        const int k = chunk * 2 * stored + position;
        to.a[static_cast<std::size_t>(at.row)][static_cast<std::size_t>(k)] =
            value_of(op.a, words[lane], index);
      }
    }
  }
}

void load_b(Warp& warp, const SparseMultiplyOp& op, Operands& to) {
  const int packed = per_register(op.b);
  for (int reg = 0; reg < op.b_registers(); ++reg) {
    const auto* const words = warp.row<std::uint32_t>(op.b_rows[static_cast<std::size_t>(reg)]);
    for (int lane = 0; lane < warp_size; ++lane) {
      for (int index = 0; index < packed; ++index) {
        const MatrixPlace at = place_in_b(packed, lane, reg, index);
        to.b[static_cast<std::size_t>(at.column)][static_cast<std::size_t>(at.row)] =
            value_of(op.b, words[lane], index);
      }
    }
  }
}

float sum_of(const SparseMultiplyOp& op, const Operands& operands, const MatrixPlace& at, float c) {
  const SumRule rule = [&] {
    SumRule of_dense = sum_rule(op.a, op.b, op.sum, false);
    of_dense.group *= 2;
    return of_dense;
  }();
  const auto& a = operands.a[static_cast<std::size_t>(at.row)];
  const auto& b = operands.b[static_cast<std::size_t>(at.column)];
  float sums[1] = {c};
  const int step = std::min({2 * steps_of_k(op.a), max_steps, op.k});
  for (int k = 0; k < op.k; k += step) {
    Columns<1> column;
    set_columns(rule, step, b.data() + k, 1, column);
    add_products(rule, step, a.data() + k, column, sums);
  }
  return sums[0];
}

std::uint32_t integer_sum(const SparseMultiplyOp& op, const Operands& operands,
                          const MatrixPlace& at, std::uint32_t c) {
  std::int64_t sum = static_cast<std::int32_t>(c);
  for (int k = 0; k < op.k; ++k) {
    const auto i = static_cast<std::size_t>(k);
    sum += static_cast<std::int64_t>(operands.a[static_cast<std::size_t>(at.row)][i] *
                                     operands.b[static_cast<std::size_t>(at.column)][i]);
  }
  if (op.saturates) sum = std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX);
  return static_cast<std::uint32_t>(sum);
}

/// The new value of a register of D, from that of C.
std::uint32_t sums_in(const SparseMultiplyOp& op, const Operands& operands, int lane, int reg,
                      std::uint32_t c) {
  const int packed = per_register(op.sum);
  std::uint32_t word = 0;
  for (int index = 0; index < packed; ++index) {
    const MatrixPlace at = place_in_sum(packed, lane, reg, index);
    switch (op.sum) {
      case Element::s32: return integer_sum(op, operands, at, c);
      case Element::f32:
        return std::bit_cast<std::uint32_t>(sum_of(op, operands, at, std::bit_cast<float>(c)));
      default: {
        const float from = f32_of_f16(c >> (16 * index) & 0xFFFF);
        word |= std::uint32_t{F16::nearest(sum_of(op, operands, at, from)).bits} << (16 * index);
      }
    }
  }
  return word;
}

}  // namespace

MetadataPlace metadata_place(const SparseMultiplyOp& op, int row, int chunk) {
  const int group = row % 8 * lanes_of_group, half = row / 8;
  // 4 chunks: one thread has those of rows g and g + 8. 8 chunks of wider elements: a pair of threads has half of k
  // each; of bytes, a row each. 16 chunks: a pair for each half of k.
  if (op.chunks() == 4) return {group + op.selector, 16 * half + 4 * chunk};
  if (op.chunks() == 16) return {group + half + chunk / 8 * 2, chunk % 8 * 4};
  if (element_bits(op.a) == 8) return {group + 2 * op.selector + half, 4 * chunk};
  return {group + 2 * op.selector + chunk / 4, 16 * half + chunk % 4 * 4};
}

std::optional<SparseMultiplyOp> sparse_multiply_form(const ptx::Instruction& instruction) {
  const auto is = [&](std::string_view modifier) { return instruction.has(modifier); };
  if (instruction.opcode != ptx::Opcode::mma || (!is("sp") && !is("sp::ordered_metadata")) ||
      !is("sync") || !is("aligned") || !is("row") || !is("col")) {
    return std::nullopt;
  }
  SparseMultiplyOp op;
  std::vector<Element> types;  // of D, A, B and C
  for (const std::string& modifier : instruction.modifiers) {
    if (modifier.starts_with("kind::")) return std::nullopt;
    if (const auto type = matrix_element_named(modifier)) types.push_back(*type);
    if (const auto shape = read_matrix_shape(modifier))
      op.k = shape->m == 16 && shape->n == 8 ? shape->k : 0;
  }
  if (types.size() != 4 || types[0] != types[3]) return std::nullopt;
  op.sum = types[0];
  op.a = types[1];
  op.b = types[2];
  op.saturates = is("satfinite");
  // Table "mma.sp" of 9.7.14.6.
  const bool is_float8 = op.a == Element::e4m3 || op.a == Element::e5m2;
  const int smallest = op.a == Element::tf32      ? 8
                       : element_bits(op.a) == 16 ? 16
                       : is_float8                ? 64
                                                  : 32;
  const bool has_k = op.k == smallest || (!is_float8 && op.k == 2 * smallest);
  const bool has_types = op.a != Element::s4 && op.a != Element::u4 && op.a != Element::f64 &&
                         (op.a == op.b || element_bits(op.a) == 8) &&
                         matrix_sum_fits(op.a, op.sum) && matrix_sum_fits(op.b, op.sum);
  return has_k && has_types ? std::optional(op) : std::nullopt;
}

void run_sparse_multiply(Warp& warp, const Instr& instr) {
  const auto& op = instr.op<SparseMultiplyOp>();
  if (warp.mask != all_lanes) report_bad_participant(warp, instr, ~warp.mask);
  Operands operands;
  load_a(warp, op, operands);
  load_b(warp, op, operands);
  // D may share registers with C.
  std::array<std::array<std::uint32_t, warp_size>, 4> sums;
  for (int reg = 0; reg < op.sum_registers(); ++reg) {
    const auto i = static_cast<std::size_t>(reg);
    const auto* const c = warp.row<std::uint32_t>(op.c_rows[i]);
    for (int lane = 0; lane < warp_size; ++lane) {
      sums[i][static_cast<std::size_t>(lane)] = sums_in(op, operands, lane, reg, c[lane]);
    }
  }
  for (std::size_t i = 0; i < op.d_rows.size(); ++i) {
    std::copy(sums[i].begin(), sums[i].end(), warp.row<std::uint32_t>(op.d_rows[i]));
  }
}

}  // namespace rung::vgpu
