#include "tools/measure/random/ratio_statistics.hpp"

#include <algorithm>
#include <cmath>

#include "tools/measure/statistics.hpp"

namespace rung {
namespace {

double geometric_mean(std::span<const double> values) {
  double logs = 0;
  for (const double value : values) logs += std::log(value);
  return std::exp(logs / static_cast<double>(values.size()));
}

}  // namespace

RatioStatistics ratio_statistics(std::span<const double> ratios) {
  if (ratios.empty()) return {};
  const auto below =
      std::count_if(ratios.begin(), ratios.end(), [](double ratio) { return ratio < ratio_limit; });
  return {.count = ratios.size(),
          .geometric_mean = geometric_mean(ratios),
          .median = quantile(ratios, 0.5),
          .fifth_percentile = quantile(ratios, 0.05),
          .worst = *std::min_element(ratios.begin(), ratios.end()),
          .below = static_cast<std::size_t>(below)};
}

RegretStatistics regret_statistics(std::span<const double> regrets) {
  if (regrets.empty()) return {};
  return {.count = regrets.size(),
          .geometric_mean = geometric_mean(regrets),
          .ninety_fifth_percentile = quantile(regrets, 0.95)};
}

}  // namespace rung
