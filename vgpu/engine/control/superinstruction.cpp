// Superinstructions: one handler runs a sequence of FMAs and loads from shared memory, after T. A.
// Proebsting, "Optimizing an ANSI C Interpreter with Superoperators", POPL 1995. All loads through
// one address register are checked and counted together. If an error occurs or lanes are inactive,
// the instructions run one by one.

#include "vgpu/engine/control/superinstruction.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vgpu/engine/control/superinstruction.cpp"
#include "vgpu/engine/lanes/targets.hpp"
// Include after targets.hpp.
#include "vgpu/engine/control/superinstruction_steps-inl.hpp"
#include "vgpu/engine/memory/access-inl.hpp"
#include "vgpu/engine/memory/shadow-inl.hpp"
#include "vgpu/engine/observers.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {
namespace {

/// The general case of locate_batch(): handles arrays whose size only the launch knows, and errors.
HWY_NOINLINE bool locate_ends(Warp& warp, const ReadBatch& batch, Shape& shape) {
  Place place;
  return locate(*warp.block, warp, *batch.lowest, shape, AccessKind::load, place) &&
         locate(*warp.block, warp, *batch.highest, shape, AccessKind::load, place);
}

/// True if all reads of the batch are valid. Only the lowest and the highest are checked: the
/// others are between them, at multiples of their alignment.
HWY_INLINE bool locate_batch(Warp& warp, const ReadBatch& batch, Shape& shape) {
  const MemoryOp& first = *batch.first;
  if (first.starts_shape) make_shape(shape, warp, first);
  const std::uint64_t low = shape.low + static_cast<std::uint64_t>(batch.begin);
  const std::uint64_t end = shape.high + static_cast<std::uint64_t>(batch.end);
  const bool inside = low >= first.shared_begin && end <= first.shared_end && low <= end &&
                      ((low | shape.low_bits) & (first.alignment() - 1)) == 0;
  return inside || locate_ends(warp, batch, shape);
}

void observe_batch(Block& block, const Warp& warp, const ReadBatch& batch, Shape& shape) {
  Worker::BatchCounts& counts = block.worker.batches[batch.index];
  ++counts.times;
  for (std::uint32_t left = batch.sizes; left != 0; left &= left - 1) {
    const std::uint32_t bytes = left & (~left + 1);
    counts.wavefronts[static_cast<std::size_t>(first_lane(left))] +=
        static_cast<std::uint64_t>(shape.wavefronts(bytes, batch.begin, true));
  }
  if (block.worker.watched) {
    for (const MemoryOp* op : batch.reads) {
      block.observers.tell_access(block, warp, op->site, shape, op->offset, op->access_bytes(),
                                  AccessKind::load, true);
    }
  }
  SharedShadow& shadow = block.shadow;
  const Regions regions = shadow.regions(shape.low + static_cast<std::uint64_t>(batch.begin),
                                         shape.high + static_cast<std::uint64_t>(batch.end) - 1);
  if ((regions & shadow.suspect()) != 0) {
    for (const MemoryOp* op : batch.reads) {
      check_read(block, warp, op->site, shape, op->offset, op->access_bytes());
    }
  }
  block.observers.log_reads(block, warp, batch, shape);
  shadow.log.regions |= regions;
}

/// The instructions that the superinstruction replaces.
std::span<const Instr> parts_of(const Superinstruction& super, const Warp& warp) {
  return warp.worker->native && super.native != nullptr ? super.native->parts()
                                                        : std::span<const Instr>(super.parts);
}

void run_one_by_one(Warp& warp, const Instr& instr) {
  for (const Instr& part : parts_of(instr.op<Superinstruction>(), warp)) part.masked(warp, part);
}

LoadPattern pattern_of(const Shape& shape, Source::Kind kind) {
  using Kind = LoadPattern::Kind;
  switch (kind) {
    case Source::Kind::uniform: return {Kind::uniform};
    case Source::Kind::halves:
      return {Kind::halves, shape.narrow_distance[warp_size / 2] - shape.narrow_distance[0]};
    case Source::Kind::dense: return {Kind::strided, sizeof(Word)};
    case Source::Kind::repeated:
      if (shape.half_stride <= 0) return {Kind::repeated_scattered};
      return {Kind::repeated, shape.half_stride};
    case Source::Kind::scattered: break;
  }
  if (shape.kind != Shape::Kind::linear || shape.half_stride <= 0) return {Kind::scattered};
  return {Kind::strided, shape.half_stride};
}

HWY_INLINE Shape& shape_of(Worker& worker, const ReadBatch& batch) {
  return worker.shapes[batch.first->slot];
}

/// Finds the code for the batches' shapes after they have changed.
HWY_NOINLINE void find_code(const Superinstruction& super, Worker& worker,
                            Worker::TranslatedSteps& known) {
  std::array<LoadPattern, Superinstruction::max_batches> patterns;
  const std::size_t count = super.batches.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Shape& shape = shape_of(worker, *super.batches[i]);
    patterns[i] = pattern_of(shape, Source(shape, nullptr).kind);
    known.generations[i] = shape.generation;
    known.sources[i].distance = shape.narrow_distance.data();
  }
  known.function = super.native->find({patterns.data(), count});
  known.repeated = super.native->find_repeated({patterns.data(), count});
  if (worker.scratch == nullptr) worker.scratch = std::make_unique<Worker::Scratch>();
}

/// True if the code was made for the current shapes of the batches.
HWY_INLINE bool is_for_shapes(const Worker::TranslatedSteps& known, const Superinstruction& super,
                              Worker& worker) {
  bool same = known.function != nullptr;
  for (std::size_t i = 0; i < super.batches.size(); ++i) {
    same = same && known.generations[i] == shape_of(worker, *super.batches[i]).generation;
  }
  return same;
}

/// Writes the lowest addresses of the batches to `lows`.
HWY_INLINE void add_lows(const Superinstruction& super, Block& block, const std::byte** lows) {
  for (std::size_t i = 0; i < super.batches.size(); ++i) {
    lows[i] = block.shared.data() + shape_of(block.worker, *super.batches[i]).low;
  }
}

/// Runs the steps in machine code. Returns false if they are not translated.
HWY_INLINE bool run_native(const Superinstruction& super, Block& block, std::byte* frame) {
  if (super.native == nullptr) return false;
  Worker& worker = block.worker;
  Worker::TranslatedSteps& known = worker.steps[super.index];
  if (!is_for_shapes(known, super, worker)) find_code(super, worker, known);
  if (known.function == nullptr) return false;
  if (known.repeated.faster_once) {
    add_lows(super, block, known.lows.data());
    known.repeated.function(frame, known.lows.data(), 1, worker.scratch->bytes.data());
    return true;
  }
  for (std::size_t i = 0; i < super.batches.size(); ++i) {
    known.sources[i].low = block.shared.data() + shape_of(worker, *super.batches[i]).low;
  }
  known.function(frame, known.sources.data());
  return true;
}

HWY_NOINLINE void run_steps(const Superinstruction& super, Warp& warp) {
  Block& block = *warp.block;
  std::byte* const frame = warp.frame;
  std::array<Source, Superinstruction::max_batches + 1> sources;
  sources[Superinstruction::in_frame] = Source(frame);
  for (std::size_t i = 0; i < super.batches.size(); ++i) {
    sources[i] = {shape_of(block.worker, *super.batches[i]), block.shared.data()};
  }
  const Step* step = super.steps.data();
  const Step* const end = step + super.steps.size();
  MultiplyAdd multiply_add(sources.data());
  while (step != end) {
    if (step->kind == Step::Kind::load) {
      load(*step, sources[step->batch[0]], frame);
      ++step;
    } else if (step->kind == Step::Kind::operation) {
      const Instr& part = super.parts[static_cast<std::size_t>(step->offset[0])];
      part.full(warp, part);
      ++step;
    } else {
      step = multiply_add.run(step, end, frame);
    }
  }
}

/// Determines the shapes of the batches. Returns true if the loads of all lanes are valid.
HWY_INLINE bool locate_batches(Warp& warp, const Superinstruction& super) {
  bool good = warp.mask == all_lanes;
  for (const ReadBatch* batch : super.batches) {
    good = good && locate_batch(warp, *batch, shape_of(*warp.worker, *batch));
  }
  return good;
}

HWY_INLINE void observe_batches(Block& block, const Warp& warp, const Superinstruction& super) {
  for (const ReadBatch* batch : super.batches) {
    observe_batch(block, warp, *batch, shape_of(block.worker, *batch));
  }
}

void run(Warp& warp, const Instr& instr) {
  const auto& super = instr.op<Superinstruction>();
  Block& block = *warp.block;
  if (!locate_batches(warp, super)) {
    for (const Instr& part : parts_of(super, warp)) part.full(warp, part);
    return;
  }
  if (block.worker.observe) observe_batches(block, warp, super);
  if (block.worker.native && run_native(super, block, warp.frame)) return;
  run_steps(super, warp);
}

/// Collects deferred runs of a superinstruction's steps.
class DeferredRuns {
 public:
  DeferredRuns(const Superinstruction& super, Warp& warp, Worker::TranslatedSteps& known)
      : super_(super), warp_(warp), known_(known) {}

  bool is_full() const { return count_ == known_.repeated.max_runs; }
  HWY_INLINE void add() {
    add_lows(super_, *warp_.block, known_.lows.data() + count_ * super_.batches.size());
    ++count_;
  }
  void run() {
    if (count_ == 0) return;
    known_.repeated.function(warp_.frame, known_.lows.data(), count_,
                             warp_.worker->scratch->bytes.data());
    count_ = 0;
  }

 private:
  const Superinstruction& super_;
  Warp& warp_;
  Worker::TranslatedSteps& known_;
  std::size_t count_ = 0;
};

/// True if the block's branch leads all lanes back to its start.
HWY_INLINE bool repeats(const Warp& warp, const BasicBlock& block, std::uint32_t index) {
  Warp& read = const_cast<Warp&>(warp);
  const Mask taken =
      block.guard_negated ? ~read.predicate(block.guard) : read.predicate(block.guard);
  if (taken != 0 && taken != all_lanes) return false;
  return (taken == 0 ? block.next : block.taken) == static_cast<int>(index);
}

HWY_INLINE void run(Warp& warp, const std::optional<Instr>& instr) {
  if (instr) instr->full(warp, *instr);
}

/// Runs iterations of a block. Counts all but the last, which the scheduler counts.
void run_loop(Warp& warp, const Instr& instr) {
  const auto& loop = instr.op<Loop>();
  const auto& super = loop.super.op<Superinstruction>();
  Worker& worker = *warp.worker;
  const bool alone = warp.mask == all_lanes && !worker.watched && warp.split().parent < 0;
  const BasicBlock& block = worker.kernel.blocks[loop.block];
  Worker::TranslatedSteps& known = worker.steps[super.index];
  DeferredRuns deferred(super, warp, known);
  for (;;) {
    run(warp, loop.before);
    if (!alone || !locate_batches(warp, super) || !is_for_shapes(known, super, worker) ||
        known.repeated.function == nullptr) {
      deferred.run();
      loop.super.full(warp, loop.super);
      run(warp, loop.behind);
      return;
    }
    if (worker.observe) observe_batches(*warp.block, warp, super);
    deferred.add();
    run(warp, loop.behind);
    if (deferred.is_full() || !repeats(warp, block, loop.block)) break;
    worker.spent += block.instructions;
    ++worker.executions[loop.block].times;
  }
  deferred.run();
}

void run_loop_masked(Warp& warp, const Instr& instr) {
  const auto& loop = instr.op<Loop>();
  if (loop.before) loop.before->masked(warp, *loop.before);
  loop.super.masked(warp, loop.super);
  if (loop.behind) loop.behind->masked(warp, *loop.behind);
}

}  // namespace

Instr instruction(const Superinstruction& super) {
  Instr instr{};
  instr.full = run;
  instr.masked = run_one_by_one;
  instr.imm = imm_to(super);
  instr.site = super.parts.front().site;
  return instr;
}

Instr loop_instruction(const Loop& loop) {
  Instr instr{};
  instr.full = run_loop;
  instr.masked = run_loop_masked;
  instr.imm = imm_to(loop);
  instr.site = loop.super.site;
  return instr;
}

}  // namespace rung::vgpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rung::vgpu {

Instr run_by_one_handler(const Superinstruction& super) {
  static const auto picked = RUNG_PICK_LANES(instruction);
  return picked(super);
}

Instr run_by_one_handler(const Loop& loop) {
  static const auto picked = RUNG_PICK_LANES(loop_instruction);
  return picked(loop);
}

}  // namespace rung::vgpu
#endif  // HWY_ONCE
