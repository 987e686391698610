#include "analysis/whole_launch.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "core/integers.hpp"

namespace rung::analysis {
namespace {

constexpr double sector_bytes = 32;

/// Extrapolates counts of one tile linearly in k, and multiplies them by the number of tiles.
struct Extrapolation {
  double step = 0;  // (k - k1) / (k2 - k1)
  double tiles = 1;

  std::uint64_t operator()(std::uint64_t at_k1, std::uint64_t at_k2) const {
    const double first = static_cast<double>(at_k1), second = static_cast<double>(at_k2);
    return static_cast<std::uint64_t>(
        std::llround(std::max(0.0, tiles * (first + step * (second - first)))));
  }

  SiteCount operator()(const SiteCount& at_k1, const SiteCount& at_k2) const {
    return {at_k2.ptx_line, (*this)(at_k1.executions, at_k2.executions),
            (*this)(at_k1.lanes, at_k2.lanes), (*this)(at_k1.units, at_k2.units)};
  }

  /// Of a structure that has nothing but counts.
  template <class Counts>
  Counts all(const Counts& at_k1, const Counts& at_k2) const {
    using Array = std::array<std::uint64_t, sizeof(Counts) / sizeof(std::uint64_t)>;
    static_assert(sizeof(Array) == sizeof(Counts));
    const auto first = std::bit_cast<Array>(at_k1), second = std::bit_cast<Array>(at_k2);
    Array whole;
    for (std::size_t i = 0; i < whole.size(); ++i) whole[i] = (*this)(first[i], second[i]);
    return std::bit_cast<Counts>(whole);
  }
};

/// The count of the same instruction in the shorter sample; nothing if it did not run there.
SiteCount found_in(const std::vector<SiteCount>& sites, std::size_t index, const SiteCount& wanted,
                   std::size_t longer) {
  if (sites.size() == longer) return sites[index];
  const auto found = std::ranges::find(sites, wanted.ptx_line, &SiteCount::ptx_line);
  return found == sites.end() ? SiteCount{wanted.ptx_line, 0, 0, 0} : *found;
}

vgpu::Dim3 grid_of(const cuda::Launch& launch) {
  const auto narrow = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
  return {narrow(launch.grid.x), narrow(launch.grid.y), narrow(launch.grid.z)};
}

double number(std::int64_t value) { return static_cast<double>(value); }

BlockOrder order_of(const GemmSetting& setting, double resident) {
  const cuda::Tiling tile = setting.tiling();
  const double in = number(static_cast<std::int64_t>(input_bytes(setting.dtype)));
  const double k = number(setting.size.k);
  return {number(ceil_div(setting.size.m, tile.BM)), number(ceil_div(setting.size.n, tile.BN)),
          resident, in * tile.BM * k, in * tile.BN * k};
}

}  // namespace

double loaded_from_dram(const BlockOrder& order, double l2_bytes) {
  const double a = order.rows * order.row_bytes, b = order.columns * order.column_bytes;
  if (a + b <= l2_bytes) return a + b;
  const double tiles = order.rows * order.columns;
  const double resident = std::clamp(order.resident, 1.0, tiles);
  const double waves = tiles / resident;
  const double wave_rows = std::min(order.rows, std::max(1.0, resident / order.columns));
  const double wave_columns = std::min(order.columns, resident);
  // An operand that fits by itself stays while the other one passes.
  const double of_a = a <= l2_bytes / 2 ? a : std::max(a, waves * wave_rows * order.row_bytes);
  const double of_b =
      b <= l2_bytes / 2 ? b : std::max(b, waves * wave_columns * order.column_bytes);
  return of_a + of_b;
}

WholeLaunch whole_launch(const GemmSetting& setting, const Samples& samples, int blocks_of_sm) {
  const KernelTrace &one = samples.trace1, &two = samples.trace2;
  const GemmSetting::Extent extent = setting.sample();
  Extrapolation to;
  to.tiles =
      number(ceil_div(setting.size.m, extent.rows) * ceil_div(setting.size.n, extent.columns));
  if (samples.k1 != samples.k2) {
    to.step = (number(setting.size.k) - samples.k1) / (samples.k2 - samples.k1);
  }
  WholeLaunch whole{two, 0};
  KernelTrace& trace = whole.trace;
  trace.grid = grid_of(setting.launch());
  trace.counters = to.all(one.counters, two.counters);
  for (std::size_t i = 0; i < trace.sites.size(); ++i) {
    trace.sites[i] = to(found_in(one.sites, i, two.sites[i], two.sites.size()), two.sites[i]);
  }
  for (std::size_t i = 0; i < trace.accesses.size(); ++i) {
    const SiteCount& longer = two.accesses[i].count;
    const bool same = one.accesses.size() == two.accesses.size();
    const SiteCount shorter = same ? one.accesses[i].count : longer;
    trace.accesses[i].count = to(shorter, longer);
  }
  trace.multiply_adds = static_cast<double>(to(static_cast<std::uint64_t>(one.multiply_adds),
                                               static_cast<std::uint64_t>(two.multiply_adds)));
  vgpu::Footprint& f = trace.footprint;
  f = to.all(one.footprint, two.footprint);
  // Of one block, or one warp, in a problem in which all are alike.
  f.most_of_block = f.most_of_warp = 0;
  const double stored =
      sector_bytes * static_cast<double>(f.stored_sectors + trace.counters.bulk_store_sectors);
  const double loaded = loaded_from_dram(
      order_of(setting, number(std::max(1, blocks_of_sm)) * setting.device.multiprocessors),
      number(setting.device.l2_bytes));
  f.loaded_sectors = static_cast<std::uint64_t>(loaded / sector_bytes);
  whole.dram_bytes = loaded + stored;
  return whole;
}

}  // namespace rung::analysis
