// Converts loads and FMAs to the steps of a superinstruction: loads through one address register
// form a batch, loads read by a single FMA become its operands, and adjacent loads are joined.

#include "vgpu/lowering/superinstruction_builder.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "vgpu/engine/control/superinstruction.hpp"

namespace rung::vgpu {
namespace {

using Step = Superinstruction::Step;

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

/// A step that reads a row as operand 1 (a) or 2 (b).
struct Use {
  std::size_t step, operand;
};

/// The use of a loaded row, if it is read exactly once and then overwritten. Assumes that
/// operations read it, without inspecting them.
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

/// True if two loads of one batch are of adjacent words, and fit into one step.
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

}  // namespace

void SuperinstructionBuilder::add_multiply_add(const Instr& instr) {
  Step step;
  step.kind = Step::Kind::multiply_add;
  std::copy_n(instr.row.begin(), 4, step.row.begin());
  step.continues = sum_ == instr.row[3];
  step.last_use = instr.last_use;
  sum_ = instr.row[0];
  written_.insert(instr.row[0]);
  add(instr, step);
}

void SuperinstructionBuilder::add_operation(const Instr& instr,
                                            const std::vector<std::uint32_t>& results) {
  Step step;
  step.kind = Step::Kind::operation;
  step.offset[0] = static_cast<std::int32_t>(super_.parts.size());
  step.last_use = instr.last_use;
  written_.insert(results.begin(), results.end());
  sum_.reset();
  add(instr, step);
}

bool SuperinstructionBuilder::add_load(const Instr& instr) {
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
  add(instr, step);
  return true;
}

Instr SuperinstructionBuilder::finish(Kernel& kernel) {
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

std::size_t SuperinstructionBuilder::count(Step::Kind kind) const {
  return static_cast<std::size_t>(
      std::count_if(super_.steps.begin(), super_.steps.end(),
                    [&](const Step& step) { return step.kind == kind; }));
}

/// The batch for the read, which may be a new one; null if it does not fit into any.
ReadBatch* SuperinstructionBuilder::batch_of(const MemoryOp& op) {
  for (ReadBatch& batch : batches_) {
    const MemoryOp& first = *batch.reads.front();
    if (first.slot != op.slot) continue;
    if (op.starts_shape) return nullptr;
    if (aligned_alike(op, first) && in_same_array(op, first)) return &batch;
  }
  if (batches_.size() == Superinstruction::max_batches) return nullptr;
  // All shapes are computed before the first step.
  if (op.starts_shape && written_.contains(op.address_row)) return nullptr;
  return &batches_.emplace_back();
}

void SuperinstructionBuilder::add(const Instr& instr, const Step& step) {
  super_.parts.push_back(instr);
  super_.steps.push_back(step);
}

}  // namespace rung::vgpu
