// Chains basic blocks: the end of one jumps to the next. Runs of translated instructions are
// inline. Every other instruction is a call of its handler at its own address, so that the CPU
// predicts the call. After J. R. Bell, "Threaded code", Communications of the ACM 16 (6), 1973.

#include "vgpu/native/chain_emitter.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "vgpu/model/warp.hpp"
#include "vgpu/native/loops.hpp"
#include "vgpu/native/unwind_table.hpp"

namespace rung::vgpu::native {
namespace {

using State = Chain::State;
using Reason = Chain::Stop::Reason;

/// A chain that owns its code.
struct OwnedChain final : Chain {
  explicit OwnedChain(const Vectors& vectors) : emitter(vectors) {}

  Emitter emitter;
  std::optional<UnwindTable> unwind_table;  // for the emitter's code
  std::shared_ptr<const Emitter> functions;
  std::vector<const void*> whole_places, part_places;
};

class ChainEmitter {
 public:
  ChainEmitter(const Kernel& kernel, const Constants& constants, std::span<const Run* const> runs,
               Emitter& to)
      : kernel_(kernel),
        constants_(constants),
        runs_(runs),
        loops_(kernel, runs, to.vectors()),
        c(to) {
    is_meeting_.resize(kernel.blocks.size());
    for (const BasicBlock& block : kernel.blocks) {
      if (block.post_dominator >= 0) is_meeting_[at_index(block.post_dominator)] = true;
    }
  }

  /// Emits the prologue of the function.
  void begin() {
    for (const Xbyak::Reg64& reg : saved_) c.push(reg);
    c.sub(c.rsp, padding);
    c.mov(state_, c.rdi);
    c.mov(warp_, c.ptr[state_ + offsetof(State, warp)]);
    c.mov(split_, c.ptr[state_ + offsetof(State, split)]);
    c.mov(spent_, c.ptr[state_ + offsetof(State, spent)]);
    c.mov(executions_, c.ptr[state_ + offsetof(State, executions)]);
    c.mov(end_, c.ptr[state_ + offsetof(State, end)]);
    c.jmp(c.rsi);
    c.L(leave_);
    c.add(c.rsp, padding);
    for (std::size_t i = saved_.size(); i-- > 0;) c.pop(saved_[i]);
    c.ret();
  }

  /// Describes how an exception of a handler unwinds the function.
  static void describe(std::optional<UnwindTable>& table, std::span<const std::uint8_t> code) {
    // saved_, by DWARF number
    constexpr std::array<std::uint8_t, 6> saved = {3, 6, 12, 13, 14, 15};
    table.emplace(code, saved, padding + 8 * (saved.size() + 1));
  }

  /// Emits the blocks, for parts of a warp or for all lanes. Returns their offsets in the code.
  std::vector<std::size_t> blocks(bool masked) {
    masked_ = masked;
    heads_ = std::vector<Xbyak::Label>(kernel_.blocks.size());
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < kernel_.blocks.size(); ++i) {
      c.align(16);
      places.push_back(c.getSize());
      c.L(head(static_cast<int>(i)));
      if (!loop_from(static_cast<int>(i))) block(static_cast<int>(i));
    }
    return places;
  }

 private:
  static constexpr int padding = 8;  // aligns the stack to 16 bytes at calls

  using Path = Loops::Path;
  using Lines = std::vector<Emitter::Held>;

  void block(int index) {
    const BasicBlock& block = at(index);
    Xbyak::Label turn_ends;
    check_turn(turn_ends);
    if (masked_ && block.exchanges) {
      stop(index, Reason::exchange);
    } else {
      count(index);
      instructions(block);
      end(block, index);
    }
    c.L(turn_ends);
    stop(index, Reason::pause);
  }

  // A loop that consists only of translated instructions keeps its lines in registers as long as
  // its lanes stay together, for any number of blocks.

  static constexpr std::size_t max_lines = 20;  // leaves some registers for other lines

  /// Emits the loop that starts at this block. Returns false if no such loop exists.
  bool loop_from(int begin) {
    const Path path = loops_.path_from(begin);
    if (path.empty()) return false;
    const Plan plan = loops_.plan_of(path);
    Lines lines;
    for (const Line line : plan.read_first()) {
      lines.push_back({line, static_cast<int>(lines.size())});
    }
    if (lines.size() > max_lines) return false;
    while (find_dirty(path, plan, lines)) {
    }
    iterations(path, plan, lines);
    return true;
  }

  /// Lines that are dirty at the end of an iteration are dirty at the start of the next. Emits the
  /// loop with another emitter to find them and marks them in `lines`. Returns true if any are new.
  bool find_dirty(const Path& path, const Plan& plan, Lines& lines) const {
    Emitter emitter(c.vectors());
    ChainEmitter trial(kernel_, constants_, runs_, emitter);
    trial.masked_ = masked_;
    trial.heads_ = std::vector<Xbyak::Label>(kernel_.blocks.size());
    const auto left = trial.iterations(path, plan, lines);
    bool news = false;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (!left[i] || !left[i]->dirty || lines[i].dirty) continue;
      lines[i].lanes = left[i]->lanes;
      lines[i].dirty = news = true;
    }
    return news;
  }

  /// An exit of a loop.
  struct Exit {
    Xbyak::Label label;
    std::shared_ptr<const Emitter::Snapshot> state;
    int block;
    Reason reason;
  };

  Exit& exit_to(int block, Reason reason) {
    return exits_.emplace_back(Xbyak::Label(), c.snapshot(), block, reason);
  }

  /// Emits the loop. Returns the positions of `lines` at its end, before they are moved back.
  std::vector<std::optional<Emitter::Held>> iterations(const Path& path, const Plan& plan,
                                                       const Lines& lines) {
    Xbyak::Label turn_ends, again;
    exits_.clear();
    check_turn(turn_ends);
    c.mov(c.rdi, warp_);
    c.begin(plan, masked_);
    c.preload(lines);
    c.L(again);
    for (std::size_t i = 0; i < path.size(); ++i) {
      const int next = path[(i + 1) % path.size()];
      count(path[i]);
      loops_.for_each_instruction(path[i], [&](const Instr& instr) {
        native::emit(c, constants_, instr);
        c.next_instruction();
      });
      stay(path[i], next);
      check_turn(exit_to(next, Reason::pause).label);
    }
    std::vector<std::optional<Emitter::Held>> left;
    for (const Emitter::Held& held : lines) left.push_back(c.held(held.line));
    c.put_back(lines);
    c.jmp(again, Emitter::T_NEAR);
    for (Exit& exit : exits_) leave(exit);
    c.L(turn_ends);
    stop(path.front(), Reason::pause);
    return left;
  }

  /// Leaves the loop at the end of a block unless all lanes continue at `next`.
  void stay(int index, int next) {
    const BasicBlock& block = at(index);
    if (block.end == BasicBlock::End::branch) {
      c.mov(c.eax, c.dword[c.frame + block.guard]);
      if (block.guard_negated) c.not_(c.eax);
      if (masked_) c.and_(c.eax, c.mask);
      if (next != block.taken) {
        c.test(c.eax, c.eax);
      } else {
        masked_ ? c.cmp(c.eax, c.mask) : c.cmp(c.eax, -1);
      }
      c.jne(exit_to(index, Reason::decision).label, Emitter::T_NEAR);
    }
    if (!masked_ || !is_meeting_[at_index(next)]) return;
    c.cmp(c.dword[split_ + offsetof(Split, reconverge)], next);
    c.je(exit_to(next, Reason::arrival).label, Emitter::T_NEAR);
  }

  void leave(Exit& exit) {
    c.L(exit.label);
    c.write_back_for(*exit.state);
    if (exit.reason == Reason::decision) branch(at(exit.block));
    stop(exit.block, exit.reason);
  }

  /// Jumps to `ended` if the turn is over.
  void check_turn(const Xbyak::Label& ended) {
    c.mov(c.rax, c.ptr[spent_]);
    c.cmp(c.rax, end_);
    c.jae(ended, Emitter::T_NEAR);
  }

  void count(int index) {
    c.add(c.qword[spent_], at(index).instructions);
    const auto counts = executions_ + index * static_cast<int>(sizeof(Worker::Executions));
    c.inc(c.qword[counts + offsetof(Worker::Executions, times)]);
    if (!masked_) return;
    c.mov(c.rax, c.ptr[state_ + offsetof(State, idle_lanes)]);
    c.add(c.ptr[counts + offsetof(Worker::Executions, idle_lanes)], c.rax);
  }

  void instructions(const BasicBlock& block) {
    bool calls = false;
    for (std::uint32_t i = block.native_first; i < block.native_first + block.native_count; ++i) {
      c.mov(c.rdi, warp_);
      if (runs_[i] != nullptr) {
        native::emit(c, constants_, *runs_[i], masked_);
        continue;
      }
      const Instr& instr = kernel_.native_code[i];
      c.mov(c.rsi, reinterpret_cast<std::uint64_t>(&instr));
      c.mov(c.rax, reinterpret_cast<std::uint64_t>(masked_ ? instr.masked : instr.full));
      c.call(c.rax);
      calls = true;
    }
    if (calls) end_turn_of_poller();
  }

  void end_turn_of_poller() {
    c.mov(c.rcx, c.ptr[state_ + offsetof(State, polls)]);
    c.xor_(c.eax, c.eax);
    c.cmp(c.dword[c.rcx], Chain::max_polls);
    c.cmovge(end_, c.rax);
  }

  void end(const BasicBlock& block, int index) {
    if (block.suspends) {
      Xbyak::Label waits;
      c.cmp(c.byte[split_ + offsetof(Split, state)], static_cast<int>(Split::State::ready));
      c.jne(waits);
      go_to(block.next);
      c.L(waits);
      return stop(block.next, Reason::pause);
    }
    switch (block.end) {
      case BasicBlock::End::next: return go_to(block.next);
      case BasicBlock::End::jump:
        if (!block.meets) return go_to(block.taken);
        break;
      case BasicBlock::End::branch: branch(block); break;
      case BasicBlock::End::exit_if: {
        Xbyak::Label some;
        read_guard(block);
        c.test(c.eax, c.eax);
        c.jne(some);
        go_to(block.next);
        c.L(some);
        break;
      }
      case BasicBlock::End::indirect:
      case BasicBlock::End::exit: break;
    }
    stop(index, Reason::decision);
  }

  void branch(const BasicBlock& block) {
    Xbyak::Label not_all, some;
    read_guard(block);
    masked_ ? c.cmp(c.eax, c.dword[warp_ + offsetof(Warp, mask)]) : c.cmp(c.eax, -1);
    c.jne(not_all);
    go_to(block.taken);
    c.L(not_all);
    c.test(c.eax, c.eax);
    c.jne(some);
    go_to(block.next);
    c.L(some);
  }

  /// Loads the lanes whose guard is true to eax.
  void read_guard(const BasicBlock& block) {
    c.mov(c.rax, c.ptr[warp_ + offsetof(Warp, frame)]);
    c.mov(c.eax, c.dword[c.rax + block.guard]);
    if (block.guard_negated) c.not_(c.eax);
    if (masked_) c.and_(c.eax, c.dword[warp_ + offsetof(Warp, mask)]);
  }

  void go_to(int target) {
    if (target < 0) return c.ud2();  // past the end of the code: the last block exits
    if (!masked_ || !is_meeting_[at_index(target)]) {
      return c.jmp(head(target), Emitter::T_NEAR);
    }
    c.cmp(c.dword[split_ + offsetof(Split, reconverge)], target);
    c.jne(head(target), Emitter::T_NEAR);
    stop(target, Reason::arrival);
  }

  void stop(int block, Reason reason) {
    c.mov(c.rax, static_cast<std::uint32_t>(block) | static_cast<std::uint64_t>(reason) << 32);
    c.jmp(leave_, Emitter::T_NEAR);
  }

  static std::size_t at_index(int block) { return static_cast<std::size_t>(block); }
  const BasicBlock& at(int block) const { return kernel_.blocks[at_index(block)]; }
  Xbyak::Label& head(int block) { return heads_[at_index(block)]; }

  const Kernel& kernel_;
  const Constants& constants_;
  const std::span<const Run* const> runs_;
  const Loops loops_;
  Emitter& c;
  bool masked_ = false;
  std::vector<bool> is_meeting_;  // by block: splits may join their parent there
  std::vector<Xbyak::Label> heads_;
  std::deque<Exit> exits_;  // of the current loop
  Xbyak::Label leave_;
  // Callee-saved registers.
  const Xbyak::Reg64 warp_ = c.rbx, state_ = c.rbp, spent_ = c.r12, executions_ = c.r13,
                     split_ = c.r14, end_ = c.r15;
  const std::array<Xbyak::Reg64, 6> saved_ = {warp_, state_, spent_, executions_, split_, end_};
};

}  // namespace

std::shared_ptr<const Chain> chained(const Kernel& kernel, const Constants& constants,
                                     std::span<const Run* const> runs,
                                     std::shared_ptr<const Emitter> functions) {
  auto chain = std::make_shared<OwnedChain>(functions->vectors());
  chain->functions = std::move(functions);
  ChainEmitter emitter(kernel, constants, runs, chain->emitter);
  emitter.begin();
  const auto whole = emitter.blocks(false), part = emitter.blocks(true);
  chain->emitter.make_executable();
  const std::uint8_t* const code = chain->emitter.getCode();
  ChainEmitter::describe(chain->unwind_table, {code, chain->emitter.getSize()});
  chain->function = chain->emitter.getCode<Chain::Function>();
  for (const std::size_t place : whole) chain->whole_places.push_back(code + place);
  for (const std::size_t place : part) chain->part_places.push_back(code + place);
  chain->whole = chain->whole_places.data();
  chain->part = chain->part_places.data();
  return chain;
}

}  // namespace rung::vgpu::native
