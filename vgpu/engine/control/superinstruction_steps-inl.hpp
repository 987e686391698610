// The steps of a superinstruction: loads of whole rows from shared memory, and FMAs. Included once
// per target.

#if defined(RUNG_VGPU_SUPERINSTRUCTION_STEPS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef RUNG_VGPU_SUPERINSTRUCTION_STEPS_INL_HPP
#undef RUNG_VGPU_SUPERINSTRUCTION_STEPS_INL_HPP
#else
#define RUNG_VGPU_SUPERINSTRUCTION_STEPS_INL_HPP
#endif

#include <hwy/highway.h>

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "vgpu/engine/control/superinstruction.hpp"
#include "vgpu/engine/numbers/float_bits.hpp"
#include "vgpu/model/shape.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Step = Superinstruction::Step;
using Word = std::uint32_t;

/// Where the loads of a batch read from.
struct Source {
  enum class Kind : std::uint8_t { uniform, halves, dense, repeated, scattered };

  Source() = default;
  /// Reads from the frame, at the rows' offsets.
  explicit Source(const std::byte* frame) : from(frame), distance(nullptr), kind(Kind::dense) {}
  Source(const Shape& shape, const std::byte* shared)
      : from(shared + shape.low),
        distance(shape.narrow_distance.data()),
        kind(shape.kind == Shape::Kind::uniform ? Kind::uniform
             : shape.halves_uniform             ? Kind::halves
             : shape.stride == sizeof(Word)     ? Kind::dense
             : shape.halves_agree               ? Kind::repeated
                                                : Kind::scattered) {}

  const std::byte* from;  // origin of the lanes' distances
  const std::int32_t* distance;
  Kind kind;  // repeated: lanes 16 to 31 use the same addresses as lanes 0 to 15
};

/// Writes rows as whole SIMD vectors, as they will be read later: a CPU does not forward many small
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

bool is_multiply_add(const Step& step) {
  return step.kind == Step::Kind::multiply_add || step.kind == Step::Kind::multiply_add_loaded;
}

/// Runs FMAs. The last results stay in CPU registers for the next FMA of the same sum.
class MultiplyAdd {
 public:
  explicit MultiplyAdd(const Source* sources) : sources_(sources) {}

  /// Runs the FMAs from `step` up to a load or `end`, and returns that position. A NaN is replaced
  /// by PTX's canonical NaN only after the last FMA: whether a number is NaN does not depend on its
  /// payload.
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
    } while (++step != end && is_multiply_add(*step));
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

}  // namespace
}  // namespace rung::vgpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
