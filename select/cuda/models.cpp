#include "select/cuda/models.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "backends/rungs/cuda.hpp"
#include "core/integers.hpp"
#include "rung/types.hpp"
#include "select/cuda/tuned.hpp"

namespace rung::cuda {
namespace {

/// A product in tiles of one size. The first `config.whole` tiles have one block each, the others
/// `config.splits`.
class Blocks {
 public:
  Blocks(const GemmSize& size, const TileShape& tile, const GemmConfig& config, int element_bytes)
      : whole_(config.whole),
        splits_(config.splits),
        cut_((ceil_div(size.m, tile.BM) * ceil_div(size.n, tile.BN) - whole_) * splits_),
        steps_(ceil_div(size.k, tile.BK)),
        cut_steps_(ceil_div(steps_, splits_)),
        bytes_(element_bytes * (static_cast<double>(size.m) * static_cast<double>(size.k) +
                                static_cast<double>(size.k) * static_cast<double>(size.n) +
                                static_cast<double>(size.m) * static_cast<double>(size.n))),
        loaded_bytes_(static_cast<double>(element_bytes) *
                      static_cast<double>(whole_ * steps_ + cut_ * cut_steps_) *
                      (tile.BK * (tile.BM + tile.BN))),
        sum_bytes_(2.0 * element_bytes * static_cast<double>(cut_) * tile.BM * tile.BN) {}

  double microseconds(const BlockModel& model, const BlockTimes& times, Copies copies,
                      int multiprocessors) const {
    const auto kind = static_cast<std::size_t>(copies);
    const double slower = copies == Copies::fast ? 1 : times.slower[kind - 1];
    const std::int64_t wave = std::int64_t{times.resident} * multiprocessors;
    const auto of_blocks = [&](std::int64_t blocks, std::int64_t steps, bool follows) {
      const auto of_wave = [&](double resident) {
        return slower * static_cast<double>(steps) *
                   std::max(times.latency, resident * times.throughput) +
               times.overhead * std::sqrt(resident);
      };
      const std::int64_t left = blocks % wave;
      const double full = static_cast<double>(blocks / wave) * of_wave(times.resident);
      if (left == 0) return full;
      auto resident = static_cast<double>(ceil_div(left, multiprocessors));
      if (follows || blocks > wave) {
        const double mean = static_cast<double>(left) / multiprocessors;
        resident = std::max(resident, mean + model.excess * (1 - mean / times.resident));
      }
      return full + of_wave(resident);
    };
    const double work =
        of_blocks(whole_, steps_, false) + of_blocks(cut_, cut_steps_, whole_ >= wave);
    const double memory = bytes_ / model.memory + loaded_bytes_ / model.l2;
    const double exchange =
        splits_ == 1 ? 0 : model.meeting + model.part * splits_ + sum_bytes_ / model.exchange;
    // The fourth root of the sum of fourth powers: neither time hides the other completely.
    return model.launch + std::sqrt(std::hypot(work * work, memory * memory)) + exchange;
  }

 private:
  std::int64_t whole_;  // blocks with a whole tile each
  int splits_;
  std::int64_t cut_;                // blocks with a part of a tile
  std::int64_t steps_, cut_steps_;  // k-blocks of each
  double bytes_;                    // of A, B and C
  double loaded_bytes_;             // of all tiles of A and B
  double sum_bytes_;                // of partial sums, written and read
};

}  // namespace

double predicted_microseconds(const BlockModel& model, const GemmRung& rung, const GemmSize& size,
                              Copies copies, const GemmConfig& config, const Limits& limits) {
  const auto tile = static_cast<std::size_t>(config.tile);
  const auto element = static_cast<int>(input_bytes(model.dtype));
  return Blocks(size, tiles_of(rung, model.dtype)[tile], config, element)
      .microseconds(model, model.tiles[tile], copies, limits.multiprocessors);
}

std::optional<GemmConfig> predicted_config(const BlockModel& model, const GemmRung& rung,
                                           const GemmSize& size, Copies copies,
                                           const Limits& limits) {
  std::optional<GemmConfig> best;
  double best_time = 0;
  const auto tiles = tiles_of(rung, model.dtype);
  for (std::size_t i = 0; i < std::min(tiles.size(), model.tiles.size()); ++i) {
    const int places = model.tiles[i].resident * limits.multiprocessors;
    for (const GemmConfig& config :
         configs_of_tile(rung, model.dtype, size, static_cast<int>(i), places, limits)) {
      const double expected = predicted_microseconds(model, rung, size, copies, config, limits);
      if (best && expected >= best_time) continue;
      if (!why_not(rung, model.dtype, size, config, limits).empty()) continue;
      best = config;
      best_time = expected;
    }
  }
  return best;
}

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

/// A product in tiles of one size.
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
    // One block writes them and another reads them, for each split.
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
    // No time hides the others completely.
    return std::sqrt(std::hypot(work * work, traffic_ * traffic_, odd_traffic_ * odd_traffic_)) +
           exchange;
  }

 private:
  /// True if tiles end inside lines of a C that is larger than L2, which evicts these lines before their other part
  /// is written. Rows are contiguous.
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

namespace {

// The constants of the models in the order of their lines; the last one of a BlockModel is `excess`.
constexpr double BlockModel::* block_constants[] = {
    &BlockModel::launch, &BlockModel::memory,   &BlockModel::l2,   &BlockModel::meeting,
    &BlockModel::part,   &BlockModel::exchange, &BlockModel::copy, &BlockModel::packing};
constexpr double WaveModel::* wave_constants[] = {
    &WaveModel::idle_share, &WaveModel::meeting,  &WaveModel::part,      &WaveModel::shared_byte,
    &WaveModel::byte,       &WaveModel::odd_byte, &WaveModel::odd_result};

/// Reads line by line. Lines of tiles belong to the model before them.
class Reader {
 public:
  CostModels read(std::string_view text) {
    std::istringstream lines{std::string(text)};
    for (std::string line; std::getline(lines, line);) {
      if (line.empty() || line.front() == '#') continue;
      std::istringstream words(line);
      std::string kind, more;
      words >> kind;
      const bool is_right = take(kind, words);
      if (!is_right || words.fail() || words >> more) throw bad_line(line);
    }
    return std::move(models_);
  }

 private:
  bool take(const std::string& kind, std::istream& words) {
    if (kind == "launch") return take_launch(words);
    if (kind == "waves") return take_waves(words);
    if (kind != "tile") return false;
    if (in_waves_) return take_wave_tile(words);
    return !models_.blocks.empty() && take_block_tile(words);
  }

  bool take_launch(std::istream& words) {
    in_waves_ = false;
    BlockModel& model = models_.blocks.emplace_back();
    std::string dtype;
    words >> model.rung >> dtype;
    for (const auto constant : block_constants) words >> model.*constant;
    const auto known = parse_dtype(dtype);
    model.dtype = known.value_or(Dtype::f32);
    if (words.fail()) return false;
    words >> model.excess;
    if (words.fail() && words.eof()) {  // without it, as in older files
      words.clear();
      model.excess = 0;
    }
    return known && model.memory > 0 && model.l2 > 0 && model.exchange > 0 && model.packing > 0;
  }

  bool take_block_tile(std::istream& words) {
    BlockTimes& times = models_.blocks.back().tiles.emplace_back();
    words >> times.resident >> times.latency >> times.throughput >> times.overhead;
    for (double& factor : times.slower) words >> factor;
    return times.resident > 0;
  }

  bool take_waves(std::istream& words) {
    in_waves_ = true;
    WaveModel& model = models_.waves.emplace_back();
    words >> model.rung;
    for (const auto constant : wave_constants) words >> model.*constant;
    return model.byte > 0 && model.odd_byte >= 0 && model.odd_result >= 0;
  }

  bool take_wave_tile(std::istream& words) {
    WaveTimes& times = models_.waves.back().tiles.emplace_back();
    words >> times.BM >> times.BN >> times.cluster >> times.step >> times.tile;
    return times.BM > 0 && times.BN > 0 && times.cluster > 0;
  }

  static std::runtime_error bad_line(const std::string& line) {
    return std::runtime_error("'" + line +
                              "' is not a line of a cost model, as rung tune --quick writes it");
  }

  CostModels models_;
  bool in_waves_ = false;
};

template <class Models, class Is>
auto find_model(const Models& models, const Is& is) {
  const auto found = std::ranges::find_if(models, is);
  return found == models.end() ? nullptr : &*found;
}

}  // namespace

const BlockModel* CostModels::block_model(std::string_view rung, Dtype dtype) const {
  return find_model(
      blocks, [&](const BlockModel& model) { return model.dtype == dtype && model.rung == rung; });
}

const WaveModel* CostModels::wave_model(std::string_view rung) const {
  return find_model(waves, [&](const WaveModel& model) { return model.rung == rung; });
}

CostModels parse_cost_models(std::string_view text) { return Reader().read(text); }

std::string format_model(const BlockModel& model) {
  std::ostringstream lines;
  lines << "launch " << model.rung << ' ' << name(model.dtype);
  for (const auto constant : block_constants) lines << ' ' << model.*constant;
  lines << ' ' << model.excess << '\n';
  for (const BlockTimes& times : model.tiles) {
    lines << "tile " << times.resident << ' ' << times.latency << ' ' << times.throughput << ' '
          << times.overhead;
    for (const double factor : times.slower) lines << ' ' << factor;
    lines << '\n';
  }
  return std::move(lines).str();
}

std::string format_model(const WaveModel& model) {
  std::ostringstream lines;
  lines << "waves " << model.rung;
  for (const auto constant : wave_constants) lines << ' ' << model.*constant;
  lines << '\n';
  for (const WaveTimes& times : model.tiles) {
    lines << "tile " << times.BM << ' ' << times.BN << ' ' << times.cluster << ' ' << times.step
          << ' ' << times.tile << '\n';
  }
  return std::move(lines).str();
}

}  // namespace rung::cuda
