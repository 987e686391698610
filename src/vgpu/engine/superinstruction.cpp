// Runs of multiply-adds and loads from shared memory in one handler: a superinstruction, after
// T. A. Proebsting, "Optimizing an ANSI C Interpreter with Superoperators", POPL 1995. What is to be
// checked and counted is checked and counted for all loads through one address register at once;
// where something is wrong, or lanes are missing, the instructions run one by one.

#include "vgpu/engine/superinstruction.hpp"

#include <cmath>

#include "vgpu/engine/float_bits.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vgpu/engine/superinstruction.cpp"
#include "vgpu/engine/targets.hpp"
// After targets.hpp.
#include "vgpu/engine/access-inl.hpp"
#include "vgpu/engine/shadow-inl.hpp"
#include "vgpu/observers/shared_races.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Step = Superinstruction::Step;

/// Whether all reads of the batch go where they may.
bool locate_batch(Warp& warp, const ReadBatch& batch, Shape& shape) {
  Block& block = *warp.block;
  const auto located = [&](const MemoryOp& op) {
    Place place;
    return locate_shared(block, op, shape, place) ||
           locate(block, warp, op, shape, AccessKind::load, place);
  };
  const MemoryOp& first = *batch.reads.front();
  if (first.starts_shape) make_shape(shape, warp, first);
  // The others lie between these, and a multiple of their alignment away.
  return located(*batch.lowest) && (batch.reads.size() == 1 || located(*batch.highest));
}

void observe_batch(Block& block, const Warp& warp, const ReadBatch& batch, Shape& shape) {
  Worker::BatchCounts& counts = block.worker.batches[batch.index];
  ++counts.times;
  for (std::uint32_t left = batch.sizes; left != 0; left &= left - 1) {
    const std::uint32_t bytes = left & (~left + 1);
    counts.wavefronts[static_cast<std::size_t>(first_lane(left))] +=
        static_cast<std::uint64_t>(shape.wavefronts(bytes, batch.lowest->offset, true));
  }
  SharedShadow& shadow = block.shadow;
  const Regions regions =
      shadow.regions(shape.low + static_cast<std::uint64_t>(batch.lowest->offset),
                     shape.high + static_cast<std::uint64_t>(batch.highest->offset) +
                         batch.highest->access_bytes() - 1);
  if ((regions & shadow.suspect()) != 0) {
    for (const MemoryOp* op : batch.reads) {
      check_read(block, warp, op->site, shape, op->offset, op->access_bytes());
    }
  }
  log_reads(block, warp, batch, shape);
  shadow.log.regions |= regions;
}

HWY_INLINE const std::uint32_t* word_at(const std::uint32_t* from, std::int32_t bytes) {
  return reinterpret_cast<const std::uint32_t*>(reinterpret_cast<const std::byte*>(from) + bytes);
}

/// `from`: what the lanes' distances count from. Rows are written in whole vectors, as they will be
/// read: many small stores are not forwarded to a large load.
HWY_INLINE void load(const Step& step, const Shape& shape, const std::byte* from,
                     std::byte* frame) {
  const hn::CappedTag<std::uint32_t, warp_size / 2> d;
  const hn::RebindToSigned<decltype(d)> distances;
  constexpr std::size_t half = warp_size / 2;
  const bool dense = shape.stride == sizeof(std::uint32_t);
  for (std::size_t e = 0; e < step.count; ++e) {
    const auto* words = reinterpret_cast<const std::uint32_t*>(from) + e;
    auto* row = reinterpret_cast<std::uint32_t*>(frame + step.row[e]);
    for (std::size_t lane = 0; lane < half; lane += hn::Lanes(d)) {
      const auto gathered = [&](std::size_t at) {
        return hn::GatherOffset(d, words,
                                hn::Load(distances, shape.narrow_distance.data() + at));
      };
      if (shape.halves_uniform) {
        hn::Store(hn::Set(d, *word_at(words, shape.narrow_distance[0])), d, row + lane);
        hn::Store(hn::Set(d, *word_at(words, shape.narrow_distance[half])), d, row + half + lane);
      } else if (dense) {
        hn::Store(hn::LoadU(d, words + lane), d, row + lane);
        hn::Store(hn::LoadU(d, words + half + lane), d, row + half + lane);
      } else {
        const auto low = gathered(lane);
        hn::Store(low, d, row + lane);
        hn::Store(shape.halves_agree ? low : gathered(half + lane), d, row + half + lane);
      }
    }
  }
}

#if HWY_NATIVE_FMA

/// The multiply-adds from `step` on, up to a load or the end, which it returns. NaN becomes the one
/// that PTX has behind the last: whether a number is NaN does not depend on its bits.
HWY_INLINE const Step* multiply_add(const Step* step, const Step* end, std::byte* frame) {
  const hn::CappedTag<float, warp_size> d;
  const auto row = [&](const Step& of, int operand) {
    return reinterpret_cast<float*>(frame + of.row[static_cast<std::size_t>(operand)]);
  };
  const Step* const first = step;
  auto nan = hn::IsNaN(hn::Zero(d));
  do {
    for (std::size_t lane = 0; lane < warp_size; lane += hn::Lanes(d)) {
      const auto result =
          hn::MulAdd(hn::Load(d, row(*step, 1) + lane), hn::Load(d, row(*step, 2) + lane),
                     hn::Load(d, row(*step, 3) + lane));
      hn::Store(result, d, row(*step, 0) + lane);
      nan = hn::Or(nan, hn::IsNaN(result));
    }
  } while (++step != end && !step->is_load);
  if (!hn::AllFalse(d, nan)) [[unlikely]] {
    for (const Step* at = first; at != step; ++at) {
      for (int lane = 0; lane < warp_size; ++lane) {
        row(*at, 0)[lane] = canonical(row(*at, 0)[lane]);
      }
    }
  }
  return step;
}

#else

HWY_INLINE const Step* multiply_add(const Step* step, const Step*, std::byte* frame) {
  const auto row = [&](int operand) {
    return reinterpret_cast<float*>(frame + step->row[static_cast<std::size_t>(operand)]);
  };
  for (int lane = 0; lane < warp_size; ++lane) {
    row(0)[lane] = canonical(std::fma(row(1)[lane], row(2)[lane], row(3)[lane]));
  }
  return step + 1;
}

#endif  // HWY_NATIVE_FMA

void run_one_by_one(Warp& warp, const Instr& instr) {
  const auto& super = *reinterpret_cast<const Superinstruction*>(instr.imm);
  for (const Instr& part : super.parts) part.masked(warp, part);
}

void run(Warp& warp, const Instr& instr) {
  const auto& super = *reinterpret_cast<const Superinstruction*>(instr.imm);
  Block& block = *warp.block;
  Worker& worker = *warp.worker;
  bool good = warp.mask == all_lanes;
  for (const ReadBatch* batch : super.batches) {
    good = good && locate_batch(warp, *batch, worker.shapes[batch->reads.front()->slot]);
  }
  if (!good) {
    for (const Instr& part : super.parts) part.full(warp, part);
    return;
  }
  std::array<const Shape*, Superinstruction::most_batches> shapes;
  for (std::size_t i = 0; i < super.batches.size(); ++i) {
    const ReadBatch& batch = *super.batches[i];
    Shape& shape = worker.shapes[batch.reads.front()->slot];
    if (worker.observe) observe_batch(block, warp, batch, shape);
    shapes[i] = &shape;
  }
  const Step* step = super.steps.data();
  const Step* const end = step + super.steps.size();
  while (step != end) {
    if (step->is_load) {
      const Shape& shape = *shapes[step->batch];
      load(*step, shape, block.shared.data() + shape.low + step->offset, warp.frame);
      ++step;
    } else {
      step = multiply_add(step, end, warp.frame);
    }
  }
}

}  // namespace

Instr instruction(const Superinstruction& super) {
  Instr instr{};
  instr.full = run;
  instr.masked = run_one_by_one;
  instr.imm = reinterpret_cast<std::uint64_t>(&super);
  instr.site = super.parts.front().site;
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

}  // namespace rung::vgpu
#endif  // HWY_ONCE
