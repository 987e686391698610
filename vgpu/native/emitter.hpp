#pragma once
// Emits code for a run of instructions, with the lines of the frame in registers.
//
// A line is the part of the frame that fits a vector register: 64 or 32 bytes. A line that the run
// writes stays in its register until the register is needed for one that is read sooner (L. A.
// Belady, "A study of replacement algorithms for a virtual-storage computer", IBM Systems Journal 5
// (2), 1966), or until the run ends.

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

/// The lines that the instructions of a run read and write, in order.
class Plan {
 public:
  explicit Plan(const Pass& pass) : pass_(pass) {}

  const Pass& pass() const { return pass_; }
  void reads(Line line) { events_[line].push_back(reads_of(now_)); }
  void writes(Line line) { events_[line].push_back(writes_of(now_)); }
  void next_instruction() { ++now_; }
  /// The run ends after that site. Values that are not needed there are not written back.
  void ends_at(std::uint32_t site) { end_site_ = site; }
  /// Control may leave the code before the next instruction.
  void may_be_left() { exits_.push_back(reads_of(now_)); }
  /// The lines that are read before they are written, in the order of their first reads.
  std::vector<Line> read_first() const;
  bool is_needed_after(std::uint32_t last_use) const { return last_use > end_site_; }

  // Points in time: the reads of an instruction, then its writes.
  static constexpr std::size_t never = ~std::size_t{0};
  static std::size_t reads_of(std::size_t instruction) { return 2 * instruction; }
  static std::size_t writes_of(std::size_t instruction) { return 2 * instruction + 1; }
  /// The time of the line's next read after `from`; `never` if it is written first.
  std::size_t next_read(Line line, std::size_t from) const;
  /// True if the line is written after `from`, before it is read or control may leave the code.
  bool is_overwritten(Line line, std::size_t from) const;

 private:
  std::size_t next_event(Line line, std::size_t from) const;

  Pass pass_;
  std::unordered_map<Line, std::vector<std::size_t>> events_;
  std::vector<std::size_t> exits_;
  std::size_t now_ = 0;
  std::uint32_t end_site_ = 0;
};

/// The lanes in a line, for stores of active lanes only.
struct Lanes {
  std::uint8_t bytes = 4;  // per lane
  std::uint8_t part = 0;   // index among the parts of the pass's lanes
};

class Emitter : public Assembler {
 public:
  using Assembler::Assembler;

  /// The lanes for which code is emitted.
  const Pass& pass() const { return pass_; }

  /// Begins a run: a function of type Handler. `masked`: only the lanes of warp.mask may change in
  /// the frame.
  void begin(const Plan& plan, bool masked);
  /// Begins a function of type NativeSteps::Function, whose second argument (rsi) points at the
  /// sources.
  void begin_steps(const Plan& plan);
  /// Ends the function: writes changed lines back.
  void write_back();

  // Loops keep lines in the same registers from one iteration to the next.
  /// A line in a register. `dirty`: the register is newer than the frame.
  struct Held {
    Line line;
    int index;
    Lanes lanes = {};
    bool dirty = false;
  };
  /// Loads these lines before a loop.
  void preload(const std::vector<Held>& lines);
  /// At the end of the loop: moves all of them back to their registers before the loop, and writes
  /// back the other lines that may be needed after it.
  void put_back(const std::vector<Held>& lines);
  /// The current register of a line.
  std::optional<Held> held(Line line) const;
  /// The state where control may leave the code, and the code that writes back changed lines for
  /// it.
  struct Snapshot;
  std::shared_ptr<const Snapshot> snapshot() const;
  void write_back_for(const Snapshot& snapshot);
  /// Begins a function that allocates all registers itself, except those of canonicalise().
  void begin_bare();
  /// Replaces f32 NaN by PTX's canonical one. Changes the mask.
  void canonicalise(const Vector& value);
  /// Call after the last run. The code can no longer move or change.
  void make_executable() { ready(Xbyak::CodeArray::PROTECT_RE); }
  /// Advances to the next instruction of the plan.
  void next_instruction();
  /// Sets Instr::last_use of the values written from now on.
  void set_last_use(std::uint32_t site) { last_use_ = site; }

  /// The use of f32 values. PTX has one NaN, the CPU many. They are replaced by PTX's before their
  /// bits matter, because whether a number is NaN does not depend on its payload.
  enum class Nan { any, canonical };

  // Operands. Registers are unchanged until next_instruction().
  Vector read(Line line, Nan nan = Nan::canonical);
  /// The line's register, or its memory operand if it is in no register and this is its last use.
  const Xbyak::Operand& read_any(Line line, Nan nan = Nan::canonical);
  /// A register with the line's value that may be overwritten. Call after the instruction's reads.
  Vector take(Line line, Nan nan = Nan::canonical);
  /// An unused register.
  Vector fresh();
  /// Assigns the register's value to the line.
  void write(Line line, const Vector& value, Lanes lanes, Nan nan = Nan::canonical);
  /// Assigns the value of line `from` to line `to`.
  void copy(Line to, Line from, Lanes lanes);
  // Predicates have one bit for each lane of the pass.
  void read_predicate(const Xbyak::Reg32& bits, std::uint32_t row);
  /// Changes edx.
  void write_predicate(std::uint32_t row, const Xbyak::Reg32& bits);
  /// Sets the mask, which reads, writes and fresh() may change.
  void set_mask_to_predicate(std::uint32_t row, int lane_bytes, int part) {
    set_mask(frame + (row + first_byte()), lane_bytes, part);
  }
  // Registers of the function. eax, ecx, edx and r10 are free. steps.cpp keeps addresses in r11,
  // unless it points at numbers.
  const Xbyak::Reg64 frame = r8;
  const Xbyak::Reg32 mask = r9d;  // if masked: warp.mask, the bits of the pass

 private:
  static constexpr std::size_t max_registers = static_cast<std::size_t>(avx512.registers);

  struct Register {
    std::vector<Line> lines;
    std::uint64_t pinned = 0;  // cannot be evicted until this instruction has ended
    bool may_be_nan = false;
  };
  struct State {
    int index;  // index of the register
    Lanes lanes;
    bool dirty;
    std::uint32_t last_use = Instr::used_later;
  };

  void start(const Plan& plan, bool masked);
  bool is_first_pass() const { return pass_.index == 0; }
  Xbyak::Address memory(Line line) const;
  /// Offset of the pass's bits in a word with one bit for each lane of the warp.
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
  std::array<Register, max_registers> registers_;
  std::unordered_map<Line, State> lines_;
  std::vector<Xbyak::Address> addresses_;  // referenced by read_any()
  std::vector<Vector> operands_;
};

struct Emitter::Snapshot {
  std::array<Register, max_registers> held;
  std::unordered_map<Line, State> lines;
  std::size_t now;
};

}  // namespace rung::vgpu::native
