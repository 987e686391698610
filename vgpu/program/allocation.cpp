#include "vgpu/program/allocation.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "vgpu/model/warp.hpp"
#include "vgpu/program/coalescing.hpp"
#include "vgpu/program/live_ranges.hpp"
#include "vgpu/program/operands.hpp"
#include "vgpu/program/rows.hpp"

namespace rung::vgpu {
namespace {

constexpr std::uint32_t row_alignment = 64;

/// A row, and the live ranges assigned to it.
class Row {
 public:
  bool is_free(const LiveRange& range) const {
    return std::none_of(range.begin(), range.end(), [&](const Segment& wanted) {
      const auto next = taken_.lower_bound(wanted.end);  // the first that starts later
      return next != taken_.begin() && std::prev(next)->second > wanted.begin;
    });
  }
  void take(const LiveRange& range) {
    for (const Segment& segment : range) taken_[segment.begin] = segment.end;
  }

 private:
  std::map<std::size_t, std::size_t> taken_;  // maps begin to end; disjoint
};

/// For each register, the registers that could share its row because one is an operand and the
/// other the result of an instruction, so that accumulators stay in place.
std::vector<std::vector<int>> partners_of(const ptx::Function& function) {
  std::vector<std::vector<int>> partners(function.registers.size());
  for (const ptx::Instruction& instruction : function.body) {
    if (!works_in_place(instruction)) continue;
    const int destination = instruction.operands[0].reg;
    for_each_use(instruction, [&](int source) {
      partners[static_cast<std::size_t>(destination)].push_back(source);
      partners[static_cast<std::size_t>(source)].push_back(destination);
    });
  }
  return partners;
}

/// The union of two live ranges.
LiveRange united(const LiveRange& a, const LiveRange& b) {
  LiveRange both;
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both),
             [](const Segment& x, const Segment& y) { return x.begin < y.begin; });
  LiveRange merged;
  for (const Segment& segment : both) {
    if (!merged.empty() && segment.begin <= merged.back().end) {
      merged.back().end = std::max(merged.back().end, segment.end);
    } else {
      merged.push_back(segment);
    }
  }
  return merged;
}

/// All rows of one width.
class Pool {
 public:
  /// Returns the first free row of `wanted`, otherwise the first free row, otherwise a new one.
  std::size_t take(const LiveRange& range, const std::vector<std::size_t>& wanted) {
    const auto is_free = [&](std::size_t row) { return rows_[row].is_free(range); };
    const auto found = std::find_if(wanted.begin(), wanted.end(), is_free);
    std::size_t row = 0;
    if (found != wanted.end()) {
      row = *found;
    } else {
      while (row < rows_.size() && !is_free(row)) ++row;
    }
    if (row == rows_.size()) rows_.emplace_back();
    rows_[row].take(range);
    return row;
  }
  std::size_t size() const { return rows_.size(); }

 private:
  std::vector<Row> rows_;
};

class Allocator {
 public:
  Allocator(const ptx::Function& function, std::vector<LiveRange> ranges)
      : function_(function),
        ranges_(std::move(ranges)),
        leader_(coalesce_copies(function, ranges_)),
        partners_(partners_of(function)),
        row_(function.registers.size(), none) {}

  RowAllocation run() {
    std::map<int, std::vector<int>> members;  // by leader
    std::map<int, LiveRange> ranges;
    for (int reg = 0; reg < static_cast<int>(ranges_.size()); ++reg) {
      if (ranges_[index(reg)].empty()) continue;
      const int leader = leader_[index(reg)];
      members[leader].push_back(reg);
      ranges[leader] = united(ranges[leader], ranges_[index(reg)]);
    }
    std::vector<std::pair<std::size_t, int>> order;  // by begin of the range
    for (const auto& [leader, range] : ranges) order.emplace_back(range.front().begin, leader);
    std::sort(order.begin(), order.end());
    for (const auto& [begin, leader] : order) {
      const auto wanted = rows_of_partners(members[leader]);
      const std::size_t row = pools_[width(leader)].take(ranges[leader], wanted);
      for (const int reg : members[leader]) row_[index(reg)] = row;
    }
    return laid_out();
  }

 private:
  static constexpr std::size_t none = ~std::size_t{0};
  static std::size_t index(int reg) { return static_cast<std::size_t>(reg); }

  /// Width in bytes per lane; 0 for a predicate.
  int width(int reg) const { return row_bytes(function_.registers[index(reg)].type); }

  std::vector<std::size_t> rows_of_partners(const std::vector<int>& registers) const {
    std::vector<std::size_t> rows;
    for (const int reg : registers) {
      for (const int partner : partners_[index(reg)]) {
        const bool has_row = row_[index(partner)] != none;
        if (has_row && width(partner) == width(reg)) rows.push_back(row_[index(partner)]);
      }
    }
    return rows;
  }

  /// Lays out the pools one after the other, predicates first.
  RowAllocation laid_out() const {
    std::map<int, std::uint32_t> begins;  // start of each pool
    RowAllocation allocation;
    allocation.frame_bytes = reserved_frame_bytes;
    for (const auto& [bytes, pool] : pools_) {
      begins[bytes] = allocation.frame_bytes;
      allocation.frame_bytes += static_cast<std::uint32_t>(pool.size()) * row_size(bytes);
      allocation.frame_bytes =
          (allocation.frame_bytes + row_alignment - 1) / row_alignment * row_alignment;
    }
    for (int reg = 0; reg < static_cast<int>(row_.size()); ++reg) {
      const std::size_t row = row_[index(reg)];
      const std::uint32_t offset =
          row == none ? 0
                      : begins[width(reg)] + static_cast<std::uint32_t>(row) * row_size(width(reg));
      allocation.offset.push_back(offset);
    }
    return allocation;
  }

  static std::uint32_t row_size(int width) {
    return width == 0 ? sizeof(Mask) : static_cast<std::uint32_t>(width * warp_size);
  }

  const ptx::Function& function_;
  std::vector<LiveRange> ranges_;  // by register
  std::vector<int> leader_;        // by register
  std::vector<std::vector<int>> partners_;
  std::vector<std::size_t> row_;  // by register: index in its pool
  std::map<int, Pool> pools_;     // by width
};

}  // namespace

RowAllocation allocate_rows(const ptx::Function& function, const Cfg& cfg,
                            const Liveness& liveness) {
  return Allocator(function, live_ranges(function, cfg, liveness)).run();
}

}  // namespace rung::vgpu
