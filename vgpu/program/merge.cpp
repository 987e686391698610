#include "vgpu/program/merge.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "vgpu/program/operands.hpp"
#include "vgpu/ptx/opcodes.hpp"

namespace rung::vgpu {
namespace {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;

constexpr int widest = 16;  // maximum bytes per lane of an access

bool is_shared(const Instruction& instruction) {
  return instruction.has("shared") || instruction.has("shared::cta");
}

/// True if the instruction accesses memory that is certainly not shared memory.
bool is_elsewhere(const Instruction& instruction) {
  for (const std::string_view space : {"global", "local", "param", "const"}) {
    if (instruction.has(space) && !is_shared(instruction)) return true;
  }
  return false;
}

bool is_shared_load(const Instruction& instruction) {
  return instruction.opcode == Opcode::ld && is_shared(instruction) &&
         instruction.operands.size() > 1;
}

bool is_shared_store(const Instruction& instruction) {
  return instruction.opcode == Opcode::st && is_shared(instruction) &&
         instruction.operands.size() > 1;
}

/// True if it is not guarded, volatile, atomic or ordered.
bool is_plain(const Instruction& instruction) {
  constexpr std::array<std::string_view, 5> ordered = {"volatile", "relaxed", "acquire", "release",
                                                       "mmio"};
  return instruction.guard < 0 &&
         std::none_of(
             ordered.begin(), ordered.end(), [&](auto word) { return instruction.has(word); });
}

/// True if no load of shared memory may be moved across it.
bool writes_shared(const Instruction& instruction) {
  if (instruction.has(ptx::Fact::orders_memory)) return true;
  if (instruction.opcode == Opcode::cp) return !instruction.has("commit_group");
  const bool writes = instruction.is_store() || instruction.is(Opcode::atom, Opcode::red);
  return writes && !is_elsewhere(instruction);
}

bool reads_shared(const Instruction& instruction) {
  return instruction.is_load() && !is_elsewhere(instruction);
}

/// True if an instruction uses 16-bit registers as integers, rather than as bits or floating-point
/// numbers.
bool computes_integers(const Instruction& instruction) {
  if (instruction.is(Opcode::mov, Opcode::st)) return false;
  const auto is_float = [](const std::string& word) {
    return ptx::is_float(ptx::type_named(word));
  };
  return std::none_of(instruction.modifiers.begin(), instruction.modifiers.end(), is_float);
}

/// The width of an instruction's access.
struct MergedAccess {
  int element = 4, count = 1;  // bytes per element, and number of elements
  int bytes() const { return element * count; }
};

MergedAccess merged_access(const Instruction& instruction) {
  MergedAccess access;
  for (const std::string& word : instruction.modifiers) {
    if (word == "v2") access.count = 2;
    if (word == "v4") access.count = 4;
    if (word == "v8") access.count = 8;
    const int bytes = ptx::size_of(ptx::type_named(word));
    if (bytes != 0) access.element = bytes;
  }
  return access;
}

/// A unit of merging: an element, or a word of smaller elements.
struct Unit {
  std::size_t instruction;
  std::int64_t position;    // modulo the known alignment of the address
  std::int64_t from_start;  // offset from the start of the instruction's access
  int bytes;
};

/// Units that may be merged: of the same size, with the same sum of registers as address.
struct Family {
  std::vector<RegisterValue> terms;
  int bytes = 0;
  int window = 0;  // largest aligned range in which they may join
  auto operator<=>(const Family&) const = default;
};

std::int64_t window_start(std::int64_t position, int window) {
  return position & -static_cast<std::int64_t>(window);
}

class BlockMerger {
 public:
  BlockMerger(const ptx::Function& function, const Addresses& addresses,
              const std::vector<bool>& is_read, const std::vector<bool>& used_as_integer,
              std::size_t first)
      : function_(function),
        addresses_(addresses),
        is_read_(is_read),
        used_as_integer_(used_as_integer),
        first_(first) {}

  std::vector<IssuedAccess> run(std::size_t count) {
    note_alignments(count);
    for (std::size_t i = first_; i < first_ + count; ++i) step(i);
    flush_loads();
    flush_stores();
    std::sort(issued_.begin(), issued_.end(), [](const IssuedAccess& a, const IssuedAccess& b) {
      return std::tie(a.leader, a.shift) < std::tie(b.leader, b.shift);
    });
    return std::move(issued_);
  }

 private:
  void note_alignments(std::size_t count);
  void step(std::size_t at);
  void add_load(std::size_t at);
  void add_store(std::size_t at);
  void issue_alone(std::size_t at);
  std::vector<std::pair<Family, Unit>> units_of(std::size_t at, bool load);
  bool wanted(const Instruction& instruction, int from, int count) const;
  void flush_loads();
  void flush_stores();
  void split(const std::vector<Unit>& units, std::int64_t start, int window, int unit, bool load);

  LinearAddress address(std::size_t at) const;

  const ptx::Function& function_;
  const Addresses& addresses_;
  const std::vector<bool>& is_read_;
  const std::vector<bool>& used_as_integer_;
  std::size_t first_;
  std::map<std::vector<RegisterValue>, LowBits> low_;  // known from accesses of the block, by sum
  std::map<Family, std::vector<Unit>> loads_;
  std::pair<Family, std::int64_t> store_window_;  // window of the current stores
  std::vector<Unit> stores_;
  std::vector<IssuedAccess> issued_;
};

/// The address of an access: the second operand of a load, the first of a store.
LinearAddress BlockMerger::address(std::size_t at) const {
  const Instruction& instruction = function_.body[at];
  const std::size_t index = instruction.opcode == Opcode::ld ? 1 : 0;
  return addresses_.of(instruction.operands.at(index), at, first_);
}

/// An access of 8 or 16 bytes implies that its address is aligned.
void BlockMerger::note_alignments(std::size_t count) {
  for (std::size_t i = first_; i < first_ + count; ++i) {
    const Instruction& instruction = function_.body[i];
    if (!is_shared_load(instruction) && !is_shared_store(instruction)) continue;
    const LinearAddress where = address(i);
    const int bytes = std::min(merged_access(instruction).bytes(), widest);
    const int told = std::countr_zero(static_cast<unsigned>(bytes));
    LowBits& low = low_[where.terms];
    if (where.low.count > low.count) low = where.low;
    if (told > low.count) {
      low = {told, static_cast<std::uint64_t>(-where.constant) & static_cast<unsigned>(bytes - 1)};
    }
  }
}

void BlockMerger::step(std::size_t at) {
  const Instruction& instruction = function_.body[at];
  const bool load = is_shared_load(instruction), store = is_shared_store(instruction);
  const bool writes = writes_shared(instruction);
  if (writes) flush_loads();
  if (store && is_plain(instruction)) return add_store(at);
  if (writes || reads_shared(instruction)) flush_stores();
  if (load && is_plain(instruction)) return add_load(at);
  if (load || store) issue_alone(at);
}

void BlockMerger::issue_alone(std::size_t at) {
  issued_.push_back({at, 0, std::min(merged_access(function_.body[at]).bytes(), widest), {at}});
}

/// True if one of registers [from, from + count) of a load is read.
bool BlockMerger::wanted(const Instruction& instruction, int from, int count) const {
  const Operand& destination = instruction.operands.at(0);
  const auto is_read = [&](const Operand& operand) {
    return operand.reg >= 0 && is_read_[static_cast<std::size_t>(operand.reg)];
  };
  if (destination.kind != Operand::Kind::vector) return is_read(destination);
  const auto end =
      std::min<std::size_t>(static_cast<std::size_t>(from + count), destination.elements.size());
  for (auto i = static_cast<std::size_t>(from); i < end; ++i) {
    if (is_read(destination.elements[i])) return true;
  }
  return false;
}

std::vector<std::pair<Family, Unit>> BlockMerger::units_of(std::size_t at, bool load) {
  const Instruction& instruction = function_.body[at];
  const MergedAccess access = merged_access(instruction);
  const LinearAddress where = address(at);
  const LowBits low = low_[where.terms];
  Family family{where.terms, access.element, widest};
  if (access.element < 4) family.bytes = std::min(access.bytes(), 4);
  if (family.bytes == 2) family.window = 8;
  const int destination = load ? instruction.operands.at(0).reg : -1;
  const bool integer = family.bytes == 2 && destination >= 0 &&
                       used_as_integer_[static_cast<std::size_t>(destination)];
  if (access.element == 1 && family.bytes < 4) family.window = family.bytes;
  if (family.bytes == widest || integer) family.window = family.bytes;
  family.window = std::min(family.window, 1 << std::min(low.count, 4));
  family.window = std::max(family.window, family.bytes);

  std::vector<std::pair<Family, Unit>> units;
  const std::int64_t position = where.constant + static_cast<std::int64_t>(low.value);
  for (int from = 0; from < access.bytes(); from += family.bytes) {
    const int elements = family.bytes / access.element;
    if (load && !wanted(instruction, from / access.element, elements)) continue;
    units.push_back({family, {at, position + from, from, family.bytes}});
  }
  return units;
}

void BlockMerger::add_load(std::size_t at) {
  for (auto& [family, unit] : units_of(at, true)) loads_[family].push_back(unit);
}

void BlockMerger::add_store(std::size_t at) {
  for (auto& [family, unit] : units_of(at, false)) {
    const std::pair window(family, window_start(unit.position, family.window));
    if (window != store_window_) flush_stores();
    store_window_ = window;
    stores_.push_back(unit);
  }
}

void BlockMerger::flush_loads() {
  for (const auto& [family, units] : loads_) {
    std::map<std::int64_t, std::vector<Unit>> windows;
    for (const Unit& unit : units) {
      windows[window_start(unit.position, family.window)].push_back(unit);
    }
    for (const auto& [start, inside] : windows) {
      split(inside, start, family.window, family.bytes, true);
    }
  }
  loads_.clear();
}

void BlockMerger::flush_stores() {
  const auto& [family, start] = store_window_;
  const auto width = [&](const Unit& unit) {
    return merged_access(function_.body[unit.instruction]).bytes();
  };
  std::vector<Unit> joined;
  for (const Unit& unit : stores_) {
    if (width(unit) < width(stores_.front())) {
      issue_alone(unit.instruction);
    } else {
      joined.push_back(unit);
    }
  }
  split(joined, start, family.window, family.bytes, false);
  stores_.clear();
}

/// Issues one access for an aligned range if that is worthwhile, otherwise the accesses of its
/// halves.
void BlockMerger::split(const std::vector<Unit>& units, std::int64_t start, int window, int unit,
                        bool load) {
  if (units.empty()) return;
  std::set<std::int64_t> places;
  for (const Unit& each : units) places.insert(each.position);
  const int there = static_cast<int>(places.size()), room = window / unit;
  if (load ? 2 * there > room : there == room) {
    const auto leader = std::min_element(
        units.begin(), units.end(), [](auto& a, auto& b) { return a.instruction < b.instruction; });
    IssuedAccess access{
        leader->instruction, start - (leader->position - leader->from_start), window, {}};
    for (const Unit& each : units) access.members.push_back(each.instruction);
    std::sort(access.members.begin(), access.members.end());
    access.members.erase(std::unique(access.members.begin(), access.members.end()),
                         access.members.end());
    issued_.push_back(std::move(access));
    return;
  }
  const int half = window / 2;
  std::vector<Unit> low, high;
  std::partition_copy(units.begin(), units.end(), std::back_inserter(low), std::back_inserter(high),
                      [&](const Unit& each) { return each.position < start + half; });
  split(low, start, half, unit, load);
  split(high, start + half, half, unit, load);
}

}  // namespace

MergeModel::MergeModel(const ptx::Function& function, SharedOffset shared_offset)
    : function_(function),
      addresses_(function, std::move(shared_offset)),
      is_read_(function.registers.size()),
      used_as_integer_(function.registers.size()) {
  for (const Instruction& instruction : function.body) {
    const bool integers = computes_integers(instruction);
    for_each_use(instruction, [&](int reg) {
      const auto index = static_cast<std::size_t>(reg);
      is_read_[index] = true;
      if (integers) used_as_integer_[index] = true;
    });
  }
}

std::vector<IssuedAccess> MergeModel::issued(std::size_t first, std::size_t count) const {
  return BlockMerger(function_, addresses_, is_read_, used_as_integer_, first).run(count);
}

}  // namespace rung::vgpu
