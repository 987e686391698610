#include "tools/report/random_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "backends/rungs/cuda.hpp"
#include "core/compute_mode.hpp"
#include "core/dtype.hpp"
#include "tools/measure/random/ratio_statistics.hpp"
#include "tools/report/random_json.hpp"
#include "tools/report/table.hpp"

namespace rung {
namespace {

constexpr std::size_t worst_shown = 10;

std::string with_two_decimals(double value) { return fmt::format("{:.2f}", value); }

std::string kind_of(Dtype dtype, bool a_transposed, bool b_transposed) {
  return fmt::format("{} {}", name(dtype), layout_name(a_transposed, b_transposed));
}

std::string kind_of(const RandomResult& result) {
  return kind_of(result.dtype, result.a_transposed, result.b_transposed);
}

/// The positive values of `value` for the results of a data type and layout.
template <class Value>
std::vector<double> collect(std::span<const RandomResult> results, const std::string& kind,
                            const Value& value) {
  std::vector<double> values;
  for (const RandomResult& result : results) {
    if (kind_of(result) == kind && value(result) > 0) values.push_back(value(result));
  }
  return values;
}

std::vector<std::string> cells_of(const RatioStatistics& ratios) {
  if (ratios.count == 0) return {"-", "-", "-", "-", "-"};
  return {with_two_decimals(ratios.geometric_mean), with_two_decimals(ratios.median),
          with_two_decimals(ratios.fifth_percentile), with_two_decimals(ratios.worst),
          std::to_string(ratios.below)};
}

std::string statistics_table(const RandomRequest& request, std::span<const RandomResult> results) {
  const bool has_regret = request.has_regret();
  std::vector<std::string> headings = {
      "", "shapes", "geomean", "median", "5th pct", "worst", fmt::format("< {}", ratio_limit)};
  if (has_regret) headings.insert(headings.end(), {"regret", "95th pct"});
  Table table(headings);
  for (const Dtype dtype : request.dtypes) {
    for (const Layout& layout : request.layouts) {
      const std::string kind = kind_of(dtype, layout.a_transposed, layout.b_transposed);
      const auto timed = collect(results, kind, [](const auto& result) { return result.seconds; });
      std::vector<std::string> cells = {kind, std::to_string(timed.size())};
      const auto ratios = cells_of(ratio_statistics(
          collect(results, kind, [](const auto& result) { return result.ratio(); })));
      cells.insert(cells.end(), ratios.begin(), ratios.end());
      const RegretStatistics regret = regret_statistics(
          collect(results, kind, [](const auto& result) { return result.regret; }));
      if (has_regret) {
        cells.push_back(regret.count == 0 ? "-" : fmt::format("{:.3f}", regret.geometric_mean));
        cells.push_back(regret.count == 0 ? "-"
                                          : fmt::format("{:.3f}", regret.ninety_fifth_percentile));
      }
      table.add_row(std::move(cells));
    }
  }
  return table.str();
}

/// The number of a rung, the name of a kernel of the library.
std::string short_name(std::string_view rung) {
  const std::string_view slug = rung.substr(rung.rfind('/') + 1);
  const bool is_numbered = slug.front() >= '0' && slug.front() <= '9';
  return std::string(is_numbered ? slug.substr(0, slug.find('_')) : slug);
}

std::string plan_text(std::string_view rung, Dtype dtype, const cuda::GemmConfig& config) {
  if (cuda::find_gemm_rung(rung) == nullptr) return std::string(rung.substr(rung.rfind('/') + 1));
  return fmt::format("{}: {}", short_name(rung), describe_plan(rung, dtype, config));
}

/// Empty if a call uses a single CPU thread.
std::string threads_text(int threads) {
  return threads > 1 ? fmt::format(", {} threads", threads) : "";
}

std::vector<const RandomResult*> worst_of(std::span<const RandomResult> results, bool by_ratio) {
  std::vector<const RandomResult*> worst;
  for (const RandomResult& result : results) {
    if ((by_ratio ? result.ratio() : result.regret) > 0) worst.push_back(&result);
  }
  std::stable_sort(worst.begin(), worst.end(), [&](const auto* a, const auto* b) {
    return by_ratio ? a->ratio() < b->ratio() : a->regret > b->regret;
  });
  if (worst.size() > worst_shown) worst.resize(worst_shown);
  return worst;
}

std::string worst_table(const RandomRequest& request, const std::vector<const RandomResult*>& worst,
                        bool by_ratio) {
  std::string text =
      fmt::format("\nthe {} worst shapes, and the plan that the library chose:\n", worst.size());
  Table table(
      {"", "time", by_ratio ? "ratio" : "regret", request.gpu == nullptr ? "rung" : "rung: tile"});
  for (const RandomResult* result : worst) {
    const auto& [m, n, k] = result->size;
    table.add_row({fmt::format("{} {}x{}x{}", kind_of(*result), m, n, k),
                   format_seconds(result->seconds),
                   with_two_decimals(by_ratio ? result->ratio() : result->regret),
                   plan_text(result->plan.rung, result->dtype, result->plan.config) +
                       threads_text(result->plan.threads)});
    if (result->regret <= 1) continue;
    const PlanTime& best = result->plans[result->best_plan];
    table.add_row({"  best of all plans", format_seconds(best.seconds), "",
                   plan_text(best.rung, result->dtype, best.config)});
  }
  return text + table.str();
}

std::string threads_heading(int threads) {
  return fmt::format(", {} thread{}", threads, threads == 1 ? "" : "s");
}

std::string heading(const RandomRequest& request, bool has_ratios) {
  const char* const plural = request.count == 1 ? "" : "s";
  std::string text = request.sizes.empty()
                         ? fmt::format("{} random shape{} up to {}, seed {}\n", request.count,
                                       plural, request.limits.max_size, request.seed)
                         : fmt::format("{} shape{}\n", request.count, plural);
  if (request.compute_mode != ComputeMode::standard) {
    text.insert(text.size() - 1, fmt::format(", math = {}", name(request.compute_mode)));
  }
  if (request.beta != 0) text.insert(text.size() - 1, fmt::format(", beta = {}", request.beta));
  if (request.gpu == nullptr) text.insert(text.size() - 1, threads_heading(request.threads));
  if (has_ratios)
    text += "ratio: fastest peer's time over the library's (above 1: the library is faster)\n";
  if (request.has_regret()) {
    text += "regret: time of the chosen plan over that of the fastest, geometric mean\n";
  }
  return text;
}

}  // namespace

std::string random_table(const RandomRequest& request, std::span<const RandomResult> results) {
  const bool by_ratio = std::any_of(results.begin(), results.end(),
                                    [](const RandomResult& result) { return result.ratio() > 0; });
  std::string text = heading(request, by_ratio) + "\n" + statistics_table(request, results);
  const std::vector<const RandomResult*> worst = worst_of(results, by_ratio);
  if (!worst.empty()) text += worst_table(request, worst, by_ratio);
  return text;
}

}  // namespace rung
