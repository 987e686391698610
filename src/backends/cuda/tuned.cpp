#include "backends/cuda/tuned.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "backends/cuda/embed.hpp"
#include "device/cuda/split.cuh"
#include "device/cuda/tile.cuh"

RUNG_EMBED(rung_tuned_nvidia_h200, RUNG_TUNED "/nvidia_h200.txt")

namespace rung::cuda {
namespace {

TunedShape parse_line(const std::string& line) {
  std::istringstream words(line);
  TunedShape tuned;
  std::string dtype;
  std::string more;
  words >> tuned.rung >> dtype >> tuned.m >> tuned.n >> tuned.k >> tuned.best.tile >>
      tuned.best.splits;
  const auto known = parse_dtype(dtype);
  const bool sane =
      tuned.m > 0 && tuned.n > 0 && tuned.k > 0 && tuned.best.tile >= 0 && tuned.best.splits > 0;
  if (!words || words >> more || !known || !sane) {
    throw std::runtime_error(
        fmt::format("'{}' is not 'RUNG DTYPE M N K TILE SPLITS', as rung tune writes it", line));
  }
  tuned.dtype = *known;
  return tuned;
}

/// "nvidia_h200"
std::string file_name(std::string_view device) {
  std::string name(device);
  for (char& c : name)
    c = std::isalnum(static_cast<unsigned char>(c)) ? static_cast<char>(std::tolower(c)) : '_';
  return name;
}

std::span<const TileShape> tiles_of(const GemmRung& rung, Dtype dtype) {
  return visit(dtype, [&]<class In, class Out>(Elements<In, Out>) { return rung.tiles.of<In>(); });
}

double distance(const TunedShape& tuned, const GemmCall& call) {
  const auto apart = [](std::int64_t a, std::int64_t b) {
    return std::abs(
        std::log2(static_cast<double>(a) / static_cast<double>(std::max<std::int64_t>(b, 1))));
  };
  return apart(tuned.m, call.m) + apart(tuned.n, call.n) + apart(tuned.k, call.k);
}

}  // namespace

std::vector<TunedShape> parse_tuned(std::string_view text) {
  std::istringstream lines{std::string(text)};
  std::vector<TunedShape> all;
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line.front() != '#') all.push_back(parse_line(line));
  }
  return all;
}

std::string format_tuned(const TunedShape& tuned) {
  return fmt::format("{} {} {} {} {} {} {}\n", tuned.rung, name(tuned.dtype), tuned.m, tuned.n,
                     tuned.k, tuned.best.tile, tuned.best.splits);
}

std::string tuned_path(std::string_view device) {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache != '\0') {
    return fmt::format("{}/rung/tuned/{}.txt", cache, file_name(device));
  }
  const char* const home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') return "";
  return fmt::format("{}/.cache/rung/tuned/{}.txt", home, file_name(device));
}

std::vector<TunedShape> tuned_for(std::string_view device) {
  std::vector<TunedShape> all;
  if (std::ifstream file(tuned_path(device)); file) {
    all = parse_tuned(std::string(std::istreambuf_iterator<char>(file), {}));
  }
  const auto ours = parse_tuned(RUNG_EMBEDDED(rung_tuned_nvidia_h200));
  all.insert(all.end(), ours.begin(), ours.end());
  return all;
}

std::string why_not(const GemmRung& rung, const GemmCall& call, const Configuration& configuration,
                    const Limits& limits) {
  const auto tiles = tiles_of(rung, call.dtype);
  const auto count = static_cast<int>(tiles.size());
  if (configuration.tile >= std::max(count, 1)) {
    return fmt::format("tile {}; there are {}", configuration.tile, std::max(count, 1));
  }
  if (configuration.splits > 1 && !rung.splits) return "does not split k";
  if (configuration.splits > limits.multiprocessors) {
    return fmt::format("{} parts of k; at most {}, one a multiprocessor, wait for each other",
                       configuration.splits, limits.multiprocessors);
  }
  if (count == 0) return "";
  const TileShape& tile = tiles[static_cast<std::size_t>(configuration.tile)];
  const std::int64_t blocks = ceil_div(call.m, tile.BM) * ceil_div(call.n, tile.BN);
  if (configuration.splits > 1 && blocks > most_meetings) {
    return fmt::format("parts of k for {} tiles; at most {} tiles may have them", blocks,
                       most_meetings);
  }
  if (tile.shared_bytes > limits.shared_bytes) {
    return fmt::format("{} bytes of shared memory; a block may have {}", tile.shared_bytes,
                       limits.shared_bytes);
  }
  return "";
}

Configuration configure(const GemmRung& rung, std::string_view id, const GemmCall& call,
                        const std::vector<TunedShape>& tuned, const Limits& limits) {
  const TunedShape* nearest = nullptr;
  for (const TunedShape& shape : tuned) {
    if (shape.rung != id || shape.dtype != call.dtype) continue;
    if (!why_not(rung, call, shape.best, limits).empty()) continue;
    if (nearest == nullptr || distance(shape, call) < distance(*nearest, call)) nearest = &shape;
  }
  if (nearest == nullptr) return {};
  const std::int64_t BK =
      tiles_of(rung, call.dtype)[static_cast<std::size_t>(nearest->best.tile)].BK;
  const std::int64_t steps = std::max<std::int64_t>(ceil_div(call.k, BK), 1);
  return {nearest->best.tile,
          static_cast<int>(std::min<std::int64_t>(nearest->best.splits, steps))};
}

std::vector<Configuration> configurations(const GemmRung& rung, const GemmCall& call,
                                          const Limits& limits) {
  std::vector<Configuration> all;
  const auto tiles = tiles_of(rung, call.dtype);
  for (int i = 0; i < static_cast<int>(tiles.size()); ++i) {
    const TileShape& tile = tiles[static_cast<std::size_t>(i)];
    const std::int64_t count = ceil_div(call.m, tile.BM) * ceil_div(call.n, tile.BN);
    // Four blocks for each multiprocessor are more than find room; a part has eight tiles of k.
    const std::int64_t most =
        std::min({4 * limits.multiprocessors / std::max<std::int64_t>(count, 1),
                  call.k / (8 * tile.BK), std::int64_t{limits.multiprocessors}});
    for (int splits : {1, 2, 3, 4, 5, 6, 8, 11, 16, 22, 33, 44, 66, 132}) {
      if (splits > std::max<std::int64_t>(most, 1)) break;
      if (why_not(rung, call, {i, splits}, limits).empty()) all.push_back({i, splits});
    }
  }
  return all;
}

}  // namespace rung::cuda
