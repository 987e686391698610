#include "backends/cuda/block_model.hpp"

#include <algorithm>
#include <cmath>

#include "backends/cuda/rungs.hpp"
#include "backends/cuda/tuned.hpp"
#include "core/integers.hpp"

namespace rung::cuda {
namespace {

/// The product of size.m x size.n in tiles of one size: `config.whole` of them in one part, k of the
/// others in `config.splits`.
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
    // The fourth root of the sum of fourth powers: neither hides the other completely.
    return model.launch + std::sqrt(std::hypot(work * work, memory * memory)) + exchange;
  }

 private:
  std::int64_t whole_;  // blocks that have a tile each
  int splits_;
  std::int64_t cut_;                // blocks that have a part of one
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

}  // namespace rung::cuda
