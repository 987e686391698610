#include "backends/cuda/wave_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/cuda/rungs.hpp"
#include "backends/cuda/tuned.hpp"
#include "core/integers.hpp"

namespace rung::cuda {
namespace {

const WaveTimes* times_of(const WaveModel& model, const TileShape& shape) {
  const auto found =
      std::find_if(model.tiles.begin(), model.tiles.end(), [&](const WaveTimes& times) {
        return times.BM == shape.BM && times.BN == shape.BN && times.cluster == shape.cluster;
      });
  return found == model.tiles.end() ? nullptr : &*found;
}

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
  Waves(const WaveModel& model, const WaveTimes& times, const GemmSize& size,
        const OddRows& odd_rows, const ElementBytes& bytes, const TileShape& shape,
        int multiprocessors)
      : model_(model),
        times_(times),
        workers_(std::max(multiprocessors / times.cluster, 1)),
        steps_(ceil_div(size.k, shape.BK)) {
    const std::int64_t rows = std::int64_t{shape.BM} * times.cluster;
    const std::int64_t tile_rows = ceil_div(size.m, rows);
    const std::int64_t tile_cols = ceil_div(size.n, shape.BN);
    const std::int64_t tiles = tile_rows * tile_cols;
    whole_ = tiles / workers_;
    left_ = tiles % workers_;
    // For each split, written by one block and read by another.
    part_bytes_ = 2.0 * sizeof(float) * static_cast<double>(left_) *
                  static_cast<double>(std::min(rows, size.m)) *
                  static_cast<double>(std::min<std::int64_t>(shape.BN, size.n));
    const auto elements = static_cast<double>(size.m + size.n) * static_cast<double>(size.k);
    const auto results = static_cast<double>(size.m) * static_cast<double>(size.n);
    traffic_ = model.byte * (bytes.in * elements + bytes.out * results);
    if (has_cut_lines(size.n, bytes.out * results, bytes.out)) {
      traffic_ += model.odd_result * static_cast<double>(tile_cols * size.m);
    }
    // Each column of tiles loads all of A, each row of clusters all of B.
    const auto odd_lines = static_cast<double>((odd_rows.a ? tile_cols * size.m : 0) +
                                               (odd_rows.b ? tile_rows * size.n : 0));
    odd_traffic_ = model.odd_byte * bytes.in * odd_lines * static_cast<double>(size.k);
  }

  /// The number of splits with the shortest time.
  int best_parts() const {
    if (left_ == 0) return 1;
    const std::int64_t most = std::min(workers_ / left_, steps_);
    if (most < 2) return 1;
    // The optimum: the time of the k-blocks falls as fast as that of the exchange grows.
    const double ideal = std::sqrt(static_cast<double>(steps_) * times_.step * model_.idle_share /
                                   (model_.shared_byte * part_bytes_ + model_.part));
    const int parts = static_cast<int>(std::clamp(ideal + 0.5, 2.0, static_cast<double>(most)));
    return microseconds(parts) < microseconds(1) ? parts : 1;
  }

  /// The time of a launch, except for the constant part; its last wave has this many splits.
  double microseconds(int parts) const {
    const double busy = static_cast<double>(left_ * parts) / static_cast<double>(workers_);
    const double last = left_ == 0 ? 0
                                   : static_cast<double>(ceil_div(steps_, parts)) *
                                         (model_.idle_share + (1 - model_.idle_share) * busy);
    const double waves = static_cast<double>(whole_ + (left_ > 0 ? 1 : 0));
    const double work =
        times_.step * (static_cast<double>(whole_ * steps_) + last) + times_.tile * waves;
    const double exchange =
        parts == 1 ? 0 : model_.meeting + parts * (model_.part + model_.shared_byte * part_bytes_);
    // None hides the others completely.
    return std::sqrt(std::hypot(work * work, traffic_ * traffic_, odd_traffic_ * odd_traffic_)) +
           exchange;
  }

 private:
  /// Whether tiles end within lines of C, whose other parts L2 does not wait for, as C is larger. Rows
  /// follow one another.
  static bool has_cut_lines(std::int64_t n, double bytes_of_c, double bytes_of_result) {
    constexpr double stays_in_l2 = 40e6;
    constexpr std::int64_t line = 128;
    return bytes_of_c > stays_in_l2 && n * static_cast<std::int64_t>(bytes_of_result) % line != 0;
  }

  const WaveModel& model_;
  const WaveTimes& times_;
  std::int64_t workers_;  // blocks, or clusters
  std::int64_t steps_;
  std::int64_t whole_ = 0, left_ = 0;  // waves, and tiles in the last one
  double part_bytes_ = 0, traffic_ = 0, odd_traffic_ = 0;
};

}  // namespace

double predicted_microseconds(const WaveModel& model, const GemmRung& rung, Dtype dtype,
                              const GemmSize& size, const GemmConfig& config, const Limits& limits,
                              const OddRows& odd_rows) {
  const TileShape& tile = tiles_of(rung, dtype)[static_cast<std::size_t>(config.tile)];
  const WaveTimes* const times = times_of(model, tile);
  if (times == nullptr) return std::numeric_limits<double>::infinity();
  return Waves(model, *times, size, odd_rows, bytes_of(dtype), tile, limits.multiprocessors)
      .microseconds(config.splits);
}

WavePrediction predicted_splits(const WaveModel& model, const TileShape& tile, Dtype dtype,
                                const GemmSize& size, bool may_split, int multiprocessors,
                                const OddRows& odd_rows) {
  const WaveTimes* const times = times_of(model, tile);
  if (times == nullptr) return {1, std::numeric_limits<double>::infinity()};
  const Waves waves(model, *times, size, odd_rows, bytes_of(dtype), tile, multiprocessors);
  const int splits = may_split ? waves.best_parts() : 1;
  return {splits, waves.microseconds(splits)};
}

std::optional<GemmConfig> predicted_config(const WaveModel& model, const GemmRung& rung,
                                           Dtype dtype, const GemmSize& size, const Limits& limits,
                                           const OddRows& odd_rows) {
  std::optional<GemmConfig> best;
  double best_time = 0;
  const auto tiles = tiles_of(rung, dtype);
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const bool may_split = rung.splits && limits.workspace_bytes >= 0;
    const auto [splits, expected] =
        predicted_splits(model, tiles[i], dtype, size, may_split, limits.multiprocessors, odd_rows);
    if (std::isinf(expected)) continue;
    const GemmConfig config = {static_cast<int>(i), splits};
    if (best && expected >= best_time) continue;
    if (!why_not(rung, dtype, size, config, limits).empty()) continue;
    best = config;
    best_time = expected;
  }
  return best;
}

}  // namespace rung::cuda
