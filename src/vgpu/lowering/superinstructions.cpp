// Selects runs of instructions for one handler (engine/control/superinstruction.hpp): f32 FMAs and
// plain 32-bit loads from shared memory. Nothing between them writes shared memory or waits, so the
// observers' results do not depend on their order. Instructions between them that only compute, such
// as the addresses of later loads, move ahead of the run if they do not depend on it. Those that do
// become steps of it, unless the iterations of a loop could be put off without them.

#include "vgpu/lowering/superinstructions.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "vgpu/engine/control/superinstruction.hpp"
#include "vgpu/program/operands.hpp"
#include "vgpu/program/rows.hpp"

namespace rung::vgpu {
namespace {

using Step = Superinstruction::Step;

// Shorter runs do not pay off, nor do operations with fewer loads among them.
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

/// Whether all registers except the address are 32 bits wide, so that none needs resizing.
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

bool aligned_alike(const MemoryOp& a, const MemoryOp& b) {
  return a.access_bytes() == b.access_bytes() && (a.offset - b.offset) % a.alignment() == 0;
}

bool in_same_array(const MemoryOp& a, const MemoryOp& b) {
  return a.origin.kind == b.origin.kind && a.origin.index == b.origin.index;
}

std::uint32_t size_bit(std::uint32_t bytes) {
  return 1u << static_cast<unsigned>(std::countr_zero(bytes));
}

bool writes(const Step& step, std::uint32_t row) {
  if (step.kind == Step::Kind::operation) return false;
  const int count = step.kind == Step::Kind::load ? step.count : 1;
  return std::find(step.row.begin(), step.row.begin() + count, row) != step.row.begin() + count;
}

/// A step that reads a row, as operand 1 (a) or 2 (b).
struct Use {
  std::size_t step, operand;
};

/// The use of a loaded row, if it is read exactly once and then overwritten. Operations are not looked
/// into: they may read it.
std::optional<Use> only_use(const std::vector<Step>& steps, std::size_t load) {
  const std::uint32_t row = steps[load].row[0];
  std::optional<Use> use;
  for (std::size_t i = load + 1; i < steps.size(); ++i) {
    if (steps[i].kind == Step::Kind::operation) return std::nullopt;
    for (std::size_t operand = 1; operand < 4 && steps[i].kind != Step::Kind::load; ++operand) {
      if (steps[i].row[operand] != row) continue;
      if (use || operand == 3) return std::nullopt;
      use = {i, operand};
    }
    if (writes(steps[i], row)) return use;
  }
  return std::nullopt;
}

/// Folds loads into FMAs that are the only readers of their rows.
void fold_loads(std::vector<Step>& steps) {
  std::vector<Step> kept;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool single = steps[i].kind == Step::Kind::load && steps[i].count == 1;
    const auto use = single ? only_use(steps, i) : std::nullopt;
    if (!use) {
      kept.push_back(steps[i]);
      continue;
    }
    Step& step = steps[use->step];
    if (step.kind == Step::Kind::multiply_add) {
      step.kind = Step::Kind::multiply_add_loaded;
      step.batch.fill(Superinstruction::in_frame);
      step.offset = {static_cast<std::int32_t>(step.row[1]),
                     static_cast<std::int32_t>(step.row[2])};
    }
    step.batch[use->operand - 1] = steps[i].batch[0];
    step.offset[use->operand - 1] = steps[i].offset[0];
  }
  steps = std::move(kept);
}

/// Whether two loads of one batch are of adjacent words, and fit into one step.
bool are_adjacent(const Step& first, const Step& second) {
  constexpr int word = 4;  // bytes
  return first.kind == Step::Kind::load && second.kind == Step::Kind::load &&
         first.batch[0] == second.batch[0] && first.count + second.count <= 4 &&
         second.offset[0] == first.offset[0] + first.count * word;
}

/// Joins consecutive loads of adjacent words.
void join_loads(std::vector<Step>& steps) {
  std::vector<Step> kept;
  for (const Step& step : steps) {
    if (kept.empty() || !are_adjacent(kept.back(), step)) {
      kept.push_back(step);
      continue;
    }
    Step& whole = kept.back();
    std::copy_n(step.row.begin(), step.count, whole.row.begin() + whole.count);
    whole.count = static_cast<std::uint8_t>(whole.count + step.count);
    whole.last_use = std::max(whole.last_use, step.last_use);
  }
  steps = std::move(kept);
}

/// Builds a superinstruction from consecutive instructions.
class Run {
 public:
  /// These return false, and change nothing, if the instruction does not fit.
  bool add_multiply_add(const Instr& instr) {
    Step step;
    step.kind = Step::Kind::multiply_add;
    std::copy_n(instr.row.begin(), 4, step.row.begin());
    step.continues = sum_ == instr.row[3];
    step.last_use = instr.last_use;
    sum_ = instr.row[0];
    written_.insert(instr.row[0]);
    return add(instr, step);
  }
  /// `results`: the rows that it writes.
  bool add_operation(const Instr& instr, const std::vector<std::uint32_t>& results) {
    Step step;
    step.kind = Step::Kind::operation;
    step.offset[0] = static_cast<std::int32_t>(super_.parts.size());
    step.last_use = instr.last_use;
    written_.insert(results.begin(), results.end());
    sum_.reset();
    return add(instr, step);
  }
  std::size_t loads() const {
    return static_cast<std::size_t>(
        std::count_if(super_.steps.begin(), super_.steps.end(),
                      [](const Step& step) { return step.kind == Step::Kind::load; }));
  }
  std::size_t operations() const {
    return static_cast<std::size_t>(
        std::count_if(super_.steps.begin(), super_.steps.end(),
                      [](const Step& step) { return step.kind == Step::Kind::operation; }));
  }
  bool add_load(const Instr& instr) {
    const auto& op = instr.op<MemoryOp>();
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
    Step step;
    step.batch[0] = static_cast<std::uint8_t>(&batch - batches_.data());
    step.count = op.count;
    step.last_use = instr.last_use;
    step.offset[0] = static_cast<std::int32_t>(op.offset);
    std::copy_n(instr.row.begin(), op.count, step.row.begin());
    for (int e = 0; e < op.count; ++e) {
      written_.insert(step.row[static_cast<std::size_t>(e)]);
      if (sum_ == step.row[static_cast<std::size_t>(e)]) sum_.reset();
    }
    return add(instr, step);
  }

  /// Stores the result in the kernel.
  Instr finish(Kernel& kernel) {
    fold_loads(super_.steps);
    join_loads(super_.steps);
    for (ReadBatch& batch : batches_) {
      batch.first = batch.reads.front();
      batch.begin = batch.lowest->offset;
      batch.end = batch.highest->offset + batch.highest->access_bytes();
      batch.index = static_cast<std::uint32_t>(kernel.read_batches.size());
      kernel.read_batches.push_back(std::move(batch));
      super_.batches.push_back(&kernel.read_batches.back());
    }
    super_.index = static_cast<std::uint32_t>(kernel.superinstructions.size());
    kernel.superinstructions.push_back(std::move(super_));
    Superinstruction& kept = kernel.superinstructions.back();
    for (Instr& part : kept.parts) {
      if (part.rows == nullptr) part.rows = part.row.data();
    }
    return run_by_one_handler(kept);
  }

 private:
  /// The batch of the read, which may be a new one; null if it fits into none.
  ReadBatch* batch_of(const MemoryOp& op) {
    for (ReadBatch& batch : batches_) {
      const MemoryOp& first = *batch.reads.front();
      if (first.slot != op.slot) continue;
      if (op.starts_shape) return nullptr;
      if (aligned_alike(op, first) && in_same_array(op, first)) return &batch;
    }
    if (batches_.size() == Superinstruction::most_batches) return nullptr;
    // All shapes are determined before the first step.
    if (op.starts_shape && written_.contains(op.address_row)) return nullptr;
    return &batches_.emplace_back();
  }

  bool add(const Instr& instr, const Step& step) {
    super_.parts.push_back(instr);
    super_.steps.push_back(step);
    return true;
  }

  Superinstruction super_;
  std::vector<ReadBatch> batches_;
  std::set<std::uint32_t> written_;   // rows
  std::optional<std::uint32_t> sum_;  // the row of the last FMA, if it still holds the result
};

/// Whether its PTX instruction was lowered to this instruction alone, without tracking of undefined
/// values.
bool stands_alone(const std::vector<Instr>& code, std::size_t i) {
  return (i == 0 || code[i - 1].site != code[i].site) &&
         (i + 1 == code.size() || code[i + 1].site != code[i].site);
}

/// Adds the instruction if its kind fits.
bool add(Run& run, const Instr& instr, const ptx::Function& function) {
  const ptx::Instruction& instruction = function.body[instr.site];
  if (!has_words_only(instruction, function)) return false;
  if (is_plain_multiply_add(instruction)) return run.add_multiply_add(instr);
  return is_plain_shared_load(instruction, instr) && run.add_load(instr);
}

/// The rows that instructions read and write.
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
  /// Whether the instruction may as well come before these.
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

/// Whether the other instructions of the block only compute, and neither read nor change what the
/// steps do, apart from the addresses of loads.
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

/// What of a block's instructions becomes superinstructions.
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

  /// Rewrites the code of the block, which is the kernel's last. `with_operations`: these may be steps,
  /// too.
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

  /// Marks the superinstruction if it is the only one, and deferrable. Whether it is.
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
    Run run;
    std::vector<Instr> ahead;
    std::size_t steps = 0, end = 0;

    bool pays_off() const {
      return steps >= fewest && (run.operations() == 0 || run.loads() >= fewest_loads);
    }
  };

  /// The run that begins at an instruction.
  Candidate candidate(std::size_t begin, bool with_operations) const {
    Candidate found;
    Effects effects = none_;
    std::size_t end = begin;
    for (; end < code_.size() && stands_alone(code_, end); ++end) {
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
