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
  double rest;  // the rest of a tile
};

// Fitted on an H200 to 3770 times of bf16 products with results in bf16, of 222 shapes in four
// layouts; docs/notes/cuda-kernels.md has what other shapes gain. Steps of tiles of 64 columns are
// shorter since one elected thread issues their loads: fitted to 93 other shapes, and half of the
// difference taken, which chose best.
constexpr TrafficTile tiles_times[] = {
    {128, 128, 1, 1, 0.355, 0.80}, {128, 192, 1, 1, 0.517, 1.30}, {128, 64, 1, 1, 0.220, 0.58},
    {64, 128, 2, 1, 0.227, 0.81},  {64, 128, 1, 1, 0.212, 0.63},  {64, 64, 1, 1, 0.150, 0.37},
    {128, 256, 1, 1, 0.690, 1.46}, {128, 256, 2, 1, 0.693, 1.77}, {64, 192, 1, 1, 0.284, 1.15}};
constexpr TrafficTile ping_pong_times[] = {{128, 128, 1, 1, 0.327, 0.63},
                                           {128, 192, 1, 1, 0.479, 1.20}};
// These and the following are fitted to 3831 times of 346 other shapes in one or two layouts. 154
// shapes are layers of models.
constexpr TrafficTile multicast_times[] = {
    {64, 64, 1, 1, 0.160, 0.13},   {64, 64, 2, 4, 0.160, 0.53},   {128, 128, 2, 2, 0.367, 1.80},
    {128, 112, 2, 1, 0.335, 1.02}, {128, 144, 2, 1, 0.419, 1.38}, {128, 160, 2, 1, 0.460, 1.65},
    {128, 208, 2, 1, 0.585, 2.45}, {128, 224, 2, 1, 0.629, 1.93}, {80, 64, 1, 2, 0.194, 0.49},
    {96, 128, 1, 2, 0.305, 0.85},  {144, 128, 1, 2, 0.416, 1.33}, {160, 128, 1, 2, 0.469, 1.29},
    {176, 128, 1, 2, 0.506, 1.47}, {208, 128, 1, 2, 0.583, 1.77}, {104, 192, 1, 2, 0.491, 1.20},
    {160, 192, 1, 2, 0.689, 1.71}};
// The rest of a tile includes the exchange of sums in a cluster.
constexpr TrafficTile cluster_split_times[] = {{128, 64, 1, 1, 0.243, 2.63},
                                               {72, 64, 1, 1, 0.178, 2.57},
                                               {96, 128, 1, 1, 0.324, 3.86},
                                               {104, 128, 1, 1, 0.345, 4.02}};

// The clusters of 1 to 8 blocks that fit an H200 at a time, with a margin: fewer than its SMs would
// allow, since a cluster needs SMs of one GPC, and GPUs differ in which SMs work. With one more
// (on three H200s, more than 38 of three blocks, 30, 22, 15 to 17, 15), a product takes twice as
// long.
constexpr int clusters_of_132[] = {132, 66, 36, 28, 20, 15, 14, 14};
constexpr int most_cluster_splits = 8;

// Times in microseconds, rates in bytes per microsecond.
constexpr double launch_time = 2.38;
constexpr double l2_rate = 27.9e6;        // of whole lines, to all SMs
constexpr double delivery_rate = 0.37e6;  // to one SM, of what others multicast as well
constexpr double memory_rate = 4.34e6;
constexpr double idle_share = 0.787;  // of a step's time that remains if all other SMs are idle
constexpr double meeting = 2.5;       // split-K: blocks of a tile wait for each other
constexpr double sum_byte = 0.13e-6;  // split-K: a byte of partial sums, written and read
constexpr double cut_row = 52e-6;     // a row of a tile of a large C that ends within a line
// m n k of the smallest and the largest shape in the fit. Larger products run at the power limit.
constexpr double least_work = 1.5e8, most_work = 2.5e11;
// Few shapes of the second fit have a shorter k.
constexpr std::int64_t least_k_of_clusters = 640;

constexpr std::string_view split_in_clusters = "gemm/cuda/wgmma_cluster_split";

struct RungTimes {
  std::string_view id;
  std::span<const TrafficTile> tiles;
  // Measured times of chosen plans over predicted ones: the least of many predictions is too short.
  double factor;
  bool has_clusters = false;
};
constexpr RungTimes rungs[] = {{"gemm/cuda/wgmma_tiles", tiles_times, 1.03},
                               {"gemm/cuda/ping_pong", ping_pong_times, 1.03},
                               {"gemm/cuda/wgmma_multicast", multicast_times, 1, true},
                               {split_in_clusters, cluster_split_times, 1.08, true}};

/// The times of a rung, or null if it is another one.
const RungTimes* times_of(std::string_view id) {
  const auto* const found = std::ranges::find(rungs, id, &RungTimes::id);
  return found == std::end(rungs) ? nullptr : found;
}

/// The rows or columns of a tile that are loaded: boxes of an MN-major operand have 64.
int loaded_extent(int extent, bool is_k_major) {
  return is_k_major ? extent : static_cast<int>(ceil_div(extent, 64)) * 64;
}

/// The time that L2 takes for 128 bytes of a row, relative to a whole line. Operands with a smaller
/// alignment are packed, and copies have whole lines.
double cost_of_line(const AnyMatrix<const void*>& operand, Dtype dtype) {
  switch (row_alignment(operand, dtype)) {
    case 16: return 3.77;
    case 32: return 2.33;
    case 64: return 1.51;
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
    memory_ = 2 * ((m + n) * static_cast<double>(call.k) + m * n) / memory_rate;
    const bool stays_in_l2 = 2 * m * n <= 40e6;
    if (!stays_in_l2 && call.n * 2 % 128 != 0) {
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
    return static_cast<double>(steps) * step + tile_.rest;
  }

  const TrafficTile& tile_;
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
  const bool is_16_bits = call.dtype == Dtype::bf16_bf16 || call.dtype == Dtype::f16_f16;
  return is_16_bits && call.beta == 0 && call.n % 8 == 0 &&
         largest_divisor(row_bits(call.c, 2)) >= 16;
}

int traffic_tile_area(std::string_view rung, int tile) {
  const RungTimes* const times = times_of(rung);
  if (times == nullptr || tile >= std::ssize(times->tiles)) return 0;
  const TrafficTile& found = times->tiles[static_cast<std::size_t>(tile)];
  return found.BM * found.BN * found.rows * found.cols;
}

double traffic_microseconds(const ConfiguredGemm& gemm, const GemmCall& call,
                            const Limits& limits) {
  const RungTimes* const times = times_of(gemm.id);
  const auto tile = static_cast<std::size_t>(gemm.config.tile);
  if (times == nullptr || tile >= times->tiles.size()) {
    return std::numeric_limits<double>::infinity();
  }
  return times->factor * microseconds(gemm, times->tiles[tile], call, limits);
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
    if (rung.has_clusters && call.k < least_k_of_clusters) continue;
    for (int tile = 0; tile < std::ssize(rung.tiles); ++tile) {
      ConfiguredGemm gemm = configured_gemm(rung.id, {.tile = tile});
      const TrafficTile& times = rung.tiles[static_cast<std::size_t>(tile)];
      const int most = most_splits(gemm, times, call, limits);
      for (int splits = 1; splits <= most; ++splits) {
        gemm.config.splits = splits;
        consider(gemm, rung.factor * microseconds(gemm, times, call, limits));
      }
    }
  }
  return best;
}

}  // namespace rung::cuda
