// The advice names what the ladder's next rung removes, from counters alone.

#include "analysis/advice.hpp"

#include <gtest/gtest.h>

#include "ladder.hpp"

namespace rung::analysis {
namespace {

class LadderOf : public testing::TestWithParam<std::string> {
 protected:
  const Evidence& at(std::size_t rung) const { return ladder_[rung].evidence; }

  std::string remedy_of(const Finding& finding, std::size_t rung) const {
    const auto next = [&, i = rung]() mutable { return ++i < ladder_.size() ? &at(i) : nullptr; };
    return remedy(finding, at(rung), next);
  }

  const std::vector<Step>& ladder_ = ladder(GetParam());
};

TEST_P(LadderOf, EachRungsFirstCauseIsRemovedByTheNext) {
  constexpr Cause expected[] = {Cause::scattered_loads,    Cause::global_loads,
                                Cause::shared_loads,       Cause::shared_loads,
                                Cause::narrow_accesses,    Cause::bank_conflicts,
                                Cause::shared_memory_busy, Cause::exposed_global_loads,
                                Cause::staging_registers,  Cause::exposed_shared_loads,
                                Cause::few_tiles};
  ASSERT_GT(ladder_.size(), std::size(expected));
  for (std::size_t i = 0; i < std::size(expected); ++i) {
    const std::vector<Finding> found = findings(at(i));
    ASSERT_FALSE(found.empty()) << at(i).id;
    EXPECT_EQ(name(found.front().cause), name(expected[i])) << at(i).id;
    EXPECT_EQ(remedy_of(found.front(), i), at(i + 1).id) << found.front().detail;
    for (const Finding& finding : found) {
      if (finding.cause == Cause::exposed_global_loads ||
          finding.cause == Cause::exposed_shared_loads) {
        EXPECT_LT(finding.value, finding.threshold) << at(i).id;
      } else {
        EXPECT_GE(finding.value, finding.threshold) << at(i).id;
      }
    }
  }
}

// The model of the machine is not far from what an H200 took, and never slower.
TEST_P(LadderOf, NoRungIsFasterThanItsBound) {
  for (const Step& step : ladder_) {
    const Evidence& evidence = step.evidence;
    const MeasuredRun* run =
        built_in_results().find(evidence.id, Dtype::f32, 4096, 4096, 4096, "H200");
    if (run == nullptr) continue;
    EXPECT_LE(evidence.roofline.seconds(), 1.01 * run->seconds) << evidence.id;
    EXPECT_GE(evidence.roofline.seconds(), 0.4 * run->seconds) << evidence.id;
  }
}

TEST_P(LadderOf, DetailsNameTheLineOfTheAccess) {
  const auto detail = [&](std::size_t rung) { return findings(at(rung)).front().detail; };
  EXPECT_EQ(detail(0).find("a warp's load at 00_naive.cu:"), 0u) << detail(0);
  EXPECT_NE(detail(0).find(" touches 32 sectors, where 4 would hold the bytes"), std::string::npos)
      << detail(0);
  EXPECT_NE(detail(5).find("takes 8 wavefronts, of which 4 are for bank conflicts"),
            std::string::npos)
      << detail(5);
}

INSTANTIATE_TEST_SUITE_P(Gemm, LadderOf, testing::ValuesIn(front_ends()),
                         [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace rung::analysis
