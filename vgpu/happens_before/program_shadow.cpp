#include "vgpu/happens_before/program_shadow.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

namespace rung::vgpu {
namespace {

constexpr std::uint64_t row_bytes = TouchedRow::bytes;

constexpr bool writes(Touch touch) {
  return touch == Touch::write || touch == Touch::synchronized_write;
}
constexpr bool is_synchronized(Touch touch) {
  return touch == Touch::synchronized_read || touch == Touch::synchronized_write;
}
constexpr bool conflict(Touch a, Touch b) {
  return (writes(a) || writes(b)) && !(is_synchronized(a) && is_synchronized(b));
}

constexpr std::array all_touches = {Touch::read, Touch::write, Touch::synchronized_read,
                                    Touch::synchronized_write};

constexpr std::size_t index_of(Touch touch) { return static_cast<std::size_t>(touch); }

std::uint64_t first_bits(std::uint64_t count) {
  return count >= row_bytes ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

/// A mask of the bytes of a row that are in the allocation.
std::uint64_t valid_bits(std::size_t bytes, std::size_t row) {
  return first_bits(bytes - row * row_bytes);
}

}  // namespace

void ProgramShadow::begin(const ProgramAccess& own, const ProgramClock& clock,
                          const ProgramClock& settled, Report report) {
  own_ = own;
  clock_ = clock;
  settled_ = settled;
  report_ = std::move(report);
  if (states_.size() > most_states_) collect();
  known_.clear();
  last_key_ = ~std::uint64_t{0};
}

ProgramShadow::Memory& ProgramShadow::memory_of(const ProgramMemory& memory) {
  Memory& found = memories_[memory.address];
  if (found.bytes != memory.bytes) {
    found = {};
    found.bytes = memory.bytes;
  }
  return found;
}

void ProgramShadow::touch(const ProgramMemory& memory, std::uint64_t offset, std::uint64_t bytes,
                          Touch touch) {
  Memory& states = memory_of(memory);
  if (bytes == memory.bytes && states.rows.empty()) {
    states.base = next(states.base, touch, memory.address);
    return;
  }
  const std::uint64_t end = offset + bytes;
  while (offset < end) {
    const std::uint64_t begin = offset % row_bytes,
                        count = std::min(end - offset, row_bytes - begin);
    touch_row(states, memory.address, offset / row_bytes, first_bits(count) << begin, touch);
    offset += count;
  }
}

void ProgramShadow::touch(const TouchedBytes& touched) {
  const ProgramMemory memory{touched.allocation().address, touched.allocation().bytes};
  Memory& states = memory_of(memory);
  touched.for_each_row([&](std::size_t index, const TouchedRow& row) {
    auto masks = row.masks;
    // A write conflicts with everything that the other kinds of access conflict with.
    for (const Touch touch : all_touches) {
      if (touch != Touch::write) masks[index_of(touch)] &= ~masks[index_of(Touch::write)];
    }
    masks[index_of(Touch::synchronized_read)] &= ~masks[index_of(Touch::synchronized_write)];
    for (const Touch touch : all_touches) {
      const std::uint64_t mask = masks[index_of(touch)];
      if (mask != 0) touch_row(states, memory.address, index, mask, touch);
    }
  });
}

ProgramClock ProgramShadow::seen_by(const TouchedBytes& touched) const {
  ProgramClock seen;
  const auto found = memories_.find(touched.allocation().address);
  if (found == memories_.end() || found->second.bytes != touched.allocation().bytes) return seen;
  touched.for_each_row([&](std::size_t index, const TouchedRow& row) {
    std::uint64_t left = row.masks[index_of(Touch::synchronized_read)];
    for (; left != 0; left &= left - 1) {
      const auto byte = static_cast<std::uint64_t>(std::countr_zero(left));
      const State& state = states_[state_of(found->second, index * row_bytes + byte)];
      for (const ProgramAccess& write : state[index_of(Touch::synchronized_write)]) {
        if (write.releases) seen.add(write.point);
      }
    }
  });
  return seen;
}

void ProgramShadow::touch_row(Memory& memory, std::uint64_t address, std::size_t index,
                              std::uint64_t mask, Touch touch) {
  const bool is_mixed = !memory.rows.empty() && (memory.rows[index] & mixed) != 0;
  if (is_mixed) return touch_bytes(memory, address, index, mask, touch);
  const StateIndex before = memory.rows.empty() ? memory.base : memory.rows[index];
  const auto first = static_cast<std::uint64_t>(std::countr_zero(mask));
  const StateIndex then = next(before, touch, address + index * row_bytes + first);
  if (then == before) return;
  if (memory.rows.empty()) {
    memory.rows.assign((memory.bytes - 1) / row_bytes + 1, memory.base);
  }
  if (mask == valid_bits(memory.bytes, index)) {
    memory.rows[index] = then;
    return;
  }
  if (memory.free_details.empty()) {
    memory.free_details.push_back(static_cast<std::uint32_t>(memory.details.size()));
    memory.details.emplace_back();
  }
  const std::uint32_t detail = memory.free_details.back();
  memory.free_details.pop_back();
  memory.details[detail].fill(before);
  memory.rows[index] = mixed | detail;
  touch_bytes(memory, address, index, mask, touch);
}

void ProgramShadow::touch_bytes(Memory& memory, std::uint64_t address, std::size_t index,
                                std::uint64_t mask, Touch touch) {
  const std::uint32_t number = memory.rows[index] & ~mixed;
  Detail& detail = memory.details[number];
  for (std::uint64_t left = mask; left != 0; left &= left - 1) {
    const auto byte = static_cast<std::size_t>(std::countr_zero(left));
    detail[byte] = next(detail[byte], touch, address + index * row_bytes + byte);
  }
  const auto valid = static_cast<std::size_t>(std::popcount(valid_bits(memory.bytes, index)));
  const auto end = detail.begin() + static_cast<std::ptrdiff_t>(valid);
  if (std::adjacent_find(detail.begin(), end, std::not_equal_to()) != end) return;
  memory.rows[index] = detail[0];
  memory.free_details.push_back(number);
}

ProgramShadow::StateIndex ProgramShadow::next(StateIndex state, Touch touch,
                                              std::uint64_t address) {
  const std::uint64_t key = std::uint64_t{state} << 2 | index_of(touch);
  if (key == last_key_) return last_;
  const auto [found, is_new] = known_.try_emplace(key);
  if (is_new) {
    for (const Touch other : all_touches) {
      if (!conflict(touch, other)) continue;
      for (const ProgramAccess& earlier : states_[state][index_of(other)]) {
        const bool is_own = earlier.point == own_.point;
        if (!is_own && !clock_.knows(earlier.point)) report_({earlier, other, touch, address});
      }
    }
    found->second = after(state, touch);
  }
  last_key_ = key;
  return last_ = found->second;
}

ProgramShadow::StateIndex ProgramShadow::after(StateIndex before, Touch touch) {
  State state;
  if (touch != Touch::write) {
    const bool is_there = std::any_of(
        states_[before][index_of(touch)].begin(), states_[before][index_of(touch)].end(),
        [&](const ProgramAccess& access) { return access.point == own_.point; });
    if (is_there) return before;
    state = states_[before];
    for (auto& accesses : state) {
      std::erase_if(accesses,
                    [&](const ProgramAccess& access) { return settled_.knows(access.point); });
    }
    // An operation that is not ordered after the earlier access is not ordered after this one either.
    std::erase_if(state[index_of(touch)],
                  [&](const ProgramAccess& access) { return clock_.knows(access.point); });
  }
  state[index_of(touch)].push_back(own_);
  states_.push_back(std::move(state));
  return static_cast<StateIndex>(states_.size() - 1);
}

ProgramShadow::StateIndex ProgramShadow::state_of(const Memory& memory,
                                                  std::uint64_t offset) const {
  if (memory.rows.empty()) return memory.base;
  const StateIndex row = memory.rows[offset / row_bytes];
  return (row & mixed) == 0 ? row : memory.details[row & ~mixed][offset % row_bytes];
}

void ProgramShadow::check(const ProgramMemory& memory, std::uint64_t offset, Touch touch,
                          const ProgramClock& clock, const Report& report) const {
  const auto found = memories_.find(memory.address);
  if (found == memories_.end() || found->second.bytes != memory.bytes) return;
  const State& state = states_[state_of(found->second, offset)];
  for (const Touch other : all_touches) {
    if (!conflict(touch, other)) continue;
    for (const ProgramAccess& earlier : state[index_of(other)]) {
      if (!clock.knows(earlier.point)) report({earlier, other, touch, memory.address + offset});
    }
  }
}

ProgramShadow::Pending ProgramShadow::pending(StateIndex state, const ProgramClock& clock) const {
  Pending found = Pending::nothing;
  for (const Touch touch : all_touches) {
    for (const ProgramAccess& access : states_[state][index_of(touch)]) {
      if (clock.knows(access.point)) continue;
      found = std::max(found, writes(touch) ? Pending::writes : Pending::reads);
    }
  }
  return found;
}

ProgramShadow::Pending ProgramShadow::pending(const ProgramMemory& memory, std::uint64_t offset,
                                              std::uint64_t bytes, bool all,
                                              const ProgramClock& clock) const {
  const auto found = memories_.find(memory.address);
  if (found == memories_.end() || found->second.bytes != memory.bytes) return Pending::nothing;
  if (found->second.rows.empty()) return pending(found->second.base, clock);
  StateIndex last = ~StateIndex{0};
  Pending of_last = Pending::nothing, result = all ? Pending::writes : Pending::nothing;
  for (std::uint64_t at = offset; at < offset + bytes;) {
    const bool is_mixed = (found->second.rows[at / row_bytes] & mixed) != 0;
    const StateIndex state = state_of(found->second, at);
    if (state != last) of_last = pending(state, clock);
    last = state;
    result = all ? std::min(result, of_last) : std::max(result, of_last);
    at = is_mixed ? at + 1 : (at / row_bytes + 1) * row_bytes;
  }
  return result;
}

void ProgramShadow::forget_all() {
  memories_.clear();
  states_.resize(1);
}

void ProgramShadow::collect() {
  std::vector<StateIndex> moved(states_.size(), 0);
  std::vector<State> kept(1);
  const auto keep = [&](StateIndex& state) {
    if (state == 0) return;
    if (moved[state] == 0) {
      moved[state] = static_cast<StateIndex>(kept.size());
      kept.push_back(std::move(states_[state]));
    }
    state = moved[state];
  };
  for (auto& [address, memory] : memories_) {
    keep(memory.base);
    std::vector<bool> is_free(memory.details.size());
    for (const std::uint32_t detail : memory.free_details) is_free[detail] = true;
    for (StateIndex& row : memory.rows) {
      if ((row & mixed) == 0) keep(row);
    }
    for (std::size_t i = 0; i < memory.details.size(); ++i) {
      if (is_free[i]) continue;
      for (StateIndex& state : memory.details[i]) keep(state);
    }
  }
  states_ = std::move(kept);
  most_states_ = std::max(std::size_t{1} << 16, 2 * states_.size());
}

}  // namespace rung::vgpu
