#include "vgpu/engine/matrix/narrow_multiply.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "vgpu/engine/matrix/matrix_elements.hpp"
#include "vgpu/engine/matrix/tensor_core_sums.hpp"
#include "vgpu/engine/numbers/float16.hpp"
#include "vgpu/engine/numbers/small_floats.hpp"
#include "vgpu/engine/warp/warp_ops.hpp"
#include "vgpu/ptx/opcodes.hpp"

namespace rung::vgpu {
namespace {

using Element = TensorElement5;

constexpr int rows = 16, columns = 8, max_k = 128, lanes_of_group = 4;

std::optional<Element> element_named(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, Element>, 5> names = {{{"e4m3", Element::e4m3},
                                                                          {"e5m2", Element::e5m2},
                                                                          {"e2m3", Element::e2m3},
                                                                          {"e3m2", Element::e3m2},
                                                                          {"e2m1", Element::e2m1}}};
  for (const auto& [known, element] : names) {
    if (known == name) return element;
  }
  return std::nullopt;
}

/// Scales along k by the modifier .scale_vec, or the default of the kind.
int scales_of(const ptx::Instruction& instruction) {
  if (instruction.has("scale_vec::1X")) return 1;
  if (instruction.has("scale_vec::2X")) return 2;
  if (instruction.has("scale_vec::4X")) return 4;
  return instruction.has("kind::mxf8f6f4") ? 1 : instruction.has("kind::mxf4") ? 2 : 0;
}

/// Checks the types and the number of scales that each kind has (Table "Details of .kind").
bool is_known(const ptx::Instruction& instruction, const NarrowMultiplyOp& op) {
  const auto is = [&](std::string_view modifier) { return instruction.has(modifier); };
  const bool scales = is("block_scale");
  if (scales && (op.has_half_sums || is("ue8m0") == is("ue4m3"))) return false;
  const bool has_shape_of_bytes = is(op.sparse ? "m16n8k64" : "m16n8k32");
  if (is("kind::f8f6f4")) return !scales && has_shape_of_bytes;
  if (!scales) return false;
  if (is("kind::mxf8f6f4")) return has_shape_of_bytes && op.scales_of_k == 1 && op.has_e8m0_scales;
  const bool has_shape = is(op.sparse ? "m16n8k128" : "m16n8k64");
  if (op.a != Element::e2m1 || op.b != Element::e2m1 || !has_shape) return false;
  if (is("kind::mxf4")) return op.scales_of_k == 2 && op.has_e8m0_scales;
  const bool fits = op.scales_of_k == 4 || (op.scales_of_k == 2 && op.has_e8m0_scales);
  return is("kind::mxf4nvf4") && fits;
}

/// The value of element `index` of a register. In a byte, 4-bit elements begin at bit 2 and 6-bit ones at bit 0.
double value_of(Element element, bool is_nibble, std::uint32_t word, int index) {
  if (is_nibble) return decode(word >> (4 * index) & 0xF, e2m1_format);
  const std::uint32_t byte = word >> (8 * index) & 0xFF;
  switch (element) {
    case Element::e4m3: return f32_of_e4m3(byte);
    case Element::e5m2: return f32_of_e5m2(byte);
    case Element::e2m3: return decode(byte & 0x3F, e2m3_format);
    case Element::e3m2: return decode(byte & 0x3F, e3m2_format);
    default: return decode(byte >> 2 & 0xF, e2m1_format);
  }
}

/// A row of A or a column of B, scaled, with the exponents by which products are aligned.
struct Line {
  std::array<double, max_k> values;
  std::array<std::int32_t, max_k> exponents;
};

/// Multiplies a line by its scales.
void finish_line(const NarrowMultiplyOp& op, const std::array<double, 4>& scales, Line& line) {
  const int per_scale = op.k / std::max(1, op.scales_of_k);
  for (int k = 0; k < op.k; ++k) {
    double& value = line.values[static_cast<std::size_t>(k)];
    if (op.scales_of_k != 0) value *= scales[static_cast<std::size_t>(k / per_scale)];
    line.exponents[static_cast<std::size_t>(k)] =
        value == 0 || !std::isfinite(value) ? -4096 : std::ilogb(value);
  }
}

/// The scales that a lane holds.
std::array<double, 4> scales_in(Warp& warp, const NarrowMultiplyOp& op, const NarrowScales& scales,
                                int lane) {
  std::array<double, 4> found{};
  const std::uint32_t word = warp.row<std::uint32_t>(scales.data)[lane];
  const int first = warp.row<std::uint16_t>(scales.byte)[lane] & 3;
  for (int i = 0; i < op.scales_of_k; ++i) {
    const std::uint32_t bits = word >> ((first + i) % 4 * 8) & 0xFF;
    found[static_cast<std::size_t>(i)] = scale_of(bits, op.has_e8m0_scales);
  }
  return found;
}

/// Moves the stored elements of a row to their positions. A unit is an element of a byte or a pair of 4-bit elements,
/// and two of each four units are stored. Two lanes hold a row's metadata, for half of k each.
void expand(Warp& warp, const NarrowMultiplyOp& op, int row, Line& line) {
  const std::array<double, max_k> packed = line.values;
  line.values.fill(0);
  const int unit = op.has_nibbles ? 2 : 1;
  for (int chunk = 0; chunk < op.k / (4 * unit); ++chunk) {
    constexpr int chunks_of_word = 8;
    const int lane = row % 8 * lanes_of_group + row / 8 + chunk / chunks_of_word * 2;
    const std::uint32_t positions =
        warp.row<std::uint32_t>(op.metadata)[lane] >> (chunk % chunks_of_word * 4);
    for (int i = 0; i < 2 * unit; ++i) {
      const int position = static_cast<int>(positions >> (i / unit * 2) & 3);
      line.values[static_cast<std::size_t>((4 * chunk + position) * unit + i % unit)] =
          packed[static_cast<std::size_t>(2 * chunk * unit + i)];
    }
  }
}

/// Registers hold rows lane / 4 and lane / 4 + 8 of A, with 4 bytes of k from 4 (lane % 4) and 16 bytes later.
void load_a(Warp& warp, const NarrowMultiplyOp& op, std::array<Line, rows>& lines) {
  const int per_register = op.has_nibbles ? 8 : 4;
  for (int i = 0; i < NarrowMultiplyOp::a_registers; ++i) {
    const auto* const words = warp.row<std::uint32_t>(op.a_rows[static_cast<std::size_t>(i)]);
    for (int lane = 0; lane < warp_size; ++lane) {
      Line& line = lines[static_cast<std::size_t>(lane / lanes_of_group + i % 2 * 8)];
      const int k = (lane % lanes_of_group + i / 2 * lanes_of_group) * per_register;
      for (int j = 0; j < per_register; ++j) {
        line.values[static_cast<std::size_t>(k + j)] =
            value_of(op.a, op.has_nibbles, words[lane], j);
      }
    }
  }
  for (int row = 0; row < rows; ++row) {
    std::array<double, 4> scales{};
    if (op.scales_of_k != 0) {
      const int thread = warp.row<std::uint16_t>(op.scale_a.thread)[row % 8 * lanes_of_group];
      scales = scales_in(warp, op, op.scale_a, lane_of_a_scales(row, thread));
    }
    Line& line = lines[static_cast<std::size_t>(row)];
    if (op.sparse) expand(warp, op, row, line);
    finish_line(op, scales, line);
  }
}

/// Registers hold column lane / 4 of B, with 4 bytes of k from 4 (lane % 4) and 16 bytes later.
void load_b(Warp& warp, const NarrowMultiplyOp& op, std::array<Line, columns>& lines) {
  const int per_register = op.has_nibbles ? 8 : 4;
  for (int i = 0; i < op.b_registers(); ++i) {
    const auto* const words = warp.row<std::uint32_t>(op.b_rows[static_cast<std::size_t>(i)]);
    for (int lane = 0; lane < warp_size; ++lane) {
      Line& line = lines[static_cast<std::size_t>(lane / lanes_of_group)];
      const int k = (lane % lanes_of_group + i * lanes_of_group) * per_register;
      for (int j = 0; j < per_register; ++j) {
        line.values[static_cast<std::size_t>(k + j)] =
            value_of(op.b, op.has_nibbles, words[lane], j);
      }
    }
  }
  for (int column = 0; column < columns; ++column) {
    std::array<double, 4> scales{};
    if (op.scales_of_k != 0) {
      const int thread = warp.row<std::uint16_t>(op.scale_b.thread)[column * lanes_of_group];
      scales = scales_in(warp, op, op.scale_b, lane_of_b_scales(column, thread));
    }
    finish_line(op, scales, lines[static_cast<std::size_t>(column)]);
  }
}

using Sums = std::array<std::array<float, columns>, rows>;

/// Calls f(row, column, register, half of the register) for each sum of a lane.
template <class F>
void for_each_sum(const NarrowMultiplyOp& op, int lane, const F& f) {
  for (int i = 0; i < 4; ++i) {
    const int row = lane / lanes_of_group + i / 2 * 8, column = lane % lanes_of_group * 2 + i % 2;
    f(row, column, static_cast<std::size_t>(op.has_half_sums ? i / 2 : i),
      op.has_half_sums ? i % 2 : 0);
  }
}

void load_sums(Warp& warp, const NarrowMultiplyOp& op, Sums& sums) {
  for (int lane = 0; lane < warp_size; ++lane) {
    for_each_sum(op, lane, [&](int row, int column, std::size_t index, int half) {
      const std::uint32_t word = warp.row<std::uint32_t>(op.c_rows[index])[lane];
      sums[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)] =
          op.has_half_sums ? f32_of_f16(word >> (16 * half) & 0xFFFF) : std::bit_cast<float>(word);
    });
  }
}

void store_sums(Warp& warp, const NarrowMultiplyOp& op, const Sums& sums) {
  for (int lane = 0; lane < warp_size; ++lane) {
    for_each_sum(op, lane, [&](int row, int column, std::size_t index, int half) {
      std::uint32_t& word = warp.row<std::uint32_t>(op.d_rows[index])[lane];
      const float sum = sums[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)];
      if (!op.has_half_sums) {
        word = std::bit_cast<std::uint32_t>(sum);
        return;
      }
      const std::uint32_t bits = F16::nearest(sum).bits;
      word = half == 0 ? bits : (word & 0xFFFF) | bits << 16;
    });
  }
}

}  // namespace

double scale_of(std::uint32_t bits, bool is_e8m0) {
  if (!is_e8m0) return f32_of_e4m3(bits & 0x7F);
  if (bits == 0xFF) return std::numeric_limits<double>::quiet_NaN();
  constexpr int bias = 127;
  return std::ldexp(1.0, static_cast<int>(bits) - bias);
}

std::optional<NarrowMultiplyOp> narrow_multiply_form(const ptx::Instruction& instruction) {
  const auto is = [&](std::string_view modifier) { return instruction.has(modifier); };
  if (instruction.opcode != ptx::Opcode::mma || !is("sync") || !is("aligned") || !is("row") ||
      !is("col")) {
    return std::nullopt;
  }
  NarrowMultiplyOp op;
  std::vector<Element> elements;
  int halves = 0;
  int floats = 0;
  for (const std::string& modifier : instruction.modifiers) {
    if (modifier == "sp")
      return std::nullopt;  // without ::ordered_metadata, it is no form of .kind
    if (const auto element = element_named(modifier)) elements.push_back(*element);
    halves += modifier == "f16" ? 1 : 0;
    floats += modifier == "f32" ? 1 : 0;
  }
  if (elements.size() != 2 || halves + floats != 2 || halves == 1) return std::nullopt;
  op.a = elements[0];
  op.b = elements[1];
  op.sparse = is("sp::ordered_metadata");
  op.has_nibbles = !is("kind::f8f6f4") && !is("kind::mxf8f6f4");
  op.k = is("m16n8k128") ? max_k : is("m16n8k64") ? 64 : 32;
  op.has_half_sums = halves == 2;
  op.has_e8m0_scales = is("ue8m0");
  if (is("block_scale")) op.scales_of_k = scales_of(instruction);
  return is_known(instruction, op) ? std::optional(op) : std::nullopt;
}

void run_narrow_multiply(Warp& warp, const Instr& instr) {
  const auto& op = instr.op<NarrowMultiplyOp>();
  if (warp.mask != all_lanes) report_bad_participant(warp, instr, ~warp.mask);
  thread_local std::array<Line, rows> a;
  thread_local std::array<Line, columns> b;
  Sums sums;
  load_a(warp, op, a);
  load_b(warp, op, b);
  load_sums(warp, op, sums);
  using Matrix = MatrixElement;
  const SumRule rule =
      tcgen05_sum_rule(Matrix::e4m3, Matrix::e4m3, op.has_half_sums ? Matrix::f16 : Matrix::f32);
  for (int first = 0; first < op.k; first += max_steps) {
    Columns<columns> terms;
    for (std::size_t k = 0; k < max_steps; ++k) {
      for (std::size_t j = 0; j < columns; ++j) {
        terms.values[k][j] = b[j].values[static_cast<std::size_t>(first) + k];
        terms.exponents[k][j] = b[j].exponents[static_cast<std::size_t>(first) + k];
      }
    }
    for (std::size_t i = 0; i < rows; ++i) {
      float line[columns];
      for (std::size_t j = 0; j < columns; ++j) line[j] = sums[i][j];
      add_group(rule, 0, max_steps, a[i].values.data() + first, a[i].exponents.data() + first,
                terms, line);
      for (std::size_t j = 0; j < columns; ++j) sums[i][j] = line[j];
    }
  }
  store_sums(warp, op, sums);
}

}  // namespace rung::vgpu
