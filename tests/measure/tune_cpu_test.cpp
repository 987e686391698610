// The fit of factors for the CPU's costs to measured times.

#include "tools/measure/tune_cpu.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace rung {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

TEST(FitCostFactors, AFactorIsWhatARungTakesBeyondItsCost) {
  // By the costs, rung 0 is the fastest, but it takes twice as long as they predict.
  const std::vector<CpuTuneSample> samples = {
      {.measured = {2, 1.5, 0, 0, 0, 0}, .expected = {1, 1.5, never, never, never, never}},
      {.measured = {8, 6, 0, 0, 0, 0}, .expected = {4, 6, never, never, never, never}}};
  const CpuTuneResult result = fit_cost_factors(samples);
  EXPECT_EQ(result.shapes, 2u);
  EXPECT_NEAR(result.factors[0], 2, 1e-12);
  EXPECT_NEAR(result.factors[1], 1, 1e-12);
  EXPECT_EQ(result.factors[5], 1);
  EXPECT_NEAR(result.regret_before, 2 / 1.5, 1e-12);
  EXPECT_NEAR(result.regret_after, 1, 1e-12);
}

TEST(FitCostFactors, FactorsThatDoNotHelpStayAtOne) {
  // Rung 0 takes longer than expected, but is the fastest in both shapes, so factors cannot help.
  const std::vector<CpuTuneSample> samples = {
      {.measured = {3, 3.2, 0, 0, 0, 0}, .expected = {1, 2, never, never, never, never}},
      {.measured = {3, 3.2, 0, 0, 0, 0}, .expected = {1, 2, never, never, never, never}}};
  const CpuTuneResult result = fit_cost_factors(samples);
  EXPECT_EQ(result.regret_before, 1);
  EXPECT_EQ(result.regret_after, 1);
  EXPECT_EQ(result.factors, (std::array<double, rungs_with_costs>{1, 1, 1, 1, 1, 1}));
}

TEST(FitCostFactors, NothingMeasuredChangesNothing) {
  const CpuTuneResult result = fit_cost_factors({});
  EXPECT_EQ(result.shapes, 0u);
  EXPECT_EQ(result.factors[0], 1);
  EXPECT_EQ(result.regret_after, 1);
}

}  // namespace
}  // namespace rung
