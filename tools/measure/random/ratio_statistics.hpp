#pragma once
// Statistics of the library's performance over a set of random shapes.

#include <cstddef>
#include <span>

namespace rung {

/// Statistics of ratios of the peer's time to the library's.
struct RatioStatistics {
  std::size_t count = 0;
  double geometric_mean = 0;
  double median = 0;
  double fifth_percentile = 0;
  double worst = 0;
  std::size_t below = 0;  // ratios less than ratio_limit
};

inline constexpr double ratio_limit = 0.9;

/// Ratios must be positive. All members are 0 if `ratios` is empty.
RatioStatistics ratio_statistics(std::span<const double> ratios);

/// Statistics of regrets: the time of the chosen plan divided by that of the fastest.
struct RegretStatistics {
  std::size_t count = 0;
  double geometric_mean = 0;
  double ninety_fifth_percentile = 0;
};

RegretStatistics regret_statistics(std::span<const double> regrets);

}  // namespace rung
