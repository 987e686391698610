#include "vgpu/program/live_ranges.hpp"

#include <algorithm>

#include "vgpu/program/operands.hpp"
#include "vgpu/ptx/opcodes.hpp"

namespace rung::vgpu {
namespace {

std::size_t reads_at(std::size_t instruction) { return 2 * instruction; }
std::size_t writes_at(std::size_t instruction) { return 2 * instruction + 1; }

/// The ranges of all registers, built from the end of the text to its start: until done() is
/// called, the first segment of a range is the last in its vector.
class Ranges {
 public:
  explicit Ranges(std::size_t registers) : ranges_(registers) {}

  /// Adds a segment. No existing segment may start before `begin`, unless it also extends to `end`.
  void add(int reg, std::size_t begin, std::size_t end) {
    LiveRange& range = ranges_[static_cast<std::size_t>(reg)];
    if (!range.empty() && range.back().begin <= end) {
      range.back().begin = std::min(range.back().begin, begin);
    } else {
      range.push_back({begin, end});
    }
  }

  /// Ends the range at a write: the value is not live before it. `from`: start of the block.
  void write(int reg, std::size_t position, std::size_t from) {
    LiveRange& range = ranges_[static_cast<std::size_t>(reg)];
    const bool wanted = !range.empty() && range.back().begin <= from && position < range.back().end;
    if (wanted) {
      range.back().begin = position;
    } else {
      add(reg, position, position + 1);
    }
  }

  std::vector<LiveRange> done() {
    for (LiveRange& range : ranges_) std::reverse(range.begin(), range.end());
    return std::move(ranges_);
  }

 private:
  std::vector<LiveRange> ranges_;
};

/// Adjacent instructions of a block that may become one superinstruction, and those that move ahead of
/// it (lowering/superinstruction_builder.hpp): instructions that compute, or load from shared memory.
struct Stretch {
  std::size_t first, end;
  bool loads = false, multiplies = false;

  /// True if integers must have rows of their own in it, so that those computed may move ahead.
  bool keeps_integers() const { return loads && multiplies; }
};

std::vector<Stretch> stretches(const ptx::Function& function, const CfgBlock& block) {
  std::vector<Stretch> found;
  bool goes_on = false;
  for (std::size_t i = block.first; i < block.first + block.count; ++i) {
    const ptx::Instruction& instruction = function.body[i];
    const bool loads = instruction.opcode == ptx::Opcode::ld && instruction.has("shared");
    const bool fits = loads || works_in_place(instruction);
    if (fits && !goes_on) found.push_back({i, i});
    goes_on = fits;
    if (!fits) continue;
    Stretch& stretch = found.back();
    stretch.end = i + 1;
    stretch.loads = stretch.loads || loads;
    stretch.multiplies = stretch.multiplies || instruction.opcode == ptx::Opcode::fma;
  }
  return found;
}

bool is_integer(const ptx::Function& function, int reg) {
  const ptx::Type type = function.registers[static_cast<std::size_t>(reg)].type;
  return type != ptx::Type::f32 && type != ptx::Type::f64;
}

}  // namespace

std::vector<LiveRange> live_ranges(const ptx::Function& function, const Cfg& cfg,
                                   const Liveness& liveness) {
  Ranges ranges(function.registers.size());
  for (std::size_t b = cfg.blocks.size(); b-- > 0;) {
    const CfgBlock& block = cfg.blocks[b];
    const std::size_t begin = reads_at(block.first);
    const std::size_t end = reads_at(block.first + block.count);
    liveness.out[b].for_each([&](int reg) { ranges.add(reg, begin, end); });
    std::vector<Stretch> left = stretches(function, block);
    for (std::size_t i = block.first + block.count; i-- > block.first;) {
      const ptx::Instruction& instruction = function.body[i];
      while (!left.empty() && left.back().first > i) left.pop_back();
      const bool keeps = !left.empty() && i < left.back().end && left.back().keeps_integers();
      for_each_definition(instruction, [&](int reg) {
        if (instruction.guard >= 0) {
          ranges.add(reg, writes_at(i), writes_at(i) + 1);
        } else {
          ranges.write(reg, writes_at(i), begin);
        }
        if (keeps && is_integer(function, reg)) {
          ranges.add(reg, reads_at(left.back().first), writes_at(i) + 1);
        }
      });
      // Every step of a lowered instruction may read the guard again.
      if (instruction.guard >= 0) ranges.add(instruction.guard, begin, writes_at(i) + 1);
      const std::size_t read = works_in_place(instruction) ? writes_at(i) : writes_at(i) + 1;
      for_each_use(instruction, [&](int reg) {
        const bool to_end = keeps && is_integer(function, reg);
        ranges.add(reg, begin, to_end ? reads_at(left.back().end) : read);
      });
    }
  }
  return ranges.done();
}

}  // namespace rung::vgpu
