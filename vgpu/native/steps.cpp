// Machine code for the steps of a superinstruction. The patterns of the loads' addresses seldom
// change, so code is generated for each combination that occurs.

#include "vgpu/native/steps.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include "vgpu/native/emitter.hpp"
#include "vgpu/native/word_loads.hpp"

namespace rung::vgpu::native {
namespace {

using Step = Superinstruction::Step;
using Nan = Emitter::Nan;

class StepsEmitter {
 public:
  StepsEmitter(const Superinstruction& super, const Constants& constants,
               std::span<const LoadPattern> patterns, Emitter& to)
      : super_(super), constants_(constants), patterns_(patterns), pass_{to.vectors()}, c_(&to) {}

  void emit() {
    Emitter& to = *c_;
    for (int pass = 0; pass < to.vectors().passes; ++pass) {
      pass_.index = pass;
      const Plan plan = planned();
      to.begin_steps(plan);
      if (pass == 0) load_lows();
      for (const Step& step : super_.steps) {
        emit(step);
        to.next_instruction();
      }
      to.write_back();
    }
    to.vzeroupper();
    to.ret();
  }

 private:
  void emit(const Step& step) {
    c_->set_last_use(step.last_use);
    switch (step.kind) {
      case Step::Kind::load: return load(step);
      case Step::Kind::operation: return native::emit(*c_, constants_, operation(step));
      default: return multiply_add(step);
    }
  }

  Plan planned() const {
    Plan plan(pass_);
    for (const Step& step : super_.steps) {
      if (step.kind == Step::Kind::operation) native::plan(plan, operation(step));
      for (int part = 0; part < parts() && step.kind != Step::Kind::operation; ++part) {
        if (step.kind == Step::Kind::load) {
          for (std::size_t e = 0; e < step.count; ++e) plan.writes(line(step.row[e], part));
          continue;
        }
        for (std::size_t operand = 0; operand < 2; ++operand) {
          if (const auto row = row_of(step, operand)) plan.reads(line(*row, part));
        }
        plan.reads(line(step.row[3], part));
        plan.writes(line(step.row[0], part));
      }
      plan.next_instruction();
    }
    plan.ends_at(super_.parts.back().site);
    return plan;
  }

  int parts() const { return pass_.parts_of(NativeType::f32); }
  Line line(std::uint32_t row, int part) const { return pass_.line_of(row, NativeType::f32, part); }
  /// The first lane of a part.
  int first_lane(int part) const {
    return (pass_.index * parts() + part) * words_of(pass_.vectors);
  }

  const Instr& operation(const Step& step) const {
    return super_.parts[static_cast<std::size_t>(step.offset[0])];
  }

  /// The row of a factor; nullopt if it is loaded from shared memory.
  static std::optional<std::uint32_t> row_of(const Step& step, std::size_t operand) {
    if (step.kind == Step::Kind::multiply_add) return step.row[operand + 1];
    if (step.batch[operand] != Superinstruction::in_frame) return std::nullopt;
    return static_cast<std::uint32_t>(step.offset[operand]);
  }

  /// Loads the lowest addresses of the first batches into registers, where they stay.
  void load_lows() {
    for (std::size_t i = 0; i < std::min(lows(), super_.batches.size()); ++i) {
      c_->mov(lows_[i], c_->ptr[c_->rsi + field_of(i, offsetof(LoadSource, low))]);
    }
  }

  static int field_of(std::size_t batch, std::size_t field) {
    return static_cast<int>(batch * sizeof(LoadSource) + field);
  }

  /// The address of a batch's source, in rax or in the batch's register, plus an offset.
  Xbyak::RegExp source(std::size_t batch, std::size_t field, std::int32_t offset) {
    if (field == offsetof(LoadSource, low) && batch < lows()) return lows_[batch] + offset;
    c_->mov(c_->rax, c_->ptr[c_->rsi + field_of(batch, field)]);
    return c_->rax + offset;
  }

  /// Loads the words of a part's lanes, `offset` bytes from the addresses of a batch.
  void load_words(const Vector& to, std::size_t batch, std::int32_t offset, int part) {
    Emitter& c = *c_;
    const LoadPattern pattern = patterns_[batch];
    constexpr auto word = static_cast<std::int32_t>(sizeof(std::uint32_t));
    const auto from = [&] { return first_word(batch, offset, part); };
    switch (pattern.kind) {
      case LoadPattern::Kind::uniform:
      case LoadPattern::Kind::halves: c.vbroadcastss(to, c.dword[from()]); break;
      case LoadPattern::Kind::strided:
      case LoadPattern::Kind::repeated:
        if (pattern.stride == word) {
          c.vmovups(to, c.vector_at(from()));
        } else {
          load_strided(c, to, from(), pattern.stride);
        }
        break;
      case LoadPattern::Kind::repeated_scattered:
      case LoadPattern::Kind::scattered: gather(to, batch, offset, part); break;
    }
  }

  /// The address of the first of these words. Not for scattered patterns.
  Xbyak::RegExp first_word(std::size_t batch, std::int32_t offset, int part) {
    return source(batch, offsetof(LoadSource, low),
                  offset + offset_of_lane(patterns_[batch], first_lane(part)));
  }

  void gather(const Vector& to, std::size_t batch, std::int32_t offset, int part) {
    Emitter& c = *c_;
    const Vector index = c.temporary(0);
    const Xbyak::Address distances =
        c.vector_at(source(batch, offsetof(LoadSource, distance),
                           first_lane(part) * static_cast<int>(sizeof(std::int32_t))));
    c.has_avx512() ? c.vmovdqu32(index, distances) : c.vmovdqu(index, distances);
    const Xbyak::RegExp from = source(batch, offsetof(LoadSource, low), offset);
    if (c.has_avx512()) {
      const Xbyak::Opmask all = Emitter::scratch_mask();
      c.kxnorw(all, all, all);
      c.vgatherdps(to | all, c.ptr[from + index]);
    } else {
      const Vector all = c.temporary(1);
      c.vpcmpeqd(all, all, all);
      c.vgatherdps(to, c.ptr[from + index], all);
    }
  }

  /// True if both halves of the lanes, which are two parts with AVX-512, have the same words.
  bool repeats(std::size_t batch) const {
    const LoadPattern::Kind kind = patterns_[batch].kind;
    return kind == LoadPattern::Kind::uniform || kind == LoadPattern::Kind::repeated ||
           kind == LoadPattern::Kind::repeated_scattered;
  }

  /// Loads four words per lane if the addresses have a constant stride. Returns false otherwise.
  bool load_fours(const Step& step) {
    const LoadPattern pattern = patterns_[step.batch[0]];
    const bool repeated = pattern.kind == LoadPattern::Kind::repeated;
    if (step.count != 4 || (pattern.kind != LoadPattern::Kind::strided && !repeated)) return false;
    std::array<Vector, 4> words;
    for (int part = 0; part < parts(); ++part) {
      if (part == 0 || !repeated) {
        for (Vector& word : words) word = c_->fresh();
        load_transposed(*c_, words, first_word(step.batch[0], step.offset[0], part),
                        pattern.stride);
      }
      for (std::size_t e = 0; e < words.size(); ++e) {
        c_->write(line(step.row[e], part), words[e], lanes(part));
      }
    }
    return true;
  }

  void load(const Step& step) {
    if (load_fours(step)) return;
    for (std::size_t e = 0; e < step.count; ++e) {
      const auto offset = step.offset[0] + static_cast<std::int32_t>(e * sizeof(std::uint32_t));
      Vector words;
      for (int part = 0; part < parts(); ++part) {
        if (part == 0 || !repeats(step.batch[0])) {
          words = c_->fresh();
          load_words(words, step.batch[0], offset, part);
        }
        c_->write(line(step.row[e], part), words, lanes(part));
      }
    }
  }

  /// A factor of a part's lanes. `words`: the register of the first part, which the second part
  /// shares if both have the same words.
  Vector factor(const Step& step, std::size_t operand, int part, Vector& words) {
    if (const auto row = row_of(step, operand)) return c_->read(line(*row, part), Nan::any);
    if (part == 0 || !repeats(step.batch[operand])) {
      words = c_->fresh();
      load_words(words, step.batch[operand], step.offset[operand], part);
    }
    return words;
  }

  void multiply_add(const Step& step) {
    Vector words_of_a, words_of_b;
    for (int part = 0; part < parts(); ++part) {
      const Vector a = factor(step, 0, part, words_of_a), b = factor(step, 1, part, words_of_b);
      const Vector sum = c_->take(line(step.row[3], part), Nan::any);
      c_->vfmadd231ps(sum, a, b);
      c_->write(line(step.row[0], part), sum, lanes(part), Nan::any);
    }
  }

  static Lanes lanes(int part) { return {4, static_cast<std::uint8_t>(part)}; }

  const Superinstruction& super_;
  const Constants& constants_;
  const std::span<const LoadPattern> patterns_;
  Pass pass_;
  Emitter* const c_;
  // Registers that no step changes: those of the warp and the mask, which steps do not need, and,
  // with AVX-512, the one for numbers.
  const std::array<Xbyak::Reg64, 3> lows_ = {Xbyak::Reg64(Xbyak::Operand::RDI),
                                             Xbyak::Reg64(Xbyak::Operand::R9),
                                             Xbyak::Reg64(Xbyak::Operand::R11)};
  std::size_t lows() const { return c_->has_avx512() ? lows_.size() : lows_.size() - 1; }
};

/// Functions for one kind of code, by the patterns for which they were generated.
template <class Code>
class Variants {
 public:
  explicit Variants(const Vectors& vectors) : vectors_(vectors) {}

  /// The code for these patterns, generated by `make(emitter)` at the first call. Null if there are
  /// too many variants.
  template <class Make>
  Code find(std::span<const LoadPattern> patterns, const Make& make) {
    for (const Variant& variant : variants_) {
      if (!variant.is_complete.load(std::memory_order_acquire)) break;
      if (variant.is_for(patterns)) return variant.code;
    }
    const std::lock_guard lock(mutex_);
    for (Variant& variant : variants_) {
      if (variant.is_complete.load(std::memory_order_relaxed)) {
        if (variant.is_for(patterns)) return variant.code;
        continue;
      }
      variant.code = make(emitters_.emplace_back(vectors_));
      std::copy(patterns.begin(), patterns.end(), variant.patterns.begin());
      variant.is_complete.store(true, std::memory_order_release);
      return variant.code;
    }
    return {};
  }

 private:
  struct Variant {
    std::array<LoadPattern, Superinstruction::max_batches> patterns;
    Code code{};
    // If false, this variant and the following ones are unused.
    std::atomic<bool> is_complete = false;

    bool is_for(std::span<const LoadPattern> wanted) const {
      return std::equal(wanted.begin(), wanted.end(), patterns.begin());
    }
  };

  const Vectors vectors_;
  std::mutex mutex_;
  std::deque<Emitter> emitters_;
  std::array<Variant, 8> variants_;
};

class Steps final : public NativeSteps {
 public:
  Steps(const Superinstruction& super, const Vectors& vectors,
        std::shared_ptr<const Constants> constants, std::vector<Instr> parts)
      : super_(super),
        constants_(std::move(constants)),
        parts_(std::move(parts)),
        single_(vectors),
        repeated_(vectors) {}

  Function find(std::span<const LoadPattern> patterns) override {
    return single_.find(patterns, [&](Emitter& emitter) {
      StepsEmitter(super_, *constants_, patterns, emitter).emit();
      emitter.make_executable();
      return emitter.getCode<Function>();
    });
  }

  Repeated find_repeated(std::span<const LoadPattern> patterns) override {
    return repeated_.find(
        patterns, [&](Emitter& emitter) { return repeated_steps(super_, patterns, emitter); });
  }

  std::span<const Instr> parts() const override { return parts_; }

 private:
  const Superinstruction& super_;
  const std::shared_ptr<const Constants> constants_;
  const std::vector<Instr> parts_;
  Variants<Function> single_;
  Variants<Repeated> repeated_;
};

}  // namespace

std::shared_ptr<NativeSteps> native_steps(const Superinstruction& super, const Vectors& vectors,
                                          std::shared_ptr<const Constants> constants,
                                          std::vector<Instr> parts) {
  return std::make_shared<Steps>(super, vectors, std::move(constants), std::move(parts));
}

}  // namespace rung::vgpu::native
