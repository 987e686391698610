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

// Fitted on an H200 to 26,000 times of products of 190 shapes, 69 of them layers of models, in one to four
// layouts, with results of 16 bits and in f32; docs/notes/cuda-kernels.md has what other shapes gain.
constexpr TrafficTile tiles_times[] = {
    {64, 64, 1, 1, 0.049, 0.42},   {64, 128, 1, 1, 0.145, 0.63},  {64, 128, 2, 1, 0.221, 0.85},
    {64, 192, 1, 1, 0.201, 0.96},  {64, 256, 1, 1, 0.299, 1.21},  {128, 64, 1, 1, 0.170, 0.36},
    {128, 128, 1, 1, 0.349, 0.66}, {128, 128, 2, 1, 0.378, 0.85}, {128, 192, 1, 1, 0.533, 1.01},
    {128, 256, 1, 1, 0.696, 1.56}, {128, 256, 2, 1, 0.678, 2.38}};
// 4 % more than fitted, because these plans were chosen too often for further shapes.
constexpr TrafficTile ping_pong_times[] = {{128, 128, 1, 1, 0.338, 0.33},
                                           {128, 192, 1, 1, 0.516, 0.81}};
constexpr TrafficTile multicast_times[] = {
    {64, 64, 1, 1, 0.053, 0.39},   {80, 64, 1, 2, 0.171, 0.36},   {96, 128, 1, 2, 0.300, 0.75},
    {104, 128, 1, 4, 0.283, 2.36}, {128, 160, 2, 1, 0.432, 1.77}, {128, 176, 2, 1, 0.467, 2.37},
    {136, 64, 1, 1, 0.211, 0.40},  {144, 128, 1, 2, 0.396, 1.29}, {160, 64, 1, 1, 0.208, 0.78},
    {160, 128, 1, 2, 0.441, 1.36}, {160, 192, 1, 2, 0.670, 2.00}, {176, 64, 1, 1, 0.237, 0.77},
    {176, 128, 1, 2, 0.472, 1.53}, {176, 192, 1, 2, 0.724, 2.08}, {208, 64, 1, 1, 0.287, 0.90},
    {208, 128, 1, 2, 0.577, 1.83}};
// The rest of a tile includes the exchange of sums in a cluster.
constexpr TrafficTile cluster_split_times[] = {
    {72, 64, 1, 1, 0.134, 3.99},  {96, 128, 1, 1, 0.262, 5.13},  {104, 128, 1, 1, 0.280, 5.44},
    {128, 64, 1, 1, 0.167, 4.15}, {136, 128, 1, 1, 0.359, 6.48}, {160, 64, 1, 1, 0.211, 7.00}};

// The clusters of 1 to 8 blocks that fit an H200 at a time, with a margin: fewer than its SMs would
// allow, since a cluster needs SMs of one GPC, and GPUs differ in which SMs work. With one more
// (on three H200s, more than 38 of three blocks, 30, 22, 15 to 17, 15), a product takes twice as
// long.
constexpr int clusters_of_132[] = {132, 66, 36, 28, 20, 15, 14, 14};
constexpr int most_cluster_splits = 8;

// Times in microseconds, rates in bytes per microsecond.
constexpr double launch_time = 2.08;
constexpr double l2_rate = 16.4e6;         // of whole lines, to all SMs
constexpr double delivery_rate = 0.167e6;  // to one SM, of what others multicast as well
constexpr double memory_rate = 4.23e6;
constexpr double idle_share = 0.793;  // of a step's time that remains if all other SMs are idle
constexpr double meeting = 2.9;       // split-K: blocks of a tile wait for each other
constexpr double sum_byte = 0.14e-6;  // split-K: a byte of partial sums, written and read
constexpr double cut_row = 0.27e-6;   // a row of a tile of a large C that ends within a line
constexpr double sum_rest = 0.58;     // results of four bytes: more per 128 x 128 of a tile
// m n k of the smallest and the largest shape in the fit. Larger products run at the power limit.
constexpr double least_work = 1.5e8, most_work = 2.5e11;
// The kernels with clusters load all rows of a tile, even of a matrix with fewer.
constexpr std::int64_t least_extent_of_clusters = 64;

constexpr std::string_view split_in_clusters = "gemm/cuda/wgmma_cluster_split";

struct RungTimes {
  std::string_view id;
  std::span<const TrafficTile> tiles;
  bool has_clusters = false;
};
constexpr RungTimes rungs[] = {{"gemm/cuda/wgmma_tiles", tiles_times},
                               {"gemm/cuda/ping_pong", ping_pong_times},
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

/// The time that L2 takes for 128 bytes of a row, relative to a whole line. Operands with a smaller
/// alignment are packed, and copies have whole lines.
double cost_of_line(const AnyMatrix<const void*>& operand, Dtype dtype) {
  switch (row_alignment(operand, dtype)) {
    case 16: return 2.36;
    case 32: return 1.49;
    case 64: return 1.36;
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
  Traffic(const TrafficTile& tile, const GemmCall& call, int multiprocessors, int cluster_splits)
      : tile_(tile),
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
    double work = static_cast<double>(waves_) * of_wave(steps_, clusters_);
    if (left_ > 0) work += of_wave(ceil_div(steps_, parts), left_ * parts);
    const double exchange = parts == 1 ? 0 : meeting + sum_byte * sum_bytes_ * parts;
    return launch_time + overlapped(work, memory_) + exchange;
  }

 private:
  double of_wave(std::int64_t steps, std::int64_t clusters) const {
    const auto blocks = static_cast<double>(clusters * blocks_);
    const double busy = blocks / multiprocessors_;
    const double step = overlapped(tile_.step * (idle_share + (1 - idle_share) * busy),
                                   blocks * bytes_ / l2_rate, delivered_ / delivery_rate);
    return static_cast<double>(steps) * step + rest_;
  }

  const TrafficTile& tile_;
  double rest_;
  int multiprocessors_;
  int blocks_;             // of a cluster
  std::int64_t steps_;     // k-blocks of a tile, or of a block's part of it
  std::int64_t clusters_;  // that run at a time
  std::int64_t waves_, left_;
  double delivered_;  // bytes of a k-block
  double bytes_;      // that a block reads from L2 for a k-block, in whole lines
  double memory_;
  double sum_bytes_;
};

double microseconds(const ConfiguredGemm& gemm, const TrafficTile& tile, const GemmCall& call,
                    const Limits& limits) {
  if (gemm.id == split_in_clusters) {
    const int splits = std::clamp(gemm.config.splits, 1, most_cluster_splits);
    return Traffic(tile, call, limits.multiprocessors, splits).microseconds(1);
  }
  return Traffic(tile, call, limits.multiprocessors, 1).microseconds(gemm.config.splits);
}

/// The largest number of parts of k worth considering.
int most_splits(const ConfiguredGemm& gemm, const TrafficTile& tile, const GemmCall& call,
                const Limits& limits) {
  if (!gemm.rung->splits || limits.workspace_bytes < 0) return 1;
  if (gemm.id == split_in_clusters) return most_cluster_splits;
  return std::min(Traffic(tile, call, limits.multiprocessors, 1).most_parts(), 33);
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
  return microseconds(gemm, *times, call, limits);
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
      const int most = most_splits(gemm, *times, call, limits);
      for (int splits = 1; splits <= most; ++splits) {
        gemm.config.splits = splits;
        consider(gemm, microseconds(gemm, *times, call, limits));
      }
    }
  }
  return best;
}

}  // namespace rung::cuda
