#include "backends/cuda/block_model.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <sstream>
#include <stdexcept>

#include "backends/cuda/rungs.hpp"
#include "backends/cuda/tuned.hpp"
#include "core/integers.hpp"

namespace rung::cuda {
namespace {

/// The product of size.m x size.n in tiles of one size, with k in so many parts.
class Blocks {
 public:
  Blocks(const GemmSize& size, const TileShape& tile, int splits, int element_bytes)
      : tiles_(ceil_div(size.m, tile.BM) * ceil_div(size.n, tile.BN)),
        splits_(splits),
        k_blocks_(ceil_div(ceil_div(size.k, tile.BK), splits)),
        bytes_(element_bytes * (static_cast<double>(size.m) * static_cast<double>(size.k) +
                                static_cast<double>(size.k) * static_cast<double>(size.n) +
                                static_cast<double>(size.m) * static_cast<double>(size.n))),
        loaded_bytes_(static_cast<double>(element_bytes) * static_cast<double>(count()) *
                      static_cast<double>(k_blocks_ * tile.BK) * (tile.BM + tile.BN)),
        sum_bytes_(2.0 * element_bytes * static_cast<double>(count()) * tile.BM * tile.BN) {}

  double microseconds(const BlockModel& model, const BlockTimes& times, bool fast_copies,
                      int multiprocessors) const {
    const std::int64_t wave = std::int64_t{times.resident} * multiprocessors;
    const double throughput = times.throughput * (fast_copies ? 1 : times.slow_copies);
    const auto of_wave = [&](double resident) {
      return static_cast<double>(k_blocks_) * std::max(times.latency, resident * throughput) +
             times.overhead * std::sqrt(resident);
    };
    const std::int64_t left = count() % wave;
    double work = static_cast<double>(count() / wave) * of_wave(times.resident);
    if (left > 0) work += of_wave(static_cast<double>(ceil_div(left, multiprocessors)));
    const double memory = bytes_ / model.memory + loaded_bytes_ / model.l2;
    const double exchange =
        splits_ == 1 ? 0 : model.meeting + model.part * splits_ + sum_bytes_ / model.exchange;
    // The fourth root of the sum of fourth powers: neither hides the other completely.
    return model.launch + std::sqrt(std::hypot(work * work, memory * memory)) + exchange;
  }

 private:
  std::int64_t count() const { return tiles_ * splits_; }

  std::int64_t tiles_;
  int splits_;
  std::int64_t k_blocks_;  // of a block
  double bytes_;           // of A, B and C
  double loaded_bytes_;    // of all tiles of A and B
  double sum_bytes_;       // of partial sums, written and read
};

std::runtime_error bad_line(const std::string& line) {
  return std::runtime_error("'" + line +
                            "' is not a line of a block model, as scripts/fit_block_model.py "
                            "writes it");
}

}  // namespace

std::vector<BlockModel> parse_block_models(std::string_view text) {
  std::vector<BlockModel> models;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "launch") {
      BlockModel& model = models.emplace_back();
      std::string dtype;
      words >> model.rung >> dtype >> model.launch >> model.memory >> model.l2 >> model.meeting >>
          model.part >> model.exchange;
      const auto known = parse_dtype(dtype);
      if (!known || !(model.memory > 0 && model.l2 > 0 && model.exchange > 0)) throw bad_line(line);
      model.dtype = *known;
    } else if (kind == "tile" && !models.empty()) {
      BlockTimes& times = models.back().tiles.emplace_back();
      words >> times.resident >> times.latency >> times.throughput >> times.overhead >>
          times.slow_copies;
      if (times.resident <= 0) throw bad_line(line);
    } else {
      throw bad_line(line);
    }
    if (std::string more; words.fail() || words >> more) throw bad_line(line);
  }
  return models;
}

bool has_fast_copies(std::string_view rung, const GemmCall& call) {
  const auto element = static_cast<std::int64_t>(input_bytes(call.dtype));
  const std::int64_t vector = 16 / element;
  const auto aligned = [&](const AnyMatrix<const void*>& matrix) {
    return matrix.row_stride * matrix.col_stride % vector == 0 &&
           reinterpret_cast<std::uintptr_t>(matrix.data) % 16 == 0;
  };
  // Rung 11 copies elements of A one by one, and vectors of B; see Way in load/async_tile.cuh.
  if (rung == "gemm/cuda/11_split_k") {
    return call.a.col_stride == 1 && call.b.col_stride == 1 && call.n % vector == 0 &&
           aligned(call.b);
  }
  return aligned(call.a) && aligned(call.b);
}

double predicted_microseconds(const BlockModel& model, const GemmRung& rung, const GemmSize& size,
                              bool fast_copies, const GemmConfig& config, const Limits& limits) {
  const auto tile = static_cast<std::size_t>(config.tile);
  const auto element = static_cast<int>(input_bytes(model.dtype));
  return Blocks(size, tiles_of(rung, model.dtype)[tile], config.splits, element)
      .microseconds(model, model.tiles[tile], fast_copies, limits.multiprocessors);
}

std::optional<GemmConfig> predicted_config(const BlockModel& model, const GemmRung& rung,
                                           const GemmSize& size, bool fast_copies,
                                           const Limits& limits) {
  std::optional<GemmConfig> best;
  double best_time = 0;
  const auto tiles = tiles_of(rung, model.dtype);
  for (std::size_t i = 0; i < std::min(tiles.size(), model.tiles.size()); ++i) {
    for (const int splits : split_counts(rung, size, tiles[i], limits)) {
      const GemmConfig config = {static_cast<int>(i), splits};
      const double expected =
          predicted_microseconds(model, rung, size, fast_copies, config, limits);
      if (best && expected >= best_time) continue;
      if (!why_not(rung, model.dtype, size, config, limits).empty()) continue;
      best = config;
      best_time = expected;
    }
  }
  return best;
}

}  // namespace rung::cuda
