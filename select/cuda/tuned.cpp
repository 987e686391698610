#include "select/cuda/tuned.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "backends/rungs/cuda.hpp"
#include "backends/rungs/kernel_name.hpp"
#include "core/dtype.hpp"
#include "core/embed.hpp"
#include "core/former_ids.hpp"
#include "core/integers.hpp"
#include "core/tuned_path.hpp"
#include "device/cuda/entry/launch.hpp"
#include "select/cuda/operands.hpp"

RUNG_EMBED(rung_tuned_nvidia_h200, RUNG_TUNED "/nvidia_h200.txt")
RUNG_EMBED(rung_models_nvidia_h200, RUNG_TUNED "/nvidia_h200_models.txt")

namespace rung::cuda {
namespace {

TunedShape parse_line(const std::string& line) {
  std::istringstream words(line);
  TunedShape tuned;
  std::string dtype;
  words >> tuned.rung >> dtype >> tuned.size.m >> tuned.size.n >> tuned.size.k >>
      tuned.config.tile >> tuned.config.splits;
  const bool complete = !words.fail();
  if (complete && !(words >> tuned.config.whole) && words.eof()) tuned.config.whole = 0;
  std::string more;
  const auto known = parse_dtype(dtype);
  const bool sane = tuned.size.m > 0 && tuned.size.n > 0 && tuned.size.k > 0 &&
                    tuned.config.tile >= 0 && tuned.config.splits > 0 && tuned.config.whole >= 0;
  if (!complete || (!words.eof() && (words.fail() || words >> more)) || !known || !sane) {
    throw std::runtime_error(
        "'" + line + "' is not 'RUNG DTYPE M N K TILE SPLITS [WHOLE]', as rung tune writes it");
  }
  tuned.rung = current_id(tuned.rung);
  tuned.dtype = *known;
  return tuned;
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

/// A file of the user's cache, parsed; an empty result if it is not valid.
template <class Parse>
auto cached(const std::string& path, const Parse& parse) {
  try {
    return parse(text_of(path));
  } catch (const std::runtime_error&) {
    return decltype(parse("")){};
  }
}

std::int64_t tiles_in(const GemmSize& size, const TileShape& tile) {
  return ceil_div(size.m, tile.BM) * ceil_div(size.n, tile.BN);
}

double distance(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  return std::abs(a[0] - b[0]) + std::abs(a[1] - b[1]) + std::abs(a[2] - b[2]);
}

/// True if two shapes have the same number of tiles in each dimension, and of k-blocks.
bool is_as_many_tiles(const GemmSize& a, const GemmSize& b, std::span<const TileShape> kinds) {
  return std::all_of(kinds.begin(), kinds.end(), [&](const TileShape& tile) {
    return ceil_div(a.m, tile.BM) == ceil_div(b.m, tile.BM) &&
           ceil_div(a.n, tile.BN) == ceil_div(b.n, tile.BN) &&
           ceil_div(a.k, tile.BK) == ceil_div(b.k, tile.BK);
  });
}

/// True if the rung chooses its configurations itself.
bool chooses(const GemmRung& rung, Dtype dtype) {
  return visit(dtype, [&]<class In, class Out>(Elements<In, Out>) {
    return rung.choices.of<In, Out>() != nullptr;
  });
}

/// Appends copies of `config` with the split counts worth considering for `cut` tiles of a shape.
void add_splits(std::vector<GemmConfig>& configs, const GemmRung& rung, const GemmSize& size,
                const TileShape& tile, std::int64_t cut, GemmConfig config, int places,
                const Limits& limits) {
  static constexpr int parts[] = {2, 3, 4, 5, 6, 8, 11, 16, 22, 33, 44, 66, 132};
  if (rung.maps && cut % limits.multiprocessors > 0) cut %= limits.multiprocessors;
  cut = std::max<std::int64_t>(cut, 1);
  // Measurements never favored more than eight blocks per SM or fewer than four k-blocks per split.
  // Persistent kernels have one block per SM.
  const int blocks = rung.maps ? 1 : 8;
  const std::int64_t most =
      std::min<std::int64_t>(blocks * limits.multiprocessors / cut, size.k / (4 * tile.BK));
  std::vector<std::int64_t> counts(std::begin(parts), std::end(parts));
  // The numbers that fill one, two or three waves.
  for (int waves = 1; waves <= 3; ++waves) counts.push_back(waves * places / cut);
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  for (const std::int64_t splits : counts) {
    if (splits < 2 || splits > most) continue;
    config.splits = static_cast<int>(splits);
    configs.push_back(config);
  }
}

bool is_comment(const std::string& line) { return line.empty() || line.front() == '#'; }

bool is_same_problem(const TunedShape& a, const TunedShape& b) {
  const auto all = [](const TunedShape& shape) {
    return std::tie(shape.rung, shape.dtype, shape.size.m, shape.size.n, shape.size.k);
  };
  return all(a) == all(b);
}

auto key(const TunedShape& shape) { return std::pair(std::string_view(shape.rung), shape.dtype); }

}  // namespace

std::string why_not(const GemmRung& rung, Dtype dtype, const GemmSize& size,
                    const GemmConfig& config, const Limits& limits) {
  const auto tiles = tiles_of(rung, dtype);
  const auto numbered = std::max<std::size_t>(tiles.size(), 1);
  if (config.tile < 0 || static_cast<std::size_t>(config.tile) >= numbered) {
    return "tile " + std::to_string(config.tile) + " of " + std::to_string(numbered);
  }
  if (config.splits > 1 && !rung.splits) return "does not split k";
  if (config.splits > 1 && limits.workspace_bytes < 0) return "may not split k";
  if (config.splits > limits.multiprocessors) {
    return std::to_string(config.splits) + " splits of k must be resident at once; at most " +
           std::to_string(limits.multiprocessors) + " can be, one per SM";
  }
  if (tiles.empty()) return "";
  const TileShape& tile = tiles[static_cast<std::size_t>(config.tile)];
  // A rung with tensor maps cuts only the last wave.
  if (config.splits > 1 && !rung.maps) {
    const std::int64_t cut = tiles_in(size, tile) - config.whole;
    if (cut <= 0) {
      return std::to_string(config.whole) + " whole tiles of " +
             std::to_string(tiles_in(size, tile)) + " leave none to cut";
    }
    if (cut > max_semaphores) {
      return "parts of k in " + std::to_string(cut) + " tiles; at most " +
             std::to_string(max_semaphores) + " tiles may have them";
    }
    const auto sum_bytes = static_cast<std::int64_t>(output_bytes(dtype));
    const std::int64_t needed =
        semaphores_bytes + cut * config.splits * tile.BM * tile.BN * sum_bytes;
    if (needed > limits.workspace_bytes) {
      return "partial sums of " + std::to_string(needed) + " bytes; the workspace has " +
             std::to_string(limits.workspace_bytes);
    }
  }
  if (tile.shared_bytes > limits.shared_bytes) {
    return std::to_string(tile.shared_bytes) + " bytes of shared memory; a block may have " +
           std::to_string(limits.shared_bytes);
  }
  return "";
}

std::vector<GemmConfig> configs_of_tile(const GemmRung& rung, Dtype dtype, const GemmSize& size,
                                        int tile, int places, const Limits& limits) {
  std::vector<GemmConfig> all = {{.tile = tile}};
  if (!rung.splits) return all;
  const TileShape& shape = tiles_of(rung, dtype)[static_cast<std::size_t>(tile)];
  const std::int64_t tiles = tiles_in(size, shape);
  add_splits(all, rung, size, shape, tiles, {.tile = tile}, places, limits);
  if (places <= 0) return all;
  for (std::int64_t whole = tiles / places * places; whole > 0 && whole + 2 * places > tiles;
       whole -= places) {
    if (whole == tiles || whole > std::numeric_limits<int>::max()) continue;
    add_splits(all, rung, size, shape, tiles - whole,
               {.tile = tile, .whole = static_cast<int>(whole)}, places, limits);
  }
  return all;
}

Configs configs(const GemmRung& rung, Dtype dtype, const GemmSize& size, const Limits& limits,
                const BlockModel* model) {
  Configs all;
  if (chooses(rung, dtype)) return all;
  const auto tiles = tiles_of(rung, dtype);
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const int places = model == nullptr ? 0 : model->tiles[i].resident * limits.multiprocessors;
    for (const GemmConfig& config :
         configs_of_tile(rung, dtype, size, static_cast<int>(i), places, limits)) {
      const std::string reason = why_not(rung, dtype, size, config, limits);
      if (reason.empty()) {
        all.possible.push_back(config);
      } else {
        ++all.refused[reason];
      }
    }
  }
  return all;
}

std::vector<TunedShape> parse_tuned(std::string_view text) {
  std::istringstream lines{std::string(text)};
  std::vector<TunedShape> all;
  for (std::string line; std::getline(lines, line);) {
    if (!is_comment(line)) all.push_back(parse_line(line));
  }
  return all;
}

std::string format_tuned(const TunedShape& tuned) {
  std::ostringstream line;
  line << tuned.rung << ' ' << name(tuned.dtype) << ' ' << tuned.size.m << ' ' << tuned.size.n
       << ' ' << tuned.size.k << ' ' << tuned.config.tile << ' ' << tuned.config.splits;
  if (tuned.config.whole > 0) line << ' ' << tuned.config.whole;
  line << '\n';
  return line.str();
}

std::string merge_tuned(std::string_view text, const TunedShape& tuned) {
  std::istringstream lines{std::string(text)};
  std::string merged;
  bool is_there = false;
  for (std::string line; std::getline(lines, line);) {
    if (is_comment(line) || !is_same_problem(parse_line(line), tuned)) {
      merged += line + '\n';
    } else if (!is_there) {
      merged += format_tuned(tuned);
      is_there = true;
    }
  }
  return is_there ? merged : merged + format_tuned(tuned);
}

TunedConfigs::Logs TunedConfigs::logs_of(const GemmSize& size) {
  const auto log = [](std::int64_t extent) { return std::log2(static_cast<double>(extent)); };
  return {log(size.m), log(size.n), log(size.k)};
}

TunedConfigs::TunedConfigs(std::vector<TunedShape> shapes, CostModels models)
    : models_(std::move(models)) {
  for (TunedShape& shape : shapes) {
    const Logs logs = logs_of(shape.size);
    entries_.push_back({std::move(shape), logs});
  }
  std::stable_sort(entries_.begin(), entries_.end(),
                   [](const auto& a, const auto& b) { return key(a.shape) < key(b.shape); });
}

TunedConfigs TunedConfigs::of_device(std::string_view name) {
  std::vector<TunedShape> all = cached(tuned_path(name), parse_tuned);
  const auto ours = parse_tuned(RUNG_EMBEDDED(rung_tuned_nvidia_h200));
  all.insert(all.end(), ours.begin(), ours.end());
  CostModels models = cached(models_path(name), parse_cost_models);
  const CostModels ours_too = parse_cost_models(RUNG_EMBEDDED(rung_models_nvidia_h200));
  // The first model of a rung and type counts.
  models.blocks.insert(models.blocks.end(), ours_too.blocks.begin(), ours_too.blocks.end());
  models.waves.insert(models.waves.end(), ours_too.waves.begin(), ours_too.waves.end());
  return TunedConfigs(std::move(all), std::move(models));
}

std::span<const TunedConfigs::Entry> TunedConfigs::of(std::string_view id, Dtype dtype) const {
  const auto wanted = std::pair(id, dtype);
  const auto begin =
      std::partition_point(entries_.begin(), entries_.end(),
                           [&](const Entry& entry) { return key(entry.shape) < wanted; });
  const auto end = std::partition_point(
      begin, entries_.end(), [&](const Entry& entry) { return key(entry.shape) == wanted; });
  return {begin, end};
}

GemmConfig TunedConfigs::nearest(const GemmRung& rung, std::string_view id, Dtype dtype,
                                 const GemmSize& size, const Limits& limits, Copies copies,
                                 const OddRows& odd_rows) const {
  const GemmSize wanted = {std::max<std::int64_t>(size.m, 1), std::max<std::int64_t>(size.n, 1),
                           std::max<std::int64_t>(size.k, 1)};
  const Logs logs = logs_of(wanted);
  const TunedShape* found = nullptr;
  double found_distance = 0;
  const BlockModel* const blocks = models_.block_model(id, dtype);
  const WaveModel* const waves = models_.wave_model(id);
  const bool is_modelled = blocks != nullptr || waves != nullptr;
  const auto tiles = tiles_of(rung, dtype);
  for (const auto& [shape, its_logs] : of(id, dtype)) {
    if (is_modelled && !is_as_many_tiles(shape.size, wanted, tiles)) continue;
    const double here = distance(its_logs, logs);
    if (found != nullptr && here >= found_distance) continue;
    if (!why_not(rung, dtype, wanted, shape.config, limits).empty()) continue;
    found = &shape;
    found_distance = here;
  }
  if (found == nullptr && is_modelled) {
    const auto config = blocks != nullptr
                            ? predicted_config(*blocks, rung, wanted, copies, limits)
                            : predicted_config(*waves, rung, dtype, wanted, limits, odd_rows);
    return config.value_or(GemmConfig{});
  }
  if (found == nullptr) return {};
  const std::int64_t steps =
      ceil_div(wanted.k, tiles[static_cast<std::size_t>(found->config.tile)].BK);
  return {found->config.tile, static_cast<int>(std::min<std::int64_t>(found->config.splits, steps)),
          found->config.whole};
}

GemmConfig TunedConfigs::best(const GemmRung& rung, std::string_view id, const GemmCall& call,
                              const Limits& limits) const {
  const auto chosen = visit(call.dtype, [&]<class In, class Out>(Elements<In, Out>) {
    const auto choice = rung.choices.of<In, Out>();
    return choice == nullptr ? std::nullopt
                             : std::optional(choice(call.typed<In, Out>(), limits.multiprocessors));
  });
  if (chosen) return *chosen;
  const GemmSize size = {call.m, call.n, call.k};
  const auto in_place =
      nearest(rung, id, call.dtype, size, limits, copies_of(rung, call), odd_rows_of(call));
  return packed(rung, id, call, in_place, limits).value_or(in_place);
}

ConfiguredGemm TunedConfigs::faster(const ConfiguredGemm& gemm, ConfiguredGemm rival,
                                    const GemmCall& call, const Limits& limits) const {
  const WaveModel* const model = models_.wave_model(gemm.id);
  const WaveModel* const of_rival = models_.wave_model(rival.id);
  if (model == nullptr || of_rival == nullptr) return gemm;
  const GemmSize size = {call.m, call.n, call.k};
  const OddRows odd_rows = odd_rows_of(call);
  const auto config = predicted_config(*of_rival, *rival.rung, call.dtype, size, limits, odd_rows);
  if (!config) return gemm;
  rival.config = *config;
  const TileShape& tile = tiles_of(*rival.rung, call.dtype)[static_cast<std::size_t>(config->tile)];
  if (tiles_in(size, tile) <= limits.multiprocessors) return gemm;
  const auto expected = [&](const WaveModel& waves, const ConfiguredGemm& any) {
    return predicted_microseconds(waves, *any.rung, call.dtype, size, any.config, limits, odd_rows);
  };
  return expected(*of_rival, rival) < expected(*model, gemm) ? rival : gemm;
}

std::optional<GemmConfig> TunedConfigs::packed(const GemmRung& rung, std::string_view id,
                                               const GemmCall& call, const GemmConfig& in_place,
                                               const Limits& limits) const {
  const BlockModel* const model = models_.block_model(id, call.dtype);
  if (model == nullptr || !limits.may_pack) return std::nullopt;
  const auto packing = packing_for_fast_copies(rung, call);
  if (!packing) return std::nullopt;
  const GemmSize size = {call.m, call.n, call.k};
  GemmConfig config = nearest(rung, id, call.dtype, size, limits);
  const auto expected = [&](const GemmConfig& any, Copies copies) {
    return predicted_microseconds(*model, rung, size, copies, any, limits);
  };
  const double packs =
      packing->copies() * model->copy + packing_bytes(*packing, call) / model->packing;
  if (expected(config, Copies::fast) + packs >= expected(in_place, copies_of(rung, call))) {
    return std::nullopt;
  }
  config.pack_a = packing->a;
  config.pack_b = packing->b;
  return config;
}

}  // namespace rung::cuda
