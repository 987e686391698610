// tcgen05.mma: D = A B + D in tensor memory (PTX ISA, 9.7.16.10.9).

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "vgpu/engine/execution/cluster.hpp"
#include "vgpu/engine/execution/report.hpp"
#include "vgpu/engine/tensor_memory/tensor_operands.hpp"
#include "vgpu/engine/tensor_memory/zero_columns.hpp"

namespace rung::vgpu {
namespace {

/// One thread's multiplication.
struct Multiply {
  TensorIssue issue;
  const TensorMultiplyOp& op;
  InstructionDescriptor form;
  std::vector<Block*> blocks;

  int rows() const { return form.m / op.blocks; }  // of each block
  TensorAddress address(const AsyncAddress& at) const {
    return TensorAddress::of(static_cast<std::uint32_t>(address_of(issue.warp, at, issue.lane)));
  }
  bool packs_nibbles() const {
    return op.kind == TensorKind::mxf4 || op.kind == TensorKind::mxf4nvf4;
  }
  int element_bits(TensorElement5 element) const {
    return packs_nibbles() ? 4 : std::max(8, bits_of(element));
  }
};

/// The rule of the layout that the descriptor breaks, or nothing.
std::string layout_error(const Multiply& multiply, const MatrixDescriptor& it, bool transposed) {
  const bool has_atom_32 = it.swizzle == TensorSwizzle::bytes_128_atom_32;
  // PTX ISA, 9.7.16.10.1 and Table "Valid Combinations of Type-Size, Major-ness and Swizzling" of 9.7.16.10.3.
  if (transposed && has_atom_32 != (multiply.op.kind == TensorKind::tf32)) {
    return has_atom_32
               ? "is MN-major with swizzle mode 1: expected mode 0, 2, 4 or 6, because only "
                 ".kind::tf32 takes atoms of 32 bytes"
               : "is MN-major in .kind::tf32: expected swizzle mode 1, the 128-byte swizzle "
                 "with atoms of 32 bytes";
  }
  // PTX ISA, 9.7.16.3.1.2.1.
  if (it.leading_is_address &&
      (it.swizzle != TensorSwizzle::bytes_128 || transposed || it.base != 0)) {
    return "has an absolute leading address (bit 52): expected a K-major matrix with swizzle mode "
           "2 "
           "and base offset 0";
  }
  return {};
}

std::optional<MatrixDescriptor> descriptor_of(const Multiply& multiply, std::uint32_t row,
                                              const char* name, bool transposed) {
  const auto bits = multiply.issue.warp.row<std::uint64_t>(row)[multiply.issue.lane];
  bool known = false;
  const MatrixDescriptor descriptor = tcgen05_descriptor(bits, known);
  const std::string error =
      known ? layout_error(multiply, descriptor, transposed)
            : fmt::format(
                  "has {} in bits 46 to 48 and swizzle mode {}: expected 1, and mode 0, 1, "
                  "2, 4 or 6",
                  bits >> 46 & 7, bits >> 61);
  if (error.empty()) return descriptor;
  multiply.issue.fail(HazardKind::descriptor, fmt::format("descriptor {:#x}", bits),
                      fmt::format("the descriptor of {} {}", name, error));
  return std::nullopt;
}

ZeroColumns zero_columns_of(const Multiply& multiply) {
  if (!multiply.op.has_zero_columns) return {};
  const auto bits =
      multiply.issue.warp.row<std::uint64_t>(multiply.op.zero_columns)[multiply.issue.lane];
  return zero_columns(bits, multiply.form.m, multiply.form.n);
}

/// Loads the columns of B: each block of a pair has half of them.
bool load_b(const Multiply& multiply, TensorTile& tile) {
  const auto descriptor =
      descriptor_of(multiply, multiply.op.b_descriptor, "B", multiply.form.transpose_b);
  if (!descriptor) return false;
  const int columns = multiply.form.n / multiply.op.blocks;
  const ZeroColumns zeros = zero_columns_of(multiply);
  int first = 0;
  for (Block* const block : multiply.blocks) {
    const TensorSource source{*block,
                              "B",
                              *descriptor,
                              multiply.form.b,
                              multiply.form.transpose_b,
                              columns,
                              multiply.form.k,
                              multiply.element_bits(multiply.form.b),
                              zeros.shift};
    if (!load_lines(multiply.issue, source, first, tile)) return false;
    first += columns;
  }
  for (int column = 0; column < multiply.form.n; ++column) {
    const auto at = static_cast<std::size_t>(column);
    if (zeros.is_zero[at]) tile.lines[at].fill(0);
  }
  return true;
}

bool load_a(const Multiply& multiply, Block& block, const TensorProduct& product,
            TensorTile& tile) {
  if (multiply.op.a_in_tensor_memory) {
    return load_rows(multiply.issue, block, multiply.address(multiply.op.a), product, tile);
  }
  const auto descriptor =
      descriptor_of(multiply, multiply.op.a_descriptor, "A", multiply.form.transpose_a);
  if (!descriptor) return false;
  const TensorLayout layout = layout_of_d(multiply.op, product.rows);
  const SumCells sums{product.d, product.rows, multiply.form.n, layout.parts, layout.halves};
  TensorSource source{block,
                      "A",
                      *descriptor,
                      multiply.form.a,
                      multiply.form.transpose_a,
                      product.rows,
                      multiply.op.sparse ? multiply.form.k / 2 : multiply.form.k,
                      multiply.element_bits(multiply.form.a)};
  source.sums = &sums;
  return load_lines(multiply.issue, source, 0, tile);
}

/// The cells of D in a block, as rectangles: 16 rows of each 32 lanes in layout F.
bool use_d(const Multiply& multiply, Block& block, const TensorProduct& product, bool writes) {
  const TensorLayout layout = layout_of_d(multiply.op, product.rows);
  const int columns = multiply.form.n / layout.parts;
  const auto use = [&](const TensorRange& range) {
    if (!use_cells(multiply.issue, block, range, writes)) return false;
    if (writes && !product.adds && block.worker.observe) tensor_memory(block).in_use.begin(range);
    return true;
  };
  if (!layout.halves) {
    return use({product.d.lane, tensor_lanes, product.d.column, columns});
  }
  for (int quarter = 0; quarter < 4; ++quarter) {
    if (!use({product.d.lane + quarter * lanes_of_warp, 16, product.d.column, columns}))
      return false;
  }
  return true;
}

/// Lanes of D that keep their values (disable-output-lane), for one block.
const std::uint32_t* disabled_lanes(const Multiply& multiply, std::size_t block,
                                    std::array<std::uint32_t, 4>& words) {
  const auto& rows = multiply.op.disabled;
  if (rows.empty()) return nullptr;
  std::uint32_t any = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i] =
        multiply.issue.warp.row<std::uint32_t>(rows[block * words.size() + i])[multiply.issue.lane];
    any |= words[i];
  }
  return any == 0 ? nullptr : words.data();
}

bool check_form(const Multiply& multiply) {
  const std::string& error = multiply.form.error;
  if (error.empty()) return true;
  const auto bits =
      multiply.issue.warp.row<std::uint32_t>(multiply.op.descriptor)[multiply.issue.lane];
  multiply.issue.fail(HazardKind::descriptor, fmt::format("instruction descriptor {:#x}", bits),
                      error);
  return false;
}

bool run_block(const Multiply& multiply, std::size_t index, const TensorTile& b, TensorTile& a) {
  Block& block = *multiply.blocks[index];
  const TensorMultiplyOp& op = multiply.op;
  std::array<std::uint32_t, 4> words;
  const bool adds = (multiply.issue.warp.predicate(op.adds) >> multiply.issue.lane & 1) != 0;
  const TensorProduct product{op,   multiply.form,          multiply.rows(),
                              adds, multiply.address(op.d), disabled_lanes(multiply, index, words)};
  if (adds && !use_d(multiply, block, product, false)) return false;
  if (!use_d(multiply, block, product, true)) return false;
  if (!load_a(multiply, block, product, a)) return false;
  if (op.sparse && !expand_rows(multiply.issue, block, multiply.address(op.metadata), product, a)) {
    return false;
  }
  TensorMemory& memory = tensor_memory(block);
  thread_local TensorScales of_a, of_b;
  if (op.scales_of_k != 0 &&
      (!load_scales(multiply.issue, block, multiply.address(op.scale_a), product, product.rows,
                    multiply.form.scale_a, of_a) ||
       !load_scales(multiply.issue, block, multiply.address(op.scale_b), product, multiply.form.n,
                    multiply.form.scale_b, of_b))) {
    return false;
  }
  if (op.sparse || op.scales_of_k != 0) {
    multiply_in_window(product, a, b, of_a, of_b, memory);
  } else {
    multiply_tensors(product, a, b, memory);
  }
  return true;
}

}  // namespace

void run_tensor_multiply(Warp& warp, const Instr& instr) {
  thread_local TensorTile a, b;
  const auto& op = instr.op<TensorMultiplyOp>();
  for (Mask left = warp.mask; left != 0; left &= left - 1) {
    const int lane = first_lane(left);
    Multiply multiply{issue(warp, instr, lane, "tcgen05.mma"), op, {}, {}};
    multiply.form = instruction_descriptor(op, warp.row<std::uint32_t>(op.descriptor)[lane]);
    if (!check_form(multiply)) return;
    multiply.blocks = blocks_of(multiply.issue, op.blocks);
    if (multiply.blocks.empty() || !load_b(multiply, b)) return;
    for (std::size_t i = 0; i < multiply.blocks.size(); ++i) {
      if (!run_block(multiply, i, b, a)) return;
    }
    warp.block->worker.apart.tensor_multiply_adds +=
        static_cast<std::uint64_t>(multiply.form.m) * multiply.form.n * multiply.form.k;
  }
}

}  // namespace rung::vgpu
