#pragma once
// Emits code for a run of instructions, with the lines of the frame in registers.
//
// A line is as many bytes of the frame as a vector register has, 64 or 32. A line that the run writes
// stays in its register until the register is needed for one that is read sooner (L. A. Belady, "A
// study of replacement algorithms for a virtual-storage computer", IBM Systems Journal 5 (2), 1966),
// or until the run ends.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "vgpu/model/instr.hpp"
#include "vgpu/native/assembler.hpp"

namespace rung::vgpu::native {

/// The lines that the instructions of a run read and write, in their order.
class Plan {
 public:
  explicit Plan(const Pass& pass) : pass_(pass) {}

  const Pass& pass() const { return pass_; }
  void reads(Line line) { events_[line].push_back(reads_of(now_)); }
  void writes(Line line) { events_[line].push_back(writes_of(now_)); }
  void next_instruction() { ++now_; }
  /// The run ends behind that site. Values that nothing needs there are not written back.
  void ends_at(std::uint32_t site) { end_site_ = site; }
  /// The code may be left here, in front of the next instruction.
  void may_be_left() { exits_.push_back(reads_of(now_)); }
  /// The lines that are read before they are written, in the order of these reads.
  std::vector<Line> read_first() const;
  bool is_needed_behind(std::uint32_t last_use) const { return last_use > end_site_; }

  // Points in time: the reads of an instruction, and its writes, which come after them.
  static constexpr std::size_t never = ~std::size_t{0};
  static std::size_t reads_of(std::size_t instruction) { return 2 * instruction; }
  static std::size_t writes_of(std::size_t instruction) { return 2 * instruction + 1; }
  /// When the line is read, from that point on, if it is not written before.
  std::size_t next_read(Line line, std::size_t from) const;
  /// Whether it is written, from that point on, before it is read or the code may be left.
  bool is_overwritten(Line line, std::size_t from) const;

 private:
  std::size_t next_event(Line line, std::size_t from) const;

  Pass pass_;
  std::unordered_map<Line, std::vector<std::size_t>> events_;
  std::vector<std::size_t> exits_;
  std::size_t now_ = 0;
  std::uint32_t end_site_ = 0;
};

/// The lanes that a line holds, for stores of the active lanes alone.
struct Lanes {
  std::uint8_t bytes = 4;  // of a lane
  std::uint8_t part = 0;   // of the pass's lanes in the row
};

class Emitter : public Assembler {
 public:
  using Assembler::Assembler;

  /// The lanes that the code is for.
  const Pass& pass() const { return pass_; }

  /// Begins a run: a function with the type of a Handler. `masked`: only the lanes of warp.mask may
  /// change in the frame.
  void begin(const Plan& plan, bool masked);
  /// The same for a function with the type of NativeSteps::Function, which finds the sources in rsi.
  void begin_steps(const Plan& plan);
  /// Ends it: writes the changed lines.
  void write_back();

  // Loops, which keep lines in the same registers from one iteration to the next.
  /// A line in a register. `dirty`: the register is newer than the frame.
  struct Held {
    Line line;
    int index;
    Lanes lanes = {};
    bool dirty = false;
  };
  /// Loads these lines in front of a loop.
  void preload(const std::vector<Held>& lines);
  /// At the loop's end: puts all of them where they were in front of it, and writes the other lines
  /// that may be needed when the loop is left.
  void put_back(const std::vector<Held>& lines);
  /// Where a line is now.
  std::optional<Held> held(Line line) const;
  /// The state at a place where the code may be left, and the writes of changed lines for it.
  struct Snapshot;
  std::shared_ptr<const Snapshot> snapshot() const;
  void write_back_for(const Snapshot& snapshot);
  /// Begins a function that allocates registers itself, all but canonicalise()'s.
  void begin_bare();
  /// Replaces NaN of f32 by PTX's. Changes the mask.
  void canonicalise(const Vector& value);
  /// After the last run: the code no longer moves or changes.
  void make_executable() { ready(Xbyak::CodeArray::PROTECT_RE); }
  /// The instructions of the plan begin one after the other.
  void next_instruction();
  /// What is written from now on has this Instr::last_use.
  void set_last_use(std::uint32_t site) { last_use_ = site; }

  /// How an instruction uses f32. PTX has one NaN, and the CPU many: they become the one before
  /// their bits matter, because whether a number is NaN does not depend on them.
  enum class Nan { any, canonical };

  // Operands. Registers stay as they are until next_instruction().
  Vector read(Line line, Nan nan = Nan::canonical);
  /// The register, or the memory if the line is in no register and this is its last use.
  const Xbyak::Operand& read_any(Line line, Nan nan = Nan::canonical);
  /// A register with the value that may be overwritten. Call it after the instruction's reads.
  Vector take(Line line, Nan nan = Nan::canonical);
  /// An unused register.
  Vector fresh();
  /// The line has the register's value from now on.
  void write(Line line, const Vector& value, Lanes lanes, Nan nan = Nan::canonical);
  /// The line `to` has the value of `from`.
  void copy(Line to, Line from, Lanes lanes);
  // Predicates have a bit for each lane of the pass.
  void read_predicate(const Xbyak::Reg32& bits, std::uint32_t row);
  /// Changes edx.
  void write_predicate(std::uint32_t row, const Xbyak::Reg32& bits);
  /// Sets the mask, which reading, writing and fresh() may change.
  void set_mask_to_predicate(std::uint32_t row, int lane_bytes, int part) {
    set_mask(frame + (row + first_byte()), lane_bytes, part);
  }
  // Registers of the function. eax, ecx, edx and r10 are free; steps.cpp keeps addresses in r11, if
  // numbers do not need it.
  const Xbyak::Reg64 frame = r8;
  const Xbyak::Reg32 mask = r9d;  // of warp.mask, if masked, the bits of the pass

 private:
  static constexpr std::size_t most_registers = static_cast<std::size_t>(avx512.registers);

  struct Register {
    std::vector<Line> lines;
    std::uint64_t pinned = 0;  // until this instruction has ended
    bool may_be_nan = false;
  };
  struct State {
    int index;  // of the register
    Lanes lanes;
    bool dirty;
    std::uint32_t last_use = Instr::used_later;
  };

  void start(const Plan& plan, bool masked);
  bool is_first_pass() const { return pass_.index == 0; }
  Xbyak::Address memory(Line line) const;
  /// Of a word with a bit for each lane of the warp.
  std::uint32_t first_byte() const { return static_cast<std::uint32_t>(pass_.index); }
  void read_lanes(const Xbyak::Reg32& bits, const Xbyak::RegExp& lanes);
  int allocate();
  void release(int index);
  template <class F>
  void write_back_if(const F& wanted);
  void move_in_parallel(std::vector<std::pair<int, int>> moves);
  void unbind(Line line);
  void store(Line line, const State& state);
  bool must_store(Line line, const State& state) const;
  void make_canonical(int index);
  void pin(int index) { registers_[static_cast<std::size_t>(index)].pinned = now_ + 1; }

  const Plan* plan_ = nullptr;
  Pass pass_{vectors()};
  bool masked_ = false;
  std::size_t now_ = 0;
  std::uint32_t last_use_ = Instr::used_later;
  std::array<Register, most_registers> registers_;
  std::unordered_map<Line, State> lines_;
  std::vector<Xbyak::Address> addresses_;  // that read_any() refers to
  std::vector<Vector> operands_;
};

struct Emitter::Snapshot {
  std::array<Register, most_registers> held;
  std::unordered_map<Line, State> lines;
  std::size_t now;
};

}  // namespace rung::vgpu::native
