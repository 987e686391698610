#include "vgpu/native/emitter.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "vgpu/model/warp.hpp"
#include "vgpu/native/numbers.hpp"

namespace rung::vgpu::native {
namespace {

constexpr std::size_t max_operands = 32;  // lines per instruction
constexpr std::uint8_t unordered = 3;     // predicate of VCMPPS
const Xbyak::Zmm canonical_nan(31);

}  // namespace

std::size_t Plan::next_event(Line line, std::size_t from) const {
  const auto found = events_.find(line);
  if (found == events_.end()) return never;
  const auto& events = found->second;
  const auto next = std::lower_bound(events.begin(), events.end(), from);
  return next == events.end() ? never : *next;
}

std::size_t Plan::next_read(Line line, std::size_t from) const {
  const std::size_t next = next_event(line, from);
  return next == never || next % 2 == 1 ? never : next;
}

bool Plan::is_overwritten(Line line, std::size_t from) const {
  const std::size_t next = next_event(line, from);
  if (next == never || next % 2 == 0) return false;
  const auto exit = std::lower_bound(exits_.begin(), exits_.end(), from);
  return exit == exits_.end() || *exit > next;
}

std::vector<Line> Plan::read_first() const {
  std::vector<Line> lines;
  for (const auto& [line, events] : events_) {
    if (events.front() % 2 == 0) lines.push_back(line);
  }
  std::sort(lines.begin(), lines.end(), [&](Line a, Line b) {
    return std::pair(events_.at(a).front(), a) < std::pair(events_.at(b).front(), b);
  });
  return lines;
}

void Emitter::start(const Plan& plan, bool masked) {
  plan_ = &plan;
  pass_ = plan.pass();
  masked_ = masked;
  now_ = 0;
  last_use_ = Instr::used_later;
  registers_ = {};
  lines_.clear();
  addresses_.reserve(max_operands);
  operands_.reserve(max_operands);
  if (is_first_pass()) begin_bare();
}

void Emitter::begin_bare() {
  if (!has_avx512()) return load_numbers();
  mov(eax, 0x7FFFFFFF);
  vpbroadcastd(canonical_nan, eax);
}

// On AVX-512, the active lanes are in opmasks: 1 and 2 for the halves of 32-bit rows, 3 to 6 for
// the quarters of 64-bit rows.
void Emitter::begin(const Plan& plan, bool masked) {
  start(plan, masked);
  if (is_first_pass()) mov(frame, ptr[rdi + offsetof(Warp, frame)]);
  if (!masked_) return;
  read_lanes(mask, rdi + offsetof(Warp, mask));
  if (!has_avx512()) return;
  kmovd(k1, mask);
  kshiftrd(k2, k1, 16);
  for (int quarter = 0; quarter < 4; ++quarter) {
    kshiftrd(Xbyak::Opmask(3 + quarter), k1, static_cast<std::uint8_t>(8 * quarter));
  }
}

void Emitter::begin_steps(const Plan& plan) {
  start(plan, false);
  if (is_first_pass()) mov(frame, rdi);
}

void Emitter::write_back() {
  write_back_if([&](Line line, const State& state) { return must_store(line, state); });
}

void Emitter::read_lanes(const Xbyak::Reg32& bits, const Xbyak::RegExp& lanes) {
  if (has_avx512()) {
    mov(bits, dword[lanes]);
  } else {
    movzx(bits, byte[lanes + first_byte()]);
  }
}

template <class F>
void Emitter::write_back_if(const F& wanted) {
  std::vector<Line> dirty;
  for (const auto& [line, state] : lines_) {
    if (state.dirty && wanted(line, state)) dirty.push_back(line);
  }
  std::sort(dirty.begin(), dirty.end());
  for (const Line line : dirty) store(line, lines_.at(line));
}

void Emitter::preload(const std::vector<Held>& lines) {
  for (const Held& held : lines) {
    vmovups(vector(held.index), memory(held.line));
    registers_[static_cast<std::size_t>(held.index)] = {{held.line}, 0, false};
    lines_[held.line] = {held.index, held.lanes, held.dirty};
  }
}

std::optional<Emitter::Held> Emitter::held(Line line) const {
  const auto found = lines_.find(line);
  if (found == lines_.end()) return std::nullopt;
  const State& state = found->second;
  return Held{line, state.index, state.lanes, state.dirty};
}

void Emitter::put_back(const std::vector<Held>& lines) {
  const auto stays = [&](Line line) {
    return std::any_of(lines.begin(), lines.end(),
                       [&](const Held& held) { return held.line == line; });
  };
  write_back_if([&](Line line, const State& state) {
    return !stays(line) && plan_->is_needed_after(state.last_use) &&
           !plan_->is_overwritten(line, Plan::reads_of(0));
  });
  std::vector<std::pair<int, int>> moves;
  std::vector<Held> loads;
  for (const Held& wanted : lines) {
    const auto now = held(wanted.line);
    if (!now) {
      loads.push_back(wanted);
      continue;
    }
    make_canonical(now->index);
    if (now->index != wanted.index) moves.emplace_back(wanted.index, now->index);
  }
  move_in_parallel(std::move(moves));
  for (const Held& load : loads) vmovups(vector(load.index), memory(load.line));
}

/// Copies registers, given as pairs of destination and source. All sources are read before any
/// destination is written.
void Emitter::move_in_parallel(std::vector<std::pair<int, int>> moves) {
  while (!moves.empty()) {
    const auto free = std::find_if(moves.begin(), moves.end(), [&](const auto& move) {
      return std::none_of(moves.begin(), moves.end(),
                          [&](const auto& other) { return other.second == move.first; });
    });
    if (free != moves.end()) {
      vmovaps(vector(free->first), vector(free->second));
      moves.erase(free);
      continue;
    }
    const int blocked = moves.front().first;  // a cycle: move its value to a temporary
    vmovaps(temporary(0), vector(blocked));
    for (auto& move : moves) {
      if (move.second == blocked) move.second = temporary(0).getIdx();
    }
  }
}

std::shared_ptr<const Emitter::Snapshot> Emitter::snapshot() const {
  return std::make_shared<const Snapshot>(Snapshot{registers_, lines_, now_});
}

void Emitter::write_back_for(const Snapshot& snapshot) {
  registers_ = snapshot.held;
  lines_ = snapshot.lines;
  now_ = snapshot.now;
  write_back_if([&](Line, const State& state) { return plan_->is_needed_after(state.last_use); });
  vzeroupper();
}

void Emitter::next_instruction() {
  ++now_;
  addresses_.clear();
  operands_.clear();
}

Xbyak::Address Emitter::memory(Line line) const {
  return vector_at(frame + line * static_cast<std::uint32_t>(vectors().bytes));
}

void Emitter::read_predicate(const Xbyak::Reg32& bits, std::uint32_t row) {
  read_lanes(bits, frame + row);
}

void Emitter::write_predicate(std::uint32_t row, const Xbyak::Reg32& bits) {
  if (masked_) {
    read_predicate(edx, row);
    xor_(bits, edx);
    and_(bits, mask);
    xor_(bits, edx);
  }
  if (has_avx512()) {
    mov(dword[frame + row], bits);
  } else {
    mov(byte[frame + row + first_byte()], bits.cvt8());
  }
}

Vector Emitter::read(Line line, Nan nan) {
  const auto found = lines_.find(line);
  if (found != lines_.end()) {
    const int index = found->second.index;
    if (nan == Nan::canonical) make_canonical(index);
    pin(index);
    return vector(index);
  }
  const int index = allocate();
  vmovups(vector(index), memory(line));
  registers_[static_cast<std::size_t>(index)].lines.push_back(line);
  lines_[line] = {index, {}, false};
  return vector(index);
}

const Xbyak::Operand& Emitter::read_any(Line line, Nan nan) {
  if (!lines_.contains(line) && plan_->next_read(line, Plan::reads_of(now_ + 1)) == Plan::never) {
    return addresses_.emplace_back(memory(line));
  }
  return operands_.emplace_back(read(line, nan));
}

Vector Emitter::take(Line line, Nan nan) {
  const Vector value = read(line, nan);
  const int index = value.getIdx();
  const std::size_t later = Plan::writes_of(now_);
  const State& state = lines_.at(line);
  const bool dead = plan_->is_overwritten(line, later) ||
                    (plan_->next_read(line, later) == Plan::never &&
                     !(state.dirty && plan_->is_needed_after(state.last_use)));
  if (dead && registers_[static_cast<std::size_t>(index)].lines.size() == 1) {
    unbind(line);
    return value;
  }
  const Vector copy = fresh();
  vmovaps(copy, value);
  return copy;
}

Vector Emitter::fresh() { return vector(allocate()); }

void Emitter::write(Line line, const Vector& value, Lanes lanes, Nan nan) {
  unbind(line);
  const int index = value.getIdx();
  Register& held = registers_[static_cast<std::size_t>(index)];
  held.lines.push_back(line);
  held.may_be_nan = nan == Nan::any;
  lines_[line] = {index, lanes, true, last_use_};
}

void Emitter::copy(Line to, Line from, Lanes lanes) {
  const Vector value = read(from, Nan::any);
  const auto& held = registers_[static_cast<std::size_t>(value.getIdx())];
  write(to, value, lanes, held.may_be_nan ? Nan::any : Nan::canonical);
}

void Emitter::unbind(Line line) {
  const auto found = lines_.find(line);
  if (found == lines_.end()) return;
  Register& held = registers_[static_cast<std::size_t>(found->second.index)];
  std::erase(held.lines, line);
  if (held.lines.empty()) held.may_be_nan = false;
  lines_.erase(found);
}

/// Returns a register without lines or, among those not used by this instruction, the one whose
/// lines are read last.
int Emitter::allocate() {
  int best = -1;
  std::size_t best_read = 0;
  for (int i = 0; i < vectors().registers; ++i) {
    const Register& candidate = registers_[static_cast<std::size_t>(i)];
    if (candidate.pinned > now_) continue;
    std::size_t next = Plan::never;
    for (const Line line : candidate.lines) {
      next = std::min(next, plan_->next_read(line, Plan::reads_of(now_)));
    }
    if (candidate.lines.empty()) {
      best = i;
      break;
    }
    if (best < 0 || next > best_read) {
      best = i;
      best_read = next;
    }
  }
  release(best);
  pin(best);
  return best;
}

void Emitter::release(int index) {
  Register& held = registers_[static_cast<std::size_t>(index)];
  for (const Line line : held.lines) {
    const State& state = lines_.at(line);
    if (must_store(line, state)) store(line, state);
    lines_.erase(line);
  }
  held = {};
}

/// True if the line is dirty and will be read from the frame.
bool Emitter::must_store(Line line, const State& state) const {
  if (!state.dirty) return false;
  const std::size_t now = Plan::reads_of(now_);
  return plan_->next_read(line, now) != Plan::never ||
         (plan_->is_needed_after(state.last_use) && !plan_->is_overwritten(line, now));
}

void Emitter::store(Line line, const State& state) {
  make_canonical(state.index);
  const Vector value = vector(state.index);
  if (!masked_) {
    vmovups(memory(line), value);
  } else if (!has_avx512()) {
    set_mask(rdi + (offsetof(Warp, mask) + first_byte()), state.lanes.bytes, state.lanes.part);
    vmovups(temporary(1), memory(line));
    blend(temporary(1), temporary(1), value, state.lanes.bytes);
    vmovups(memory(line), temporary(1));
  } else if (state.lanes.bytes == 4) {
    vmovups(memory(line) | Xbyak::Opmask(1 + state.lanes.part), value);
  } else {
    vmovupd(memory(line) | Xbyak::Opmask(3 + state.lanes.part), value);
  }
}

void Emitter::make_canonical(int index) {
  Register& held = registers_[static_cast<std::size_t>(index)];
  if (!held.may_be_nan) return;
  held.may_be_nan = false;
  canonicalise(vector(index));
}

void Emitter::canonicalise(const Vector& value) {
  compare_floats(value, value, unordered);
  if (has_avx512()) {
    replace(value, canonical_nan);
  } else {
    vblendvps(value, value, number(offsetof(Numbers, nan)), temporary(0));
  }
}

}  // namespace rung::vgpu::native
