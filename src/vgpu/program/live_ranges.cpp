#include "vgpu/program/live_ranges.hpp"

#include <algorithm>

#include "vgpu/program/operands.hpp"

namespace rung::vgpu {
namespace {

std::size_t reads_at(std::size_t instruction) { return 2 * instruction; }
std::size_t writes_at(std::size_t instruction) { return 2 * instruction + 1; }

/// The ranges of all registers, built from the end of the text to its beginning: until done(), the
/// first segment of a range is the last in its vector.
class Ranges {
 public:
  explicit Ranges(std::size_t registers) : ranges_(registers) {}

  /// No existing segment may begin before `begin`, unless it also extends to `end`.
  void add(int reg, std::size_t begin, std::size_t end) {
    LiveRange& range = ranges_[static_cast<std::size_t>(reg)];
    if (!range.empty() && range.back().begin <= end) {
      range.back().begin = std::min(range.back().begin, begin);
    } else {
      range.push_back({begin, end});
    }
  }

  /// The register is written here, so this value is not live before. `from` is where the block
  /// begins.
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

}  // namespace

std::vector<LiveRange> live_ranges(const ptx::Function& function, const Cfg& cfg,
                                   const Liveness& liveness) {
  Ranges ranges(function.registers.size());
  for (std::size_t b = cfg.blocks.size(); b-- > 0;) {
    const CfgBlock& block = cfg.blocks[b];
    const std::size_t begin = reads_at(block.first);
    const std::size_t end = reads_at(block.first + block.count);
    liveness.out[b].for_each([&](int reg) { ranges.add(reg, begin, end); });
    for (std::size_t i = block.first + block.count; i-- > block.first;) {
      const ptx::Instruction& instruction = function.body[i];
      for_each_definition(instruction, [&](int reg) {
        if (instruction.guard >= 0) {
          ranges.add(reg, writes_at(i), writes_at(i) + 1);
        } else {
          ranges.write(reg, writes_at(i), begin);
        }
      });
      // Every step of a lowered instruction may read the guard again.
      if (instruction.guard >= 0) ranges.add(instruction.guard, begin, writes_at(i) + 1);
      const std::size_t read = works_in_place(instruction) ? writes_at(i) : writes_at(i) + 1;
      for_each_use(instruction, [&](int reg) { ranges.add(reg, begin, read); });
    }
  }
  return ranges.done();
}

}  // namespace rung::vgpu
