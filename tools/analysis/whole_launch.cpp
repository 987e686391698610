#include "tools/analysis/whole_launch.hpp"

#include <algorithm>

#include "core/dtype.hpp"
#include "core/integers.hpp"
#include "tools/analysis/extrapolation.hpp"

namespace rung::analysis {
namespace {

constexpr double sector_bytes = 32;

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
  // An operand that fits on its own stays in L2 while the other is streamed.
  const double of_a = a <= l2_bytes / 2 ? a : std::max(a, waves * wave_rows * order.row_bytes);
  const double of_b =
      b <= l2_bytes / 2 ? b : std::max(b, waves * wave_columns * order.column_bytes);
  return of_a + of_b;
}

WholeLaunch whole_launch(const GemmSetting& setting, const Samples& samples, int blocks_of_sm) {
  const GemmSetting::Extent extent = setting.sample();
  Extrapolation to;
  to.times =
      number(ceil_div(setting.size.m, extent.rows) * ceil_div(setting.size.n, extent.columns));
  if (samples.k1 != samples.k2) {
    to.step = (number(setting.size.k) - samples.k1) / (samples.k2 - samples.k1);
  }
  WholeLaunch whole{extrapolated(samples.trace1, samples.trace2, to), {}, 0};
  KernelTrace& trace = whole.trace;
  if (samples.k1 != samples.k2) {
    const double to_nothing = -samples.k1 / (samples.k2 - samples.k1);
    whole.ends = extrapolated(samples.trace1, samples.trace2, {to_nothing, to.times});
    whole.ends.grid = grid_of(setting.launch());
    whole.ends.footprint.max_of_block = whole.ends.footprint.max_of_warp = 0;
  }
  trace.grid = grid_of(setting.launch());
  vgpu::Footprint& f = trace.footprint;
  // The footprint of a single block or warp in a problem in which all are alike.
  f.max_of_block = f.max_of_warp = 0;
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
