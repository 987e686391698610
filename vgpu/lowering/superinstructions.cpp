// Selects runs of instructions for one handler (engine/control/superinstruction.hpp): f32 FMAs and
// plain 32-bit loads from shared memory. Nothing between them writes shared memory or waits, so the
// observers' results do not depend on their order. Other instructions between them that only
// compute, such as the addresses of later loads, move ahead of the run if they do not depend on it.
// If they do, they become steps of it, unless the loop's iterations could be deferred without them.

#include "vgpu/lowering/passes.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "vgpu/lowering/superinstruction_builder.hpp"
#include "vgpu/program/operands.hpp"
#include "vgpu/program/rows.hpp"
#include "vgpu/ptx/opcodes.hpp"

namespace rung::vgpu {
namespace {

using Step = Superinstruction::Step;

// Minimum lengths: shorter runs, or operations with fewer loads, are not faster.
constexpr std::size_t fewest = 4, fewest_loads = 2;

bool is_plain_multiply_add(const ptx::Instruction& instruction) {
  return instruction.is(ptx::Opcode::fma, ptx::Opcode::mad) && instruction.guard < 0 &&
         instruction.modifiers == std::vector<std::string>{"rn", "f32"};
}

bool is_plain_shared_load(const ptx::Instruction& instruction, const Instr& instr) {
  if (instruction.opcode != ptx::Opcode::ld || !instruction.has("shared") ||
      instruction.guard >= 0) {
    return false;
  }
  const auto& op = instr.op<MemoryOp>();
  return op.bytes == 4 && op.count <= 4 && !op.relaxed && !op.deferred &&
         op.offset == static_cast<std::int32_t>(op.offset);
}

/// True if all registers except the address are 32 bits wide, so that none needs resizing.
bool has_words_only(const ptx::Instruction& instruction, const ptx::Function& function) {
  const auto is_word = [&](int reg) {
    return row_bytes(function.registers[static_cast<std::size_t>(reg)].type) == 4;
  };
  bool words = true;
  for_each_definition(instruction, [&](int reg) { words = words && is_word(reg); });
  if (instruction.opcode == ptx::Opcode::ld) return words;
  for_each_use(instruction, [&](int reg) { words = words && is_word(reg); });
  return words;
}

/// True if the PTX instruction was lowered to this instruction alone, without tracking of undefined
/// values.
bool is_whole_instruction(const std::vector<Instr>& code, std::size_t i) {
  return (i == 0 || code[i - 1].site != code[i].site) &&
         (i + 1 == code.size() || code[i + 1].site != code[i].site);
}

/// Adds the instruction to the run. Returns false if its kind does not fit.
bool add(SuperinstructionBuilder& run, const Instr& instr, const ptx::Function& function) {
  const ptx::Instruction& instruction = function.body[instr.site];
  if (!has_words_only(instruction, function)) return false;
  if (is_plain_multiply_add(instruction)) {
    run.add_multiply_add(instr);
    return true;
  }
  return is_plain_shared_load(instruction, instr) && run.add_load(instr);
}

/// The rows that a set of instructions reads and writes.
class Effects {
 public:
  Effects(const ptx::Function& function, const std::vector<std::uint32_t>& rows)
      : function_(function), rows_(rows) {}

  void add_reads(const Instr& instr) {
    for_each_use(function_.body[instr.site],
                 [&](int reg) { reads_.insert(rows_[static_cast<std::size_t>(reg)]); });
  }
  void add_writes(const Instr& instr) {
    for_each_definition(function_.body[instr.site],
                        [&](int reg) { writes_.insert(rows_[static_cast<std::size_t>(reg)]); });
  }
  void add(const Instr& instr) {
    add_reads(instr);
    add_writes(instr);
  }
  /// True if the instruction may be moved before these.
  bool are_independent_of(const Instr& instr) const {
    bool independent = true;
    const ptx::Instruction& instruction = function_.body[instr.site];
    for_each_use(instruction, [&](int reg) {
      independent = independent && !writes_.contains(rows_[static_cast<std::size_t>(reg)]);
    });
    for_each_definition(instruction, [&](int reg) {
      const std::uint32_t row = rows_[static_cast<std::size_t>(reg)];
      independent = independent && !writes_.contains(row) && !reads_.contains(row);
    });
    return independent;
  }

 private:
  const ptx::Function& function_;
  const std::vector<std::uint32_t>& rows_;
  std::set<std::uint32_t> reads_, writes_;
};

/// True if the other instructions of the block only compute, and neither read nor change the
/// operands and results of the steps, except for the addresses of loads.
bool is_deferrable(const Superinstruction& super, std::span<const Instr> block,
                   const ptx::Function& function, const Effects& none) {
  Effects steps = none;
  for (const Instr& part : super.parts) {
    steps.add_writes(part);
    if (function.body[part.site].opcode != ptx::Opcode::ld) steps.add_reads(part);
  }
  return std::all_of(block.begin(), block.end(), [&](const Instr& instr) {
    const bool is_super = instr.imm == imm_to(super);
    return is_super || (instr.native && steps.are_independent_of(instr));
  });
}

/// Selects the superinstructions of one block.
class Selection {
 public:
  Selection(Kernel& kernel, const BasicBlock& block, const ptx::Function& function,
            const std::vector<std::uint32_t>& rows)
      : kernel_(kernel),
        first_(block.first),
        function_(function),
        rows_(rows),
        none_(function, rows),
        code_(kernel.code.begin() + block.first, kernel.code.end()),
        batches_before_(kernel.read_batches.size()),
        supers_before_(kernel.superinstructions.size()) {}

  /// Rewrites the code of the block, which must be the kernel's last. `with_operations`: other
  /// operations may become steps.
  void write(bool with_operations) {
    kernel_.code.resize(first_);
    kernel_.read_batches.resize(batches_before_);
    kernel_.superinstructions.resize(supers_before_);
    for (std::size_t i = 0; i < code_.size();) {
      Candidate run = candidate(i, false);
      if (with_operations) {
        Candidate longer = candidate(i, true);
        if (longer.run.loads() > run.run.loads() && longer.pays_off()) run = std::move(longer);
      }
      if (run.pays_off()) {
        kernel_.code.insert(kernel_.code.end(), run.ahead.begin(), run.ahead.end());
        kernel_.code.push_back(run.run.finish(kernel_));
      } else {
        run.end = std::max(run.end, i + 1);
        kernel_.code.insert(kernel_.code.end(), code_.begin() + static_cast<std::ptrdiff_t>(i),
                            code_.begin() + static_cast<std::ptrdiff_t>(run.end));
      }
      i = run.end;
    }
  }

  /// Marks the superinstruction as deferrable if it is the only one, and can be. Returns true if it
  /// did.
  bool mark_deferrable() {
    if (kernel_.superinstructions.size() != supers_before_ + 1) return false;
    Superinstruction& super = kernel_.superinstructions.back();
    const bool computes = std::any_of(super.steps.begin(), super.steps.end(), [](const Step& step) {
      return step.kind == Step::Kind::operation;
    });
    super.deferrable = !computes && is_deferrable(super, std::span(kernel_.code).subspan(first_),
                                                  function_, none_);
    return super.deferrable;
  }

 private:
  struct Candidate {
    SuperinstructionBuilder run;
    std::vector<Instr> ahead;
    std::size_t steps = 0, end = 0;

    bool pays_off() const {
      return steps >= fewest && (run.operations() == 0 || run.loads() >= fewest_loads);
    }
  };

  /// The run that starts at instruction `begin`.
  Candidate candidate(std::size_t begin, bool with_operations) const {
    Candidate found;
    Effects effects = none_;
    std::size_t end = begin;
    for (; end < code_.size() && is_whole_instruction(code_, end); ++end) {
      const Instr& instr = code_[end];
      if (add(found.run, instr, function_)) {
        ++found.steps;
        effects.add(instr);
      } else if (instr.native && effects.are_independent_of(instr)) {
        found.ahead.push_back(instr);
      } else if (with_operations && instr.native && instr.native.op != NativeOp::load_parameter) {
        found.run.add_operation(instr, results(instr));
        ++found.steps;
        effects.add(instr);
      } else {
        break;
      }
    }
    found.end = end;
    return found;
  }

  std::vector<std::uint32_t> results(const Instr& instr) const {
    std::vector<std::uint32_t> written;
    for_each_definition(function_.body[instr.site],
                        [&](int reg) { written.push_back(rows_[static_cast<std::size_t>(reg)]); });
    return written;
  }

  Kernel& kernel_;
  const std::size_t first_;
  const ptx::Function& function_;
  const std::vector<std::uint32_t>& rows_;
  const Effects none_;
  const std::vector<Instr> code_;
  const std::size_t batches_before_, supers_before_;
};

}  // namespace

void form_superinstructions(Kernel& kernel, BasicBlock& block, const ptx::Function& function,
                            const std::vector<std::uint32_t>& rows) {
  Selection selection(kernel, block, function, rows);
  selection.write(false);
  if (!selection.mark_deferrable()) {
    selection.write(true);
    selection.mark_deferrable();
  }
  block.count = static_cast<std::uint32_t>(kernel.code.size()) - block.first;
}

}  // namespace rung::vgpu
