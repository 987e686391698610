#pragma once
// What a set of random shapes says about the library.

#include <cstddef>
#include <span>

namespace rung {

/// Of ratios: peer time over the library's.
struct RatioStatistics {
  std::size_t count = 0;
  double geometric_mean = 0;
  double median = 0;
  double fifth_percentile = 0;
  double worst = 0;
  std::size_t below = 0;  // ratios under ratio_limit
};

inline constexpr double ratio_limit = 0.9;

/// All 0 if there are no ratios; they must be positive.
RatioStatistics ratio_statistics(std::span<const double> ratios);

/// Of regrets: the time of the chosen plan over that of the fastest.
struct RegretStatistics {
  std::size_t count = 0;
  double geometric_mean = 0;
  double ninety_fifth_percentile = 0;
};

RegretStatistics regret_statistics(std::span<const double> regrets);

}  // namespace rung
