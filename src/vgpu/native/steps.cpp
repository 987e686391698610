// The steps of a superinstruction in machine code. The patterns of the loads' addresses seldom
// change, so there is code for each combination that occurs.

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
#include "vgpu/native/repeated_steps.hpp"
#include "vgpu/native/word_loads.hpp"

namespace rung::vgpu::native {
namespace {

using Xbyak::Zmm;
using Step = Superinstruction::Step;
using Nan = Emitter::Nan;

constexpr int parts = 2;  // lines of a row
constexpr int half_lanes = 16;

class StepsEmitter {
 public:
  StepsEmitter(const Superinstruction& super, const Constants& constants,
               std::span<const LoadPattern> patterns)
      : super_(super), constants_(constants), patterns_(patterns) {}

  void emit(Emitter& to) {
    const Plan plan = planned();
    c_ = &to;
    to.begin_steps(plan);
    load_lows();
    for (const Step& step : super_.steps) {
      to.set_last_use(step.last_use);
      switch (step.kind) {
        case Step::Kind::load: load(step); break;
        case Step::Kind::operation: native::emit(to, constants_, operation(step)); break;
        default: multiply_add(step);
      }
      to.next_instruction();
    }
    to.end();
  }

 private:
  Plan planned() const {
    Plan plan;
    for (const Step& step : super_.steps) {
      if (step.kind == Step::Kind::operation) native::plan(plan, operation(step));
      for (int part = 0; part < parts && step.kind != Step::Kind::operation; ++part) {
        if (step.kind == Step::Kind::load) {
          for (std::size_t e = 0; e < step.count; ++e) plan.writes(line_of(step.row[e], part));
          continue;
        }
        for (std::size_t operand = 0; operand < 2; ++operand) {
          if (const auto row = row_of(step, operand)) plan.reads(line_of(*row, part));
        }
        plan.reads(line_of(step.row[3], part));
        plan.writes(line_of(step.row[0], part));
      }
      plan.next_instruction();
    }
    plan.ends_at(super_.parts.back().site);
    return plan;
  }

  const Instr& operation(const Step& step) const {
    return super_.parts[static_cast<std::size_t>(step.offset[0])];
  }

  /// The row of a factor, unless it comes from shared memory.
  static std::optional<std::uint32_t> row_of(const Step& step, std::size_t operand) {
    if (step.kind == Step::Kind::multiply_add) return step.row[operand + 1];
    if (step.batch[operand] != Superinstruction::in_frame) return std::nullopt;
    return static_cast<std::uint32_t>(step.offset[operand]);
  }

  /// The lowest addresses of the first batches stay in registers.
  void load_lows() {
    for (std::size_t i = 0; i < std::min(lows_.size(), super_.batches.size()); ++i) {
      c_->mov(lows_[i], c_->ptr[c_->rsi + field_of(i, offsetof(LoadSource, low))]);
    }
  }

  static int field_of(std::size_t batch, std::size_t field) {
    return static_cast<int>(batch * sizeof(LoadSource) + field);
  }

  /// The address of a batch's source in rax or in its register, plus an offset for the instruction.
  Xbyak::RegExp source(std::size_t batch, std::size_t field, std::int32_t offset) {
    if (field == offsetof(LoadSource, low) && batch < lows_.size()) return lows_[batch] + offset;
    c_->mov(c_->rax, c_->ptr[c_->rsi + field_of(batch, field)]);
    return c_->rax + offset;
  }

  /// A half of the lanes' words, offset bytes from the addresses of a batch.
  void load_words(const Zmm& to, std::size_t batch, std::int32_t offset, int part) {
    Emitter& c = *c_;
    const LoadPattern pattern = patterns_[batch];
    constexpr auto word = static_cast<std::int32_t>(sizeof(std::uint32_t));
    switch (pattern.kind) {
      case LoadPattern::Kind::uniform:
        c.vbroadcastss(to, c.dword[source(batch, offsetof(LoadSource, low), offset)]);
        break;
      case LoadPattern::Kind::halves:
        c.vbroadcastss(to, c.dword[source(batch, offsetof(LoadSource, low),
                                          offset + pattern.offset_of_half(part))]);
        break;
      case LoadPattern::Kind::strided:
      case LoadPattern::Kind::repeated: {
        const bool repeats = pattern.kind == LoadPattern::Kind::repeated;
        const std::int32_t first = repeats ? 0 : part * half_lanes * pattern.stride;
        const Xbyak::RegExp from = source(batch, offsetof(LoadSource, low), offset + first);
        if (pattern.stride == word) {
          c.vmovups(to, c.zword[from]);
        } else {
          load_strided(c, to, from, pattern.stride);
        }
        break;
      }
      case LoadPattern::Kind::repeated_scattered:
      case LoadPattern::Kind::scattered: gather(to, batch, offset, part); break;
    }
  }

  void gather(const Zmm& to, std::size_t batch, std::int32_t offset, int part) {
    Emitter& c = *c_;
    const Zmm index = Emitter::temporary(0);
    c.vmovdqu32(index, c.zword[source(batch, offsetof(LoadSource, distance),
                                      part * half_lanes * static_cast<int>(sizeof(std::int32_t)))]);
    const Xbyak::RegExp from = source(batch, offsetof(LoadSource, low), offset);
    const Xbyak::Opmask all = Emitter::scratch_mask();
    c.kxnorw(all, all, all);
    c.vgatherdps(to | all, c.ptr[from + index]);
  }

  /// Whether both halves of the lanes have the same words.
  bool repeats(std::size_t batch) const {
    const LoadPattern::Kind kind = patterns_[batch].kind;
    return kind == LoadPattern::Kind::uniform || kind == LoadPattern::Kind::repeated ||
           kind == LoadPattern::Kind::repeated_scattered;
  }

  /// Loads four words per lane whose addresses are a constant stride apart. False for others.
  bool load_fours(const Step& step) {
    const LoadPattern pattern = patterns_[step.batch[0]];
    const bool repeated = pattern.kind == LoadPattern::Kind::repeated;
    if (step.count != 4 || (pattern.kind != LoadPattern::Kind::strided && !repeated)) return false;
    std::array<Zmm, 4> words;
    for (int part = 0; part < parts; ++part) {
      if (part == 0 || !repeated) {
        for (Zmm& word : words) word = c_->fresh();
        const std::int32_t first = part * half_lanes * pattern.stride;
        load_transposed(*c_, words,
                        source(step.batch[0], offsetof(LoadSource, low), step.offset[0] + first),
                        pattern.stride);
      }
      for (std::size_t e = 0; e < words.size(); ++e) {
        c_->write(line_of(step.row[e], part), words[e], lanes(part));
      }
    }
    return true;
  }

  void load(const Step& step) {
    if (load_fours(step)) return;
    for (std::size_t e = 0; e < step.count; ++e) {
      const auto offset = step.offset[0] + static_cast<std::int32_t>(e * sizeof(std::uint32_t));
      Zmm words;
      for (int part = 0; part < parts; ++part) {
        if (part == 0 || !repeats(step.batch[0])) {
          words = c_->fresh();
          load_words(words, step.batch[0], offset, part);
        }
        c_->write(line_of(step.row[e], part), words, lanes(part));
      }
    }
  }

  /// A factor of a half of the lanes. `words`: the register that the first half got, which the second
  /// half shares if both have the same words.
  Zmm factor(const Step& step, std::size_t operand, int part, Zmm& words) {
    if (const auto row = row_of(step, operand)) return c_->read(line_of(*row, part), Nan::any);
    if (part == 0 || !repeats(step.batch[operand])) {
      words = c_->fresh();
      load_words(words, step.batch[operand], step.offset[operand], part);
    }
    return words;
  }

  void multiply_add(const Step& step) {
    Zmm words_of_a, words_of_b;
    for (int part = 0; part < parts; ++part) {
      const Zmm a = factor(step, 0, part, words_of_a), b = factor(step, 1, part, words_of_b);
      const Zmm sum = c_->take(line_of(step.row[3], part), Nan::any);
      c_->vfmadd231ps(sum, a, b);
      c_->write(line_of(step.row[0], part), sum, lanes(part), Nan::any);
    }
  }

  static Lanes lanes(int part) { return {4, static_cast<std::uint8_t>(part)}; }

  const Superinstruction& super_;
  const Constants& constants_;
  const std::span<const LoadPattern> patterns_;
  Emitter* c_ = nullptr;
  // Registers that no step changes: the warp's and the mask's, which steps do not have, and one more.
  const std::array<Xbyak::Reg64, 3> lows_ = {Xbyak::Reg64(Xbyak::Operand::RDI),
                                             Xbyak::Reg64(Xbyak::Operand::R9),
                                             Xbyak::Reg64(Xbyak::Operand::R11)};
};

/// Functions for a kind of code, by the patterns for which they were made.
template <class Code>
class Variants {
 public:
  /// The code for these patterns, made by `make(emitter)` at the first call. None if there is too
  /// much.
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
      variant.code = make(emitters_.emplace_back());
      std::copy(patterns.begin(), patterns.end(), variant.patterns.begin());
      variant.is_complete.store(true, std::memory_order_release);
      return variant.code;
    }
    return {};
  }

 private:
  struct Variant {
    std::array<LoadPattern, Superinstruction::most_batches> patterns;
    Code code{};
    std::atomic<bool> is_complete = false;  // if not, it is unused, and so are the next ones

    bool is_for(std::span<const LoadPattern> wanted) const {
      return std::equal(wanted.begin(), wanted.end(), patterns.begin());
    }
  };

  std::mutex mutex_;
  std::deque<Emitter> emitters_;
  std::array<Variant, 8> variants_;
};

class Steps final : public NativeSteps {
 public:
  Steps(const Superinstruction& super, std::shared_ptr<const Constants> constants,
        std::vector<Instr> parts)
      : super_(super), constants_(std::move(constants)), parts_(std::move(parts)) {}

  Function find(std::span<const LoadPattern> patterns) override {
    return single_.find(patterns, [&](Emitter& emitter) {
      StepsEmitter(super_, *constants_, patterns).emit(emitter);
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

std::shared_ptr<NativeSteps> native_steps(const Superinstruction& super,
                                          std::shared_ptr<const Constants> constants,
                                          std::vector<Instr> parts) {
  return std::make_shared<Steps>(super, std::move(constants), std::move(parts));
}

}  // namespace rung::vgpu::native
