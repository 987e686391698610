#include "backends/cuda/wave_model.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "backends/cuda/rungs.hpp"
#include "device/cuda/tile/tile_coord.cuh"

namespace rung::cuda {
namespace {

/// The parameters of one tile size.
struct TileTimes {
  int BM, BN, cluster, at_a_time;  // blocks; tiles that a block works on (ping-pong)
  double step, tile;               // microseconds per 128 bytes of k, and per tile
};

// Fitted to the times of 3474 configurations for 130 shapes of bf16 on an H200, all layouts, results
// in bf16 and f32 (but `part`, which takes more parts than these had). Measured choices would have made these products 4 % faster. The other types
// multiply the same number of bytes per second.
constexpr std::string_view modelled[] = {"gemm/cuda/31_dependent_launch", "gemm/cuda/33_ping_pong"};
constexpr TileTimes tile_times[] = {
    {128, 256, 2, 1, 0.730, 1.28}, {128, 256, 1, 1, 0.731, 0.93}, {128, 192, 1, 1, 0.532, 1.05},
    {128, 128, 2, 1, 0.390, 0.86}, {128, 128, 1, 1, 0.368, 0.70}, {64, 128, 2, 1, 0.233, 0.90},
    {64, 128, 1, 1, 0.210, 0.72},  {64, 64, 1, 1, 0.173, 0.56},   {128, 64, 1, 1, 0.251, 0.64},
    {64, 256, 1, 2, 0.427, 1.38},  {128, 128, 1, 2, 0.378, 1.86}};

const TileTimes* times_of(const TileShape& shape) {
  const auto* const found =
      std::find_if(std::begin(tile_times), std::end(tile_times), [&](const TileTimes& times) {
        return times.BM == shape.BM && times.BN == shape.BN && times.cluster == shape.cluster &&
               times.at_a_time == shape.at_a_time;
      });
  return found == std::end(tile_times) ? nullptr : found;
}

// The share of a k-block's time that remains if all other SMs are idle: power and bandwidth are
// shared with fewer.
constexpr double idle_share = 0.838;
constexpr double meeting = 2.97, part = 0.018;  // of blocks that share a tile, and per block
constexpr double shared_byte = 0.120e-6;        // written or read
constexpr double byte = 0.159e-6;               // of operands, through device memory
constexpr double loaded_byte = 0.0556e-6;       // of tiles, through L2
constexpr double part_of_line = 2.04;           // factor of it where rows of boxes are not lines
constexpr double stored_byte = 18.1e-6;         // of a tile's results

/// Bytes per element of an operand and of a result.
struct ElementBytes {
  double in, out;
};

ElementBytes bytes_of(Dtype dtype) {
  return visit(dtype, []<class In, class Out>(Elements<In, Out>) {
    return ElementBytes{sizeof(In), sizeof(Out)};
  });
}

/// A shape, in tiles of one size.
class Waves {
 public:
  Waves(const GemmSize& size, const ElementBytes& bytes, const TileShape& shape,
        const TileTimes& times, bool fast_copies, int multiprocessors)
      : times_(times),
        workers_(std::max(multiprocessors / times.cluster, 1)),
        steps_(ceil_div(size.k, shape.BK)),
        step_bytes_(128.0 * (times.cluster * times.BM + times.BN) *
                    (fast_copies ? 1.0 : part_of_line)),
        store_(stored_byte * bytes.out * times.BM * times.BN) {
    const std::int64_t rows = std::int64_t{shape.BM} * times.cluster;
    const std::int64_t tiles = ceil_div(size.m, rows) * ceil_div(size.n, shape.BN);
    whole_ = tiles / workers_;
    left_ = tiles % workers_;
    // For each split, written by one block and read by another.
    part_bytes_ = 2.0 * sizeof(float) * static_cast<double>(left_) *
                  static_cast<double>(std::min(rows, size.m)) *
                  static_cast<double>(std::min<std::int64_t>(shape.BN, size.n));
    const auto elements = static_cast<double>(size.m + size.n) * static_cast<double>(size.k);
    const auto results = static_cast<double>(size.m) * static_cast<double>(size.n);
    traffic_ = byte * (bytes.in * elements + bytes.out * results);
  }

  /// The number of splits with the shortest time.
  int best_parts() const {
    if (left_ == 0) return 1;
    const std::int64_t most = std::min(workers_ / left_, steps_);
    if (most < 2) return 1;
    // The optimum: the time of the k-blocks falls as fast as that of the exchange grows.
    const double ideal = std::sqrt(static_cast<double>(steps_) * times_.step * idle_share /
                                   (shared_byte * part_bytes_ + part));
    const int parts = static_cast<int>(std::clamp(ideal + 0.5, 2.0, static_cast<double>(most)));
    return microseconds(parts) < microseconds(1) ? parts : 1;
  }

  /// The time of a launch, except for the constant part; its last wave has this many splits.
  double microseconds(int parts) const {
    const double busy = static_cast<double>(left_ * parts) / static_cast<double>(workers_);
    const double last = left_ == 0 ? 0
                                   : static_cast<double>(ceil_div(steps_, parts)) *
                                         (idle_share + (1 - idle_share) * busy);
    const double waves = static_cast<double>(whole_ + (left_ > 0 ? 1 : 0));
    const double multiply = times_.step * (static_cast<double>(whole_ * steps_) + last);
    double work = multiply + (times_.tile + store_) * waves;
    if (times_.at_a_time > 1) {
      // One consumer stores while the other multiplies; each has every other tile.
      const double steps = whole_ > 0 ? static_cast<double>(steps_) : last;
      const double consumer = std::ceil(waves / 2) * (times_.step * steps + times_.tile);
      work = std::max(multiply + times_.tile, consumer) + store_;
    }
    const double steps_of_last =
        static_cast<double>(left_ * parts) * static_cast<double>(ceil_div(steps_, parts));
    const double loaded =
        step_bytes_ * (static_cast<double>(whole_ * steps_ * workers_) + steps_of_last);
    const double moved = traffic_ + loaded_byte * loaded;
    const double exchange = parts == 1 ? 0 : meeting + parts * (part + shared_byte * part_bytes_);
    // Neither hides the other completely.
    return std::sqrt(std::hypot(work * work, moved * moved)) + exchange;
  }

 private:
  TileTimes times_;
  std::int64_t workers_;  // blocks, or clusters
  std::int64_t steps_;
  double step_bytes_;                  // that blocks or clusters load for a k-block
  double store_;                       // microseconds for a tile's results
  std::int64_t whole_ = 0, left_ = 0;  // waves, and tiles in the last one
  double part_bytes_ = 0, traffic_ = 0;
};

}  // namespace

bool has_wave_model(std::string_view id) {
  return std::find(std::begin(modelled), std::end(modelled), id) != std::end(modelled);
}

std::optional<GemmConfig> predicted_config(const GemmRung& rung, Dtype dtype, const GemmSize& size,
                                           bool fast_copies, const Limits& limits) {
  std::optional<GemmConfig> best;
  double best_time = 0;
  const auto tiles = tiles_of(rung, dtype);
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const TileTimes* const times = times_of(tiles[i]);
    if (times == nullptr) continue;
    const Waves waves(size, bytes_of(dtype), tiles[i], *times, fast_copies, limits.multiprocessors);
    const GemmConfig config = {static_cast<int>(i), waves.best_parts()};
    const double expected = waves.microseconds(config.splits);
    if (best && expected >= best_time) continue;
    if (!why_not(rung, dtype, size, config, limits).empty()) continue;
    best = config;
    best_time = expected;
  }
  return best;
}

}  // namespace rung::cuda
