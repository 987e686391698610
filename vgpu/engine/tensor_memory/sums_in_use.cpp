#include "vgpu/engine/tensor_memory/sums_in_use.hpp"

#include <algorithm>

#include "vgpu/engine/tensor_memory/tensor_memory.hpp"

namespace rung::vgpu {
namespace {

constexpr int units_of_column = tensor_lanes / SumsInUse::rows_of_unit;

/// Calls f(first lane, column) for each unit of the cells.
template <class F>
void for_each_unit(const TensorRange& cells, const F& f) {
  constexpr int step = SumsInUse::rows_of_unit;
  for (int lane = cells.lane / step * step; lane < cells.lane + cells.lanes; lane += step) {
    for (int column = cells.column; column < cells.column + cells.columns; ++column) {
      f(lane, column);
    }
  }
}

int lane_of(const SumCells& sums, int row, int part) {
  const int lane = sums.halves ? row / 16 * 32 + row % 16 : row;
  return sums.d.lane + lane + part * (tensor_lanes / sums.parts);
}

}  // namespace

SumsInUse::Unit& SumsInUse::unit(int lane, int column) {
  if (units_.empty()) units_.resize(std::size_t{units_of_column} * tensor_columns);
  return units_[static_cast<std::size_t>(column) * units_of_column +
                static_cast<std::size_t>(lane / rows_of_unit)];
}

std::uint32_t SumsInUse::index_of(const HazardEntry& report) {
  const auto found = std::ranges::find_if(held_, [&](const HazardEntry& each) {
    return each.kind == report.kind && each.site == report.site &&
           each.other_site == report.other_site;
  });
  const auto index = static_cast<std::uint32_t>(found - held_.begin());
  if (found == held_.end()) held_.push_back(report);
  return index;
}

void SumsInUse::begin(const TensorRange& cells) {
  for_each_unit(cells, [&](int lane, int column) {
    Unit& it = unit(lane, column);
    ++it.generation;
    it.held.clear();
  });
}

void SumsInUse::use(Block& block, const TensorRange& cells) {
  for_each_unit(cells, [&](int lane, int column) {
    Unit& it = unit(lane, column);
    it.loaded = it.generation;
    for (const std::uint32_t index : it.held) add_held_report(block, held_[index]);
    it.held.clear();
  });
}

void SumsInUse::hold_row(Block& block, const SumCells& sums, int row,
                         const std::vector<std::uint32_t>* generations, const Reports& reports) {
  const int columns = sums.columns / sums.parts;
  for (int part = 0; part < sums.parts; ++part) {
    const int lane = lane_of(sums, row, part);
    const auto index = static_cast<std::size_t>(row / rows_of_unit * sums.parts + part);
    for (int column = sums.d.column; column < sums.d.column + columns; ++column) {
      Unit& it = unit(lane, column);
      const std::uint32_t generation =
          generations == nullptr ? it.generation : (*generations)[index];
      if (it.loaded >= generation) {
        for (const HazardEntry& report : reports) add_held_report(block, report);
        return;
      }
      if (it.generation != generation) continue;
      for (const HazardEntry& report : reports) {
        const std::uint32_t held = index_of(report);
        if (std::ranges::find(it.held, held) == it.held.end()) it.held.push_back(held);
      }
    }
  }
}

void SumsInUse::hold(Block& block, const SumCells& sums, int row, const Reports& reports) {
  hold_row(block, sums, row, nullptr, reports);
}

std::uint32_t SumsInUse::add(const MatrixOperand& a, const SumCells& sums) {
  RowRead read{a, sums, {}};
  for (int row = 0; row < sums.rows; row += rows_of_unit) {
    for (int part = 0; part < sums.parts; ++part) {
      read.generations.push_back(unit(lane_of(sums, row, part), sums.d.column).generation);
    }
  }
  reads_.push_back(std::move(read));
  return static_cast<std::uint32_t>(reads_.size());
}

void SumsInUse::hold(Block& block, std::uint32_t read, std::uint32_t address,
                     const Reports& reports) {
  const RowRead& it = reads_[read - 1];
  std::vector<bool> found(static_cast<std::size_t>(it.sums.rows / rows_of_unit), false);
  const int lines = it.a.transposed ? it.a.per_chunk() : 1;
  it.a.for_each_chunk([&](std::uint32_t at, std::uint32_t line, std::uint32_t) {
    if (at / operand_chunk != address / operand_chunk) return;
    for (int i = 0; i < lines; ++i) {
      const std::size_t row = (line + static_cast<std::size_t>(i)) / rows_of_unit;
      if (row < found.size()) found[row] = true;
    }
  });
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i]) {
      hold_row(block, it.sums, static_cast<int>(i) * rows_of_unit, &it.generations, reports);
    }
  }
}

}  // namespace rung::vgpu
