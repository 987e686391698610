// Superinstructions: one handler runs a sequence of FMAs and loads from shared memory, after T. A.
// Proebsting, "Optimizing an ANSI C Interpreter with Superoperators", POPL 1995. All loads through
// one address register are checked and counted together. If an error occurs, or lanes are inactive,
// the instructions run one by one.

#include "vgpu/engine/control/superinstruction.hpp"

#include <cmath>

#include "vgpu/engine/numbers/float_bits.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vgpu/engine/control/superinstruction.cpp"
#include "vgpu/engine/lanes/targets.hpp"
// After targets.hpp.
#include "vgpu/engine/memory/access-inl.hpp"
#include "vgpu/engine/memory/shadow-inl.hpp"
#include "vgpu/engine/observers.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Step = Superinstruction::Step;
using Word = std::uint32_t;

/// Whether all reads of the batch are valid.
bool locate_batch(Warp& warp, const ReadBatch& batch, Shape& shape) {
  Block& block = *warp.block;
  const auto located = [&](const MemoryOp& op) {
    Place place;
    return locate_shared(block, op, shape, place) ||
           locate(block, warp, op, shape, AccessKind::load, place);
  };
  const MemoryOp& first = *batch.reads.front();
  if (first.starts_shape) make_shape(shape, warp, first);
  // The others are between these two, at multiples of their alignment.
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
  if (block.worker.watched) {
    for (const MemoryOp* op : batch.reads) {
      block.observers.tell_access(block, warp, op->site, shape, op->offset, op->access_bytes(),
                                  AccessKind::load, true);
    }
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
  block.observers.log_reads(block, warp, batch, shape);
  shadow.log.regions |= regions;
}

/// The source of the loads of a batch.
struct Source {
  enum class Kind : std::uint8_t { uniform, halves, dense, repeated, scattered };

  Source() = default;
  /// The source is the frame: rows by their offset.
  explicit Source(const std::byte* frame) : from(frame), distance(nullptr), kind(Kind::dense) {}
  Source(const Shape& shape, const std::byte* shared)
      : from(shared + shape.low),
        distance(shape.narrow_distance.data()),
        kind(shape.kind == Shape::Kind::uniform ? Kind::uniform
             : shape.halves_uniform             ? Kind::halves
             : shape.stride == sizeof(Word)     ? Kind::dense
             : shape.halves_agree               ? Kind::repeated
                                                : Kind::scattered) {}

  const std::byte* from;  // base of the lanes' distances
  const std::int32_t* distance;
  Kind kind;  // repeated: the second half of the lanes has the addresses of the first
};

/// Writes rows as whole SIMD vectors, as they will be read: a CPU does not forward many small
/// stores to one large load.
HWY_INLINE void load_words(const Source& source, const std::byte* from, Word* row) {
  constexpr int half = warp_size / 2;
  const hn::CappedTag<Word, half> d;
  constexpr int step = static_cast<int>(hn::MaxLanes(d));
  const auto* words = reinterpret_cast<const Word*>(from);
  const auto word = [&](int lane) {
    return *reinterpret_cast<const Word*>(from + source.distance[lane]);
  };
  const auto gather = [&](int lane) {
    return hn::GatherOffset(d, words,
                            hn::Load(hn::RebindToSigned<decltype(d)>(), source.distance + lane));
  };
  const auto fill = [&](const auto& low, const auto& high) HWY_ATTR {
    for (int lane = 0; lane < half; lane += step) hn::Store(low(lane), d, row + lane);
    for (int lane = half; lane < warp_size; lane += step) hn::Store(high(lane), d, row + lane);
  };
  switch (source.kind) {
    case Source::Kind::uniform: {
      const auto value = hn::Set(d, *words);
      fill([&](int) { return value; }, [&](int) { return value; });
      break;
    }
    case Source::Kind::halves: {
      const auto low = hn::Set(d, word(0)), high = hn::Set(d, word(half));
      fill([&](int) { return low; }, [&](int) { return high; });
      break;
    }
    case Source::Kind::dense: {
      const auto value = [&](int lane) { return hn::LoadU(d, words + lane); };
      fill(value, value);
      break;
    }
    case Source::Kind::repeated:
      for (int lane = 0; lane < half; lane += step) {
        const auto value = gather(lane);
        hn::Store(value, d, row + lane);
        hn::Store(value, d, row + half + lane);
      }
      break;
    case Source::Kind::scattered: fill(gather, gather); break;
  }
}

HWY_INLINE void load(const Step& step, const Source& source, std::byte* frame) {
  const std::byte* from = source.from + step.offset[0];
  for (int e = 0; e < step.count; ++e, from += sizeof(Word)) {
    load_words(source, from, reinterpret_cast<Word*>(frame + step.row[static_cast<unsigned>(e)]));
  }
}

HWY_INLINE float* row_of(const Step& step, unsigned operand, std::byte* frame) {
  return reinterpret_cast<float*>(frame + step.row[operand]);
}

#if HWY_NATIVE_FMA

/// FMAs. The last results stay in the CPU's registers for the next FMA of the same sum.
class MultiplyAdd {
 public:
  explicit MultiplyAdd(const Source* sources) : sources_(sources) {}

  /// Runs the FMAs from `step` up to a load or the end, which it returns. NaN becomes PTX's
  /// canonical NaN only after the last: whether a number is NaN does not depend on its bits.
  HWY_INLINE const Step* run(const Step* step, const Step* end, std::byte* frame) {
    const Step* const first = step;
    auto nan = hn::IsNaN(hn::Zero(d));
    do {
      Row a, b;
      if (step->kind == Step::Kind::multiply_add) [[likely]] {
        a = read(row_of(*step, 1, frame));
        b = read(row_of(*step, 2, frame));
      } else {
        a = read(sources_[step->batch[0]], step->offset[0]);
        b = read(sources_[step->batch[1]], step->offset[1]);
      }
      if (!step->continues) [[likely]]
        sum_ = read(row_of(*step, 3, frame));
      float* const to = row_of(*step, 0, frame);
      for (int i = 0; i < vectors; ++i) {
        sum_.part[i] = hn::MulAdd(a.part[i], b.part[i], sum_.part[i]);
        hn::Store(sum_.part[i], d, to + i * lanes);
        nan = hn::Or(nan, hn::IsNaN(sum_.part[i]));
      }
    } while (++step != end && step->kind != Step::Kind::load);
    if (!hn::AllFalse(d, nan)) [[unlikely]] {
      for (const Step* at = first; at != step; ++at) make_canonical(row_of(*at, 0, frame));
    }
    return step;
  }

 private:
  static constexpr hn::CappedTag<float, warp_size> d{};
  static constexpr int lanes = static_cast<int>(hn::MaxLanes(d));
  static constexpr int vectors = warp_size / lanes;

  struct Row {
    hn::Vec<hn::CappedTag<float, warp_size>> part[vectors];
  };

  static HWY_INLINE Row read(const float* from) {
    Row row;
    for (int i = 0; i < vectors; ++i) row.part[i] = hn::LoadU(d, from + i * lanes);
    return row;
  }
  static HWY_INLINE Row read(const Source& source, std::int32_t offset) {
    const auto* from = reinterpret_cast<const float*>(source.from + offset);
    if (source.kind == Source::Kind::dense) return read(from);
    Row row;
    if (source.kind == Source::Kind::uniform) {
      for (int i = 0; i < vectors; ++i) row.part[i] = hn::Set(d, *from);
      return row;
    }
    const hn::RebindToSigned<decltype(d)> distances;
    for (int i = 0; i < vectors; ++i) {
      row.part[i] = hn::GatherOffset(d, from, hn::Load(distances, source.distance + i * lanes));
    }
    return row;
  }
  static void make_canonical(float* row) {
    for (int lane = 0; lane < warp_size; ++lane) row[lane] = canonical(row[lane]);
  }

  const Source* sources_;
  Row sum_;
};

#else

class MultiplyAdd {
 public:
  explicit MultiplyAdd(const Source* sources) : sources_(sources) {}

  const Step* run(const Step* step, const Step*, std::byte* frame) {
    const float* a = row_of(*step, 1, frame);
    const float* b = row_of(*step, 2, frame);
    const float* c = row_of(*step, 3, frame);
    alignas(64) float loaded[2][warp_size];
    if (step->kind == Step::Kind::multiply_add_loaded) {
      for (int i = 0; i < 2; ++i) {
        const Source& source = sources_[step->batch[i]];
        load_words(source, source.from + step->offset[i], reinterpret_cast<Word*>(loaded[i]));
      }
      a = loaded[0];
      b = loaded[1];
    }
    for (int lane = 0; lane < warp_size; ++lane) {
      row_of(*step, 0, frame)[lane] = canonical(std::fma(a[lane], b[lane], c[lane]));
    }
    return step + 1;
  }

 private:
  const Source* sources_;
};

#endif  // HWY_NATIVE_FMA

void run_one_by_one(Warp& warp, const Instr& instr) {
  const auto& super = instr.op<Superinstruction>();
  for (const Instr& part : super.parts) part.masked(warp, part);
}

LoadPattern pattern_of(const Shape& shape, Source::Kind kind) {
  using Kind = LoadPattern::Kind;
  switch (kind) {
    case Source::Kind::uniform: return {Kind::uniform};
    case Source::Kind::halves: return {Kind::halves};
    case Source::Kind::dense: return {Kind::strided, sizeof(Word)};
    case Source::Kind::repeated:
      if (shape.half_stride <= 0) return {Kind::repeated_scattered};
      return {Kind::repeated, shape.half_stride};
    case Source::Kind::scattered: break;
  }
  if (shape.kind != Shape::Kind::linear || shape.half_stride <= 0) return {Kind::scattered};
  return {Kind::strided, shape.half_stride};
}

/// Runs the steps in machine code, if there is some.
bool run_native(const Superinstruction& super, Worker& worker,
                const std::array<Source, Superinstruction::most_batches + 1>& sources,
                std::byte* frame) {
  if (super.native == nullptr) return false;
  std::array<LoadPattern, Superinstruction::most_batches> patterns;
  std::array<LoadSource, Superinstruction::most_batches> loads;
  const std::size_t count = super.batches.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Shape& shape = worker.shapes[super.batches[i]->reads.front()->slot];
    const std::byte* from = sources[i].from;
    const std::int32_t* distance = shape.narrow_distance.data();
    patterns[i] = pattern_of(shape, sources[i].kind);
    loads[i] = {from, {from + distance[0], from + distance[warp_size / 2]}, distance};
  }
  const NativeSteps::Function function = super.native->find({patterns.data(), count});
  if (function == nullptr) return false;
  function(frame, loads.data());
  return true;
}

void run(Warp& warp, const Instr& instr) {
  const auto& super = instr.op<Superinstruction>();
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
  std::byte* const frame = warp.frame;
  std::array<Source, Superinstruction::most_batches + 1> sources;
  sources[Superinstruction::in_frame] = Source(frame);
  for (std::size_t i = 0; i < super.batches.size(); ++i) {
    const ReadBatch& batch = *super.batches[i];
    Shape& shape = worker.shapes[batch.reads.front()->slot];
    if (worker.observe) observe_batch(block, warp, batch, shape);
    sources[i] = {shape, block.shared.data()};
  }
  if (worker.native && run_native(super, worker, sources, frame)) return;
  const Step* step = super.steps.data();
  const Step* const end = step + super.steps.size();
  MultiplyAdd multiply_add(sources.data());
  while (step != end) {
    if (step->kind == Step::Kind::load) {
      load(*step, sources[step->batch[0]], frame);
      ++step;
    } else {
      step = multiply_add.run(step, end, frame);
    }
  }
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
