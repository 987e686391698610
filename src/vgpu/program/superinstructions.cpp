// Which instructions of a basic block one handler runs (engine/superinstruction.hpp): multiply-adds
// of f32 and plain loads of 32-bit words from shared memory that stand side by side. Nothing between
// them writes to shared memory or waits, so what their observers see does not depend on their order.

#include "vgpu/program/superinstructions.hpp"

#include <algorithm>
#include <bit>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "vgpu/engine/superinstruction.hpp"
#include "vgpu/program/operands.hpp"
#include "vgpu/program/rows.hpp"

namespace rung::vgpu {
namespace {

// Fewer are not worth it.
constexpr std::size_t fewest = 4;

bool is_plain_multiply_add(const ptx::Instruction& instruction) {
  return (instruction.opcode == "fma" || instruction.opcode == "mad") && instruction.guard < 0 &&
         instruction.modifiers == std::vector<std::string>{"rn", "f32"};
}

bool is_plain_shared_load(const ptx::Instruction& instruction, const Instr& instr) {
  if (instruction.opcode != "ld" || !instruction.has("shared") || instruction.guard >= 0) {
    return false;
  }
  const auto& op = *reinterpret_cast<const MemoryOp*>(instr.imm);
  return op.bytes == 4 && op.count <= 4 && !op.relaxed &&
         op.offset == static_cast<std::int32_t>(op.offset);
}

/// Whether all registers but that of an address are 32 bits wide: none is resized on its way.
bool has_words_only(const ptx::Instruction& instruction, const ptx::Function& function) {
  const auto is_word = [&](int reg) {
    return row_bytes(function.registers[static_cast<std::size_t>(reg)].type) == 4;
  };
  bool words = true;
  for_each_definition(instruction, [&](int reg) { words = words && is_word(reg); });
  if (instruction.opcode == "ld") return words;
  for_each_use(instruction, [&](int reg) { words = words && is_word(reg); });
  return words;
}

bool aligned_alike(const MemoryOp& a, const MemoryOp& b) {
  return a.access_bytes() == b.access_bytes() && (a.offset - b.offset) % a.alignment() == 0;
}

bool in_same_array(const MemoryOp& a, const MemoryOp& b) {
  return a.origin.kind == b.origin.kind && a.origin.index == b.origin.index;
}

std::uint32_t size_bit(std::uint32_t bytes) {
  return 1u << static_cast<unsigned>(std::countr_zero(bytes));
}

/// A superinstruction that grows by one instruction after the other.
class Run {
 public:
  /// These return false, and change nothing, if the instruction does not fit.
  bool add_multiply_add(const Instr& instr) {
    Superinstruction::Step step;
    std::copy_n(instr.row.begin(), 4, step.row.begin());
    written_.insert(instr.row[0]);
    return add(instr, step);
  }
  bool add_load(const Instr& instr) {
    const auto& op = *reinterpret_cast<const MemoryOp*>(instr.imm);
    ReadBatch* const found = batch_of(op);
    if (found == nullptr) return false;
    ReadBatch& batch = *found;
    batch.reads.push_back(&op);
    if (batch.lowest == nullptr || op.offset < batch.lowest->offset) batch.lowest = &op;
    if (batch.highest == nullptr || op.offset > batch.highest->offset) batch.highest = &op;
    batch.sizes |= size_bit(op.access_bytes());
    for (const MemoryOp::Issued& issued : op.issued) {
      if (issued.bytes != 0) batch.sizes |= size_bit(issued.bytes);
    }
    Superinstruction::Step step;
    step.is_load = true;
    step.batch = static_cast<std::uint8_t>(&batch - batches_.data());
    step.count = op.count;
    step.offset = static_cast<std::int32_t>(op.offset);
    std::copy_n(instr.row.begin(), op.count, step.row.begin());
    written_.insert(instr.row.begin(), instr.row.begin() + op.count);
    return add(instr, step);
  }

  /// What it has come to, in the kernel.
  Instr finish(Kernel& kernel) {
    for (ReadBatch& batch : batches_) {
      batch.index = static_cast<std::uint32_t>(kernel.read_batches.size());
      kernel.read_batches.push_back(std::move(batch));
      super_.batches.push_back(&kernel.read_batches.back());
    }
    kernel.superinstructions.push_back(std::move(super_));
    Superinstruction& kept = kernel.superinstructions.back();
    for (Instr& part : kept.parts) {
      if (part.rows == nullptr) part.rows = part.row.data();
    }
    return run_by_one_handler(kept);
  }

 private:
  /// That the read belongs to, perhaps a new one; null if it fits into none.
  ReadBatch* batch_of(const MemoryOp& op) {
    for (ReadBatch& batch : batches_) {
      const MemoryOp& first = *batch.reads.front();
      if (first.slot != op.slot) continue;
      const bool fits = !op.starts_shape && aligned_alike(op, first) && in_same_array(op, first);
      return fits ? &batch : nullptr;
    }
    if (batches_.size() == Superinstruction::most_batches) return nullptr;
    // All shapes are made before the first step.
    if (op.starts_shape && written_.contains(op.address_row)) return nullptr;
    return &batches_.emplace_back();
  }

  bool add(const Instr& instr, const Superinstruction::Step& step) {
    super_.parts.push_back(instr);
    super_.steps.push_back(step);
    return true;
  }

  Superinstruction super_;
  std::vector<ReadBatch> batches_;
  std::set<std::uint32_t> written_;  // rows
};

/// Adds the instruction if it is of a kind that fits.
bool add(Run& run, const Instr& instr, const ptx::Function& function) {
  const ptx::Instruction& instruction = function.body[instr.site];
  if (!has_words_only(instruction, function)) return false;
  if (is_plain_multiply_add(instruction)) return run.add_multiply_add(instr);
  return is_plain_shared_load(instruction, instr) && run.add_load(instr);
}

}  // namespace

void form_superinstructions(Kernel& kernel, BasicBlock& block, const ptx::Function& function) {
  const std::vector<Instr> code(kernel.code.begin() + block.first, kernel.code.end());
  kernel.code.resize(block.first);
  for (std::size_t i = 0; i < code.size();) {
    Run run;
    std::size_t end = i;
    while (end < code.size() && add(run, code[end], function)) ++end;
    if (end - i >= fewest) {
      kernel.code.push_back(run.finish(kernel));
    } else {
      end = std::max(end, i + 1);
      kernel.code.insert(kernel.code.end(), code.begin() + static_cast<std::ptrdiff_t>(i),
                         code.begin() + static_cast<std::ptrdiff_t>(end));
    }
    i = end;
  }
  block.count = static_cast<std::uint32_t>(kernel.code.size()) - block.first;
}

}  // namespace rung::vgpu
