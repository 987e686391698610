#include "select/cuda/models.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>
#include <string_view>

#include "core/integers.hpp"
#include "select/cuda/operands.hpp"
#include "select/cuda/tuned.hpp"

namespace rung::cuda {
namespace {

/// A tile, the rows and columns of blocks of its cluster, and its times in microseconds.
struct TrafficTile {
  int BM, BN, rows, cols;
  double step;  // a k-block of 64 steps, if L2 is no limit
  double rest;  // the rest of a tile with results of two bytes
};

// Fitted on H200s to 30,700 times of products of 296 shapes, 111 of them layers of models, in one to
// four layouts, with results of 16 bits and in f32; docs/notes/cuda-kernels.md has what other shapes
// gain.
constexpr TrafficTile tiles_times[] = {
    {64, 64, 1, 1, 0.043, 0.39},   {64, 128, 1, 1, 0.114, 0.69},  {64, 128, 2, 1, 0.201, 0.98},
    {64, 192, 1, 1, 0.192, 1.05},  {64, 256, 1, 1, 0.298, 1.35},  {128, 64, 1, 1, 0.107, 0.38},
    {128, 128, 1, 1, 0.343, 0.70}, {128, 128, 2, 1, 0.343, 1.04}, {128, 192, 1, 1, 0.535, 1.05},
    {128, 256, 1, 1, 0.695, 1.59}, {128, 256, 2, 1, 0.678, 2.36}};
constexpr TrafficTile ping_pong_times[] = {{128, 128, 1, 1, 0.318, 0.30},
                                           {128, 192, 1, 1, 0.503, 0.72}};
constexpr TrafficTile multicast_times[] = {
    {64, 64, 1, 1, 0.049, 0.48},   {80, 64, 1, 2, 0.173, 0.35},   {96, 128, 1, 2, 0.299, 0.76},
    {128, 160, 2, 1, 0.433, 1.75}, {128, 176, 2, 1, 0.467, 2.38}, {136, 64, 1, 1, 0.214, 0.39},
    {144, 128, 1, 2, 0.397, 1.27}, {160, 64, 1, 1, 0.211, 0.80},  {160, 128, 1, 2, 0.443, 1.33},
    {160, 192, 1, 2, 0.668, 2.08}, {176, 64, 1, 1, 0.236, 0.81},  {176, 128, 1, 2, 0.474, 1.52},
    {176, 192, 1, 2, 0.722, 2.10}, {208, 128, 1, 2, 0.575, 1.88}};
// The rest of a tile includes the exchange of sums in a cluster.
constexpr TrafficTile cluster_split_times[] = {{104, 128, 1, 1, 0.280, 5.44},
                                               {136, 128, 1, 1, 0.363, 6.45}};

// The clusters of 1 to 8 blocks that fit an H200 at a time, with a margin: fewer than its SMs would
// allow, since a cluster needs SMs of one GPC, and GPUs differ in which SMs work. With one more
// (on three H200s, more than 38 of three blocks, 30, 22, 15 to 17, 15), a product takes twice as
// long.
constexpr int clusters_of_132[] = {132, 66, 36, 28, 20, 15, 14, 14};
constexpr int most_cluster_splits = 8;

// Times in microseconds, rates in bytes per microsecond.
constexpr double launch_time = 1.99;
constexpr double l2_rate = 16.4e6;         // of whole lines, to all SMs
constexpr double delivery_rate = 0.165e6;  // to one SM, of what others multicast as well
constexpr double memory_rate = 4.38e6;
constexpr double idle_share = 0.791;  // of a step's time that remains if all other SMs are idle
constexpr double meeting = 2.50;      // split-K: blocks of a tile wait for each other
constexpr double sum_byte = 0.18e-6;  // split-K: a byte of partial sums, written and read
constexpr double cut_row = 0.41e-6;   // a row of a tile of a large C that ends within a line
constexpr double sum_rest = 0.62;     // results of four bytes: more per 128 x 128 of a tile
// More of a k-block for each row outside that TMA loads: beyond the last of several tiles, and of an
// operand with fewer rows than a tile.
constexpr double row_outside = 0.001, row_of_short = 0.003;
constexpr double last_store = 0.38;  // ping_pong stores its last tile while nothing multiplies
// m n k of the smallest and the largest shape in the fit. Larger products run at the power limit.
constexpr double least_work = 1.5e8, most_work = 2.5e11;
// The kernels with clusters load all rows of a tile, even of a matrix with fewer.
constexpr std::int64_t least_extent_of_clusters = 64;

constexpr std::string_view split_in_clusters = "gemm/cuda/wgmma_cluster_split";

struct RungTimes {
  std::string_view id;
  std::span<const TrafficTile> tiles;
  bool has_clusters = false;
  double last_tile = 0;  // more of the last tile of a block
};
constexpr RungTimes rungs[] = {{"gemm/cuda/wgmma_tiles", tiles_times},
                               {"gemm/cuda/ping_pong", ping_pong_times, false, last_store},
                               {"gemm/cuda/wgmma_multicast", multicast_times, true},
                               {split_in_clusters, cluster_split_times, true}};

/// The times of a rung, or null if it is another one.
const RungTimes* times_of(std::string_view id) {
  const auto* const found = std::ranges::find(rungs, id, &RungTimes::id);
  return found == std::end(rungs) ? nullptr : found;
}

/// The times of a tile of a rung, or null if the model does not have it.
const TrafficTile* times_of(const RungTimes& rung, const TileShape& shape) {
  const auto found = std::ranges::find_if(rung.tiles, [&](const TrafficTile& times) {
    return times.BM == shape.BM && times.BN == shape.BN && times.rows * times.cols == shape.cluster;
  });
  return found == rung.tiles.end() ? nullptr : &*found;
}

/// The rows or columns of a tile that are loaded: boxes of an MN-major operand have 64.
int loaded_extent(int extent, bool is_k_major) {
  return is_k_major ? extent : static_cast<int>(ceil_div(extent, 64)) * 64;
}

/// The time that rows outside a K-major operand of `rows` rows add to a k-block of a block's last
/// tile: the rest of a tile, unless tiles overlap. If the operand is smaller than a tile of 64, only
/// its rows are loaded (ShortTiles).
double time_of_outside(int extent, std::int64_t rows, bool overlap) {
  if (rows < extent) return extent == 64 ? 0 : row_of_short * static_cast<double>(extent - rows);
  return overlap ? 0 : row_outside * static_cast<double>(round_up(rows, extent) - rows);
}

/// The time that L2 takes for 128 bytes of a row, relative to a whole line. Operands with a smaller
/// alignment are packed, and copies have whole lines.
double cost_of_line(const AnyMatrix<const void*>& operand, Dtype dtype) {
  switch (row_alignment(operand, dtype)) {
    case 16: return 2.33;
    case 32: return 1.46;
    case 64: return 1.32;
    default: return 1;
  }
}

/// (a⁴ + b⁴ + c⁴)^¼: no time hides the others completely.
double overlapped(double a, double b, double c = 0) {
  return std::sqrt(std::hypot(a * a, b * b, c * c));
}

/// A product in tiles of one size, whose k the blocks of a cluster divide into `cluster_splits`
/// parts.
class Traffic {
 public:
  Traffic(const RungTimes& rung, const TrafficTile& tile, const GemmCall& call, int multiprocessors,
          int cluster_splits)
      : tile_(tile),
        last_tile_(rung.last_tile),
        rest_(tile.rest),
        multiprocessors_(multiprocessors),
        blocks_(tile.rows * tile.cols * cluster_splits),
        steps_(ceil_div(ceil_div(call.k, 64), cluster_splits)) {
    clusters_ = std::max(clusters_of_132[blocks_ - 1] * multiprocessors / 132, 1);
    const std::int64_t rows = std::int64_t{tile.BM} * tile.rows;
    const std::int64_t cols = std::int64_t{tile.BN} * tile.cols;
    const std::int64_t tile_cols = ceil_div(call.n, cols);
    const std::int64_t tiles = ceil_div(call.m, rows) * tile_cols;
    waves_ = tiles / clusters_;
    left_ = tiles % clusters_;
    const int loaded_rows = loaded_extent(tile.BM, call.a.col_stride == 1);
    const int loaded_cols = loaded_extent(tile.BN, call.b.row_stride == 1);
    delivered_ = 128.0 * (loaded_rows + loaded_cols);
    bytes_ = 128.0 * (loaded_rows * cost_of_line(call.a, call.dtype) / tile.cols +
                      loaded_cols * cost_of_line(call.b, call.dtype) / tile.rows);
    if (!rung.has_clusters) {  // those load boxes in parts
      // Tiles of more than 128 x 128 do not overlap, but multiply for longer than such rows take.
      const bool overlap = tile.BM * tile.BN > 64 * 64;
      if (call.a.col_stride == 1) outside_ += time_of_outside(tile.BM, call.m, overlap);
      if (call.b.row_stride == 1) outside_ += time_of_outside(tile.BN, call.n, overlap);
    }
    const auto m = static_cast<double>(call.m), n = static_cast<double>(call.n);
    const auto result = static_cast<std::int64_t>(output_bytes(call.dtype));
    if (result == 4) rest_ += sum_rest * (tile.BM * tile.BN) / (128 * 128);
    const double bytes_of_c = static_cast<double>(result) * m * n;
    memory_ = (2 * (m + n) * static_cast<double>(call.k) + bytes_of_c) / memory_rate;
    const bool stays_in_l2 = bytes_of_c <= 40e6;
    if (!stays_in_l2 && call.n * result % 128 != 0) {
      memory_ += cut_row * static_cast<double>(tile_cols * tile.cols) * m;
    }
    // One block writes them, another one reads them.
    sum_bytes_ = 8.0 * static_cast<double>(left_) * static_cast<double>(std::min(rows, call.m)) *
                 static_cast<double>(std::min(cols, call.n));
  }

  /// The largest number of parts of k of a tile in the last wave.
  int most_parts() const {
    return left_ == 0 ? 1 : static_cast<int>(std::min(clusters_ / left_, steps_));
  }

  double microseconds(int splits) const {
    const int parts = std::clamp(splits, 1, most_parts());
    // The last wave has the tiles with rows outside.
    const std::int64_t before = left_ > 0 ? waves_ : waves_ - 1;
    const double last = left_ > 0 ? of_wave(ceil_div(steps_, parts), left_ * parts, outside_)
                                  : of_wave(steps_, clusters_, outside_);
    const double work =
        static_cast<double>(before) * of_wave(steps_, clusters_, 0) + last + last_tile_;
    const double exchange = parts == 1 ? 0 : meeting + sum_byte * sum_bytes_ * parts;
    return launch_time + overlapped(work, memory_) + exchange;
  }

 private:
  double of_wave(std::int64_t steps, std::int64_t clusters, double outside) const {
    const auto blocks = static_cast<double>(clusters * blocks_);
    const double busy = blocks / multiprocessors_;
    const double step = overlapped(tile_.step * (idle_share + (1 - idle_share) * busy),
                                   blocks * bytes_ / l2_rate, delivered_ / delivery_rate + outside);
    return static_cast<double>(steps) * step + rest_;
  }

  const TrafficTile& tile_;
  double last_tile_;
  double rest_;
  int multiprocessors_;
  int blocks_;             // of a cluster
  std::int64_t steps_;     // k-blocks of a tile, or of a block's part of it
  std::int64_t clusters_;  // that run at a time
  std::int64_t waves_, left_;
  double delivered_;    // bytes of a k-block
  double outside_ = 0;  // more of a k-block, for rows outside the operands that are loaded
  double bytes_;        // that a block reads from L2 for a k-block, in whole lines
  double memory_;
  double sum_bytes_;
};

double microseconds(const RungTimes& rung, const TrafficTile& tile, int splits,
                    const GemmCall& call, const Limits& limits) {
  if (rung.id == split_in_clusters) {
    const int blocks = std::clamp(splits, 1, most_cluster_splits);
    return Traffic(rung, tile, call, limits.multiprocessors, blocks).microseconds(1);
  }
  return Traffic(rung, tile, call, limits.multiprocessors, 1).microseconds(splits);
}

/// The largest number of parts of k worth considering.
int most_splits(const ConfiguredGemm& gemm, const RungTimes& rung, const TrafficTile& tile,
                const GemmCall& call, const Limits& limits) {
  if (!gemm.rung->splits || limits.workspace_bytes < 0) return 1;
  if (rung.id == split_in_clusters) return most_cluster_splits;
  return std::min(Traffic(rung, tile, call, limits.multiprocessors, 1).most_parts(), 33);
}

}  // namespace

bool has_traffic_model(const GemmCall& call) {
  const bool is_16_bits = call.dtype == Dtype::bf16 || call.dtype == Dtype::f16 ||
                          call.dtype == Dtype::bf16_bf16 || call.dtype == Dtype::f16_f16;
  const std::size_t result = output_bytes(call.dtype);
  return is_16_bits && call.beta == 0 && call.n * result % 16 == 0 &&
         largest_divisor(row_bits(call.c, result)) >= 16;
}

double traffic_microseconds(const ConfiguredGemm& gemm, const GemmCall& call,
                            const Limits& limits) {
  const RungTimes* const rung = times_of(gemm.id);
  const auto tiles = tiles_of(*gemm.rung, call.dtype);
  const auto tile = static_cast<std::size_t>(gemm.config.tile);
  const TrafficTile* const times =
      rung == nullptr || tile >= tiles.size() ? nullptr : times_of(*rung, tiles[tile]);
  if (times == nullptr) return std::numeric_limits<double>::infinity();
  return microseconds(*rung, *times, gemm.config.splits, call, limits);
}

ConfiguredGemm faster_by_traffic(const ConfiguredGemm& chosen, const GemmCall& call,
                                 const Limits& limits) {
  const double work =
      static_cast<double>(call.m) * static_cast<double>(call.n) * static_cast<double>(call.k);
  if (!has_traffic_model(call) || work < least_work || work > most_work) return chosen;
  ConfiguredGemm best = chosen;
  double least = traffic_microseconds(chosen, call, limits);
  if (std::isinf(least)) return chosen;
  const GemmSize size = {call.m, call.n, call.k};
  const auto consider = [&](const ConfiguredGemm& gemm, double expected) {
    if (expected >= least) return;
    if (!why_not(*gemm.rung, call.dtype, size, gemm.config, limits).empty()) return;
    best = gemm;
    least = expected;
  };
  for (const RungTimes& rung : rungs) {
    if (rung.has_clusters && std::min(call.m, call.n) < least_extent_of_clusters) continue;
    ConfiguredGemm gemm = configured_gemm(rung.id);
    const auto tiles = tiles_of(*gemm.rung, call.dtype);
    for (std::size_t tile = 0; tile < tiles.size(); ++tile) {
      const TrafficTile* const times = times_of(rung, tiles[tile]);
      if (times == nullptr) continue;
      gemm.config = {.tile = static_cast<int>(tile)};
      const int most = most_splits(gemm, rung, *times, call, limits);
      for (int splits = 1; splits <= most; ++splits) {
        gemm.config.splits = splits;
        consider(gemm, microseconds(rung, *times, splits, call, limits));
      }
    }
  }
  return best;
}

}  // namespace rung::cuda
