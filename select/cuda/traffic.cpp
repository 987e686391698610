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
// layouts; docs/notes/cuda-kernels.md has what other shapes gain.
constexpr TrafficTile tiles_times[] = {
    {128, 128, 1, 1, 0.355, 0.80}, {128, 192, 1, 1, 0.517, 1.30}, {128, 64, 1, 1, 0.226, 0.58},
    {64, 128, 2, 1, 0.227, 0.81},  {64, 128, 1, 1, 0.212, 0.63},  {64, 64, 1, 1, 0.161, 0.37},
    {128, 256, 1, 1, 0.690, 1.46}, {128, 256, 2, 1, 0.693, 1.77}, {64, 192, 1, 1, 0.284, 1.15}};
constexpr TrafficTile ping_pong_times[] = {{128, 128, 1, 1, 0.327, 0.63},
                                           {128, 192, 1, 1, 0.479, 1.20}};
constexpr TrafficTile multicast_times[] = {
    {128, 112, 2, 1, 0.328, 1.03}, {128, 144, 2, 1, 0.409, 1.45}, {128, 224, 2, 1, 0.590, 1.99},
    {64, 128, 2, 4, 0.219, 1.05},  {64, 192, 4, 2, 0.279, 1.51},  {128, 64, 4, 2, 0.247, 1.10},
    {128, 128, 2, 2, 0.349, 1.67}, {128, 192, 2, 2, 0.500, 2.24}, {192, 192, 1, 2, 0.750, 3.14}};

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
constexpr double least_gain = 1.03;

constexpr std::string_view rung_ids[] = {"gemm/cuda/wgmma_tiles", "gemm/cuda/ping_pong",
                                         "gemm/cuda/wgmma_multicast"};
constexpr std::span<const TrafficTile> rung_tiles[] = {tiles_times, ping_pong_times,
                                                       multicast_times};

/// The tiles of a rung; none if it is another one.
std::span<const TrafficTile> tiles_with_times(std::string_view id) {
  const auto* const found = std::ranges::find(rung_ids, id);
  return found == std::end(rung_ids) ? std::span<const TrafficTile>{}
                                     : rung_tiles[found - std::begin(rung_ids)];
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

/// A product in tiles of one size.
class Traffic {
 public:
  Traffic(const TrafficTile& tile, const GemmCall& call, int multiprocessors)
      : tile_(tile), multiprocessors_(multiprocessors), steps_(ceil_div(call.k, 64)) {
    const int cluster = tile.rows * tile.cols;
    // An H200 holds 30 clusters of four blocks or 15 of eight: 120 of 132 SMs.
    const int usable = cluster > 2 ? multiprocessors * 10 / 11 : multiprocessors;
    clusters_ = std::max(usable / cluster, 1);
    const std::int64_t rows = std::int64_t{tile.BM} * tile.rows;
    const std::int64_t cols = std::int64_t{tile.BN} * tile.cols;
    const std::int64_t tile_cols = ceil_div(call.n, cols);
    const std::int64_t tiles = ceil_div(call.m, rows) * tile_cols;
    waves_ = tiles / clusters_;
    left_ = tiles % clusters_;
    bytes_ = 128.0 * (tile.BM * cost_of_line(call.a, call.dtype) / tile.cols +
                      tile.BN * cost_of_line(call.b, call.dtype) / tile.rows);
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
    const auto blocks = static_cast<double>(clusters * tile_.rows * tile_.cols);
    const double busy = blocks / multiprocessors_;
    const double step =
        overlapped(tile_.step * (idle_share + (1 - idle_share) * busy), blocks * bytes_ / l2_rate,
                   128.0 * (tile_.BM + tile_.BN) / delivery_rate);
    return static_cast<double>(steps) * step + tile_.rest;
  }

  const TrafficTile& tile_;
  int multiprocessors_;
  std::int64_t steps_;     // k-blocks of a tile
  std::int64_t clusters_;  // that run at a time
  std::int64_t waves_, left_;
  double bytes_;  // that a block reads from L2 for a k-block, in whole lines
  double memory_;
  double sum_bytes_;
};

}  // namespace

bool has_traffic_model(const GemmCall& call) {
  const bool is_16_bits = call.dtype == Dtype::bf16_bf16 || call.dtype == Dtype::f16_f16;
  return is_16_bits && call.beta == 0 && call.n % 8 == 0 &&
         largest_divisor(row_bits(call.c, 2)) >= 16;
}

int traffic_tile_area(std::string_view rung, int tile) {
  const auto tiles = tiles_with_times(rung);
  if (tile >= std::ssize(tiles)) return 0;
  const TrafficTile& found = tiles[static_cast<std::size_t>(tile)];
  return found.BM * found.BN * found.rows * found.cols;
}

double traffic_microseconds(const ConfiguredGemm& gemm, const GemmCall& call,
                            const Limits& limits) {
  const auto tiles = tiles_with_times(gemm.id);
  const auto tile = static_cast<std::size_t>(gemm.config.tile);
  if (tile >= tiles.size()) return std::numeric_limits<double>::infinity();
  return Traffic(tiles[tile], call, limits.multiprocessors).microseconds(gemm.config.splits);
}

ConfiguredGemm faster_by_traffic(const ConfiguredGemm& chosen, const GemmCall& call,
                                 const Limits& limits) {
  const double work =
      static_cast<double>(call.m) * static_cast<double>(call.n) * static_cast<double>(call.k);
  if (!has_traffic_model(call) || work < least_work || work > most_work) return chosen;
  ConfiguredGemm best = chosen;
  double least = traffic_microseconds(chosen, call, limits) / least_gain;
  if (std::isinf(least)) return chosen;
  const GemmSize size = {call.m, call.n, call.k};
  const auto consider = [&](const ConfiguredGemm& gemm, double expected) {
    if (expected >= least) return;
    if (!why_not(*gemm.rung, call.dtype, size, gemm.config, limits).empty()) return;
    best = gemm;
    least = expected;
  };
  for (const std::string_view id : rung_ids) {
    const auto tiles = tiles_with_times(id);
    for (int tile = 0; tile < std::ssize(tiles); ++tile) {
      ConfiguredGemm gemm = configured_gemm(id, {.tile = tile});
      const Traffic traffic(tiles[static_cast<std::size_t>(tile)], call, limits.multiprocessors);
      const bool may_split = gemm.rung->splits && limits.workspace_bytes >= 0;
      const int most = may_split ? std::min(traffic.most_parts(), 33) : 1;
      for (int splits = 1; splits <= most; ++splits) {
        gemm.config.splits = splits;
        consider(gemm, traffic.microseconds(splits));
      }
    }
  }
  return best;
}

}  // namespace rung::cuda
