// Random shapes.

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tools/measure/random/ratio_statistics.hpp"
#include "tools/report/markdown/figures.hpp"
#include "tools/report/markdown/tables.hpp"

namespace rung::markdown {
namespace {

struct RandomGroup {
  Row key;
  std::vector<double> ratios;
  std::set<std::int64_t> seeds;
};

std::vector<RandomGroup> random_groups(const std::vector<RandomDraw>& draws, bool is_gpu) {
  std::vector<RandomGroup> groups;
  for (const RandomDraw& draw : draws) {
    const Row key =
        is_gpu ? Row{draw.dtype, draw.layout}
               : Row{draw.dtype, std::to_string(draw.threads), std::to_string(draw.max_size)};
    auto group = std::ranges::find(groups, key, &RandomGroup::key);
    if (group == groups.end()) group = groups.insert(groups.end(), RandomGroup{key, {}, {}});
    if (draw.ratio) group->ratios.push_back(*draw.ratio);
    group->seeds.insert(draw.seed);
  }
  return groups;
}

}  // namespace

std::string random(const Results& results) {
  if (results.random.empty()) throw std::runtime_error("no random shapes");
  const bool is_gpu = results.random.front().threads == 0;
  std::vector<Row> rows;
  for (const auto& [key, ratios, seeds] : random_groups(results.random, is_gpu)) {
    if (ratios.empty()) {
      throw std::runtime_error("no shape of " + key.front() + " was compared with a peer");
    }
    const RatioStatistics of = ratio_statistics(ratios);
    Row row = key;
    for (const double figure : {of.geometric_mean, of.median, of.fifth_percentile, of.worst}) {
      row.push_back(fmt::format("{:.2f}", figure));
    }
    row.push_back(std::to_string(of.count));
    if (is_gpu) row.push_back(std::to_string(seeds.size()));
    rows.push_back(std::move(row));
  }
  Row headings = is_gpu ? Row{"type", "layout"} : Row{"type", "threads", "up to"};
  headings.insert(headings.end(),
                  {"geometric mean", "median", "5th percentile", "worst", "shapes"});
  if (is_gpu) headings.push_back("seeds");
  return table(headings, rows);
}

}  // namespace rung::markdown
