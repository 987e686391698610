#include "tools/analysis/whole_launch.hpp"

#include <algorithm>
#include <cmath>

#include "core/dtype.hpp"
#include "core/integers.hpp"
#include "tools/analysis/extrapolation.hpp"

namespace rung::analysis {
namespace {

constexpr double sector_bytes = 32;

double number(std::int64_t value) { return static_cast<double>(value); }

/// The rows and columns of C in a tile.
struct Tile {
  std::int64_t rows, columns;
};

/// A problem as a grid of tiles of C. The sampled ones are a part of it.
struct TiledProblem {
  cuda::GemmSize size;
  Dtype dtype;
  vgpu::Dim3 grid;
  Tile block, sample;  // of one block, and of all sampled ones
};

TiledProblem problem_of(const GemmSetting& setting) {
  const auto narrow = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
  const cuda::Tiling tile = setting.tiling();
  const cuda::Dim3 grid = setting.launch().grid;
  const GemmSetting::Extent sample = setting.sample();
  return {setting.size,
          setting.dtype,
          {narrow(grid.x), narrow(grid.y), narrow(grid.z)},
          {tile.BM, tile.BN},
          {sample.rows, sample.columns}};
}

TiledProblem problem_of(const MetalSetting& setting) {
  const auto narrow = [](auto value) { return static_cast<std::uint32_t>(value); };
  const metal::Tiling& tile = setting.rung->tiling;
  const metal::Size3 groups = setting.launch().threadgroups;
  return {setting.size,
          setting.dtype,
          {narrow(groups.x), narrow(groups.y), narrow(groups.z)},
          {tile.BM, tile.BN},
          {std::min<std::int64_t>(setting.size.m, tile.BM),
           std::min<std::int64_t>(setting.size.n, tile.BN)}};
}

BlockOrder order_of(const TiledProblem& problem, double resident) {
  const double row = static_cast<double>(input_bytes(problem.dtype)) * number(problem.size.k);
  return {number(ceil_div(problem.size.m, problem.block.rows)),
          number(ceil_div(problem.size.n, problem.block.columns)), resident,
          row * number(problem.block.rows), row * number(problem.block.columns)};
}

WholeLaunch whole(const TiledProblem& problem, const Samples& samples,
                  const vgpu::DeviceDescription& device, int blocks_of_sm) {
  Extrapolation to;
  to.times = number(ceil_div(problem.size.m, problem.sample.rows) *
                    ceil_div(problem.size.n, problem.sample.columns));
  const bool has_two = samples.k1 != samples.k2;
  if (has_two) to.step = (number(problem.size.k) - samples.k1) / (samples.k2 - samples.k1);
  WholeLaunch whole{extrapolated(samples.trace1, samples.trace2, to), {}, 0};
  KernelTrace& trace = whole.trace;
  if (has_two) {
    const double to_nothing = -samples.k1 / (samples.k2 - samples.k1);
    whole.ends = extrapolated(samples.trace1, samples.trace2, {to_nothing, to.times});
    whole.ends.grid = problem.grid;
    whole.ends.footprint.max_of_block = whole.ends.footprint.max_of_warp = 0;
  }
  trace.grid = problem.grid;
  vgpu::Footprint& f = trace.footprint;
  // The footprint of a single block or warp in a problem in which all are alike.
  f.max_of_block = f.max_of_warp = 0;
  const double stored =
      sector_bytes * static_cast<double>(f.stored_sectors + trace.counters.bulk_store_sectors);
  const double resident = number(std::max(1, blocks_of_sm)) * device.multiprocessors;
  const double loaded = loaded_from_dram(order_of(problem, resident), number(device.l2_bytes));
  f.loaded_sectors = static_cast<std::uint64_t>(loaded / sector_bytes);
  whole.dram_bytes = loaded + stored;
  return whole;
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

std::optional<KernelTrace> whole_launch(const SampledProduct& product, const KernelTrace& first,
                                        const KernelTrace& deeper, const KernelTrace& taller) {
  const auto& [m, n, k] = product.first;
  const bool same = first.kernel == deeper.kernel && first.kernel == taller.kernel;
  const bool tiles = deeper.grid.count() == first.grid.count() &&
                     taller.grid.count() == 2 * first.grid.count() &&
                     deeper.block.count() == first.block.count();
  if (!same || !tiles) return std::nullopt;
  const double step = number(product.whole.k - k) / number(product.deeper.k - k);
  const double times = number(product.whole.m * product.whole.n) / number(m * n);
  KernelTrace whole = extrapolated(first, deeper, {step, times});
  whole.grid.x = static_cast<std::uint32_t>(whole.grid.x * times);
  const vgpu::Footprint once = extrapolated(first, deeper, {step, 1}).footprint;
  vgpu::Footprint& f = whole.footprint;
  // Rows of A and columns of B are as many as the sides of C.
  const double sides = std::sqrt(times);
  f.loaded_sectors = static_cast<std::uint64_t>(sides * static_cast<double>(once.loaded_sectors));
  f.loaded_pieces = static_cast<std::uint64_t>(sides * static_cast<double>(once.loaded_pieces));
  f.sectors = f.loaded_sectors + f.stored_sectors;
  f.max_of_block = f.max_of_warp = 0;
  f.atomics_at_one_address = once.atomics_at_one_address;
  f.atomic_passes_of_unit = once.atomic_passes_of_unit;
  return whole;
}

WholeLaunch whole_launch(const GemmSetting& setting, const Samples& samples, int blocks_of_sm) {
  return whole(problem_of(setting), samples, setting.device, blocks_of_sm);
}

WholeLaunch whole_launch(const MetalSetting& setting, const Samples& samples, int blocks_of_sm) {
  return whole(problem_of(setting), samples, setting.device, blocks_of_sm);
}

}  // namespace rung::analysis
