// The advice names the cause that the next rung of the ladder removes, from counters alone.

#include "tools/analysis/advice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "ladder.hpp"
#include "tools/analysis/vector_sample.hpp"

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

// No rung measured on an H200 ran faster than the model's bound, and the bound is within a factor
// of 5.
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

TEST_P(LadderOf, OperandsOfThreadsAreCountedAndThoseOfTensorCoresAreNot) {
  const auto operands = [](const Step& step) {
    const Roofline& roofs = step.evidence.roofline;
    return roofs.levels.front().flops_per_byte(roofs.flops);
  };
  for (const Step& step : ladder_) {
    const bool by_threads = !step.evidence.uses_matrix_units();
    EXPECT_DOUBLE_EQ(operands(step), by_threads ? 2.0 / 16 : 0) << step.evidence.id;
  }
  for (const Step& step : ladder(GetParam(), true)) EXPECT_EQ(operands(step), 0);
}

TEST_P(LadderOf, DetailsNameTheLineOfTheAccess) {
  const auto detail = [&](std::size_t rung) { return findings(at(rung)).front().detail; };
  EXPECT_EQ(detail(0).find("a warp's load at 00_naive.cu:"), 0u) << detail(0);
  EXPECT_NE(detail(0).find(" accesses 32 sectors; 4 would hold the bytes"), std::string::npos)
      << detail(0);
  EXPECT_NE(detail(5).find("takes 8 wavefronts, 4 of them because of bank conflicts"),
            std::string::npos)
      << detail(5);
}

/// A rung, a cause that it has, and the rung that removes the cause.
struct Removed {
  const char* rung;
  Cause cause;
  const char* by;
};

/// The number of a rung, such as "20", or the name of a kernel of the library.
std::string short_name(const std::string& id) {
  const std::string slug = id.substr(id.rfind('/') + 1);
  return slug.front() <= '9' ? slug.substr(0, 2) : slug;
}

/// Checks that the evidence of `removed.rung` has the cause and the next rung less of it. `ladder`
/// is in the ladder's order.
void expect_removed(const std::vector<const Evidence*>& ladder, const Removed& removed) {
  SCOPED_TRACE(removed.rung);
  const auto here = std::find_if(ladder.begin(), ladder.end(), [&](const Evidence* evidence) {
    return short_name(evidence->id) == removed.rung;
  });
  ASSERT_NE(here, ladder.end());
  const std::vector<Finding> found = findings(**here);
  const auto finding = std::find_if(found.begin(), found.end(),
                                    [&](const Finding& one) { return one.cause == removed.cause; });
  ASSERT_NE(finding, found.end()) << name(removed.cause);
  const auto next = [&, at = here]() mutable { return ++at != ladder.end() ? *at : nullptr; };
  EXPECT_EQ(short_name(remedy(*finding, **here, next)), removed.by) << finding->detail;
}

TEST_P(LadderOf, EachRungOfTensorCoresHasACauseThatTheNextRemoves) {
  constexpr Removed pairs[] = {{"20", Cause::bank_conflicts, "21"},
                               {"21", Cause::exposed_global_loads, "22"},
                               {"22", Cause::shared_loads, "23"},
                               {"23", Cause::instructions, "24"},
                               {"24", Cause::drained_matrix_units, "25"},
                               {"25", Cause::block_ends, "26"},
                               {"26", Cause::l2_busy, "27"},
                               {"27", Cause::thread_stores, "28"},
                               {"28", Cause::few_tiles, "29"},
                               {"29", Cause::few_tiles, "30"}};
  std::vector<const Evidence*> evidence;
  for (const Step& step : ladder(GetParam(), true)) evidence.push_back(&step.evidence);
  ASSERT_GE(evidence.size(), std::size(pairs) + 1);
  for (const Removed& removed : pairs) expect_removed(evidence, removed);
}

TEST_P(LadderOf, NoRungOfTensorCoresIsFasterThanItsBound) {
  for (const Step& step : ladder(GetParam(), true)) {
    const Evidence& evidence = step.evidence;
    EXPECT_EQ(evidence.machine.sheet_flops, 989e12);
    const MeasuredRun* run =
        built_in_results().find(evidence.id, Dtype::bf16, 4096, 4096, 4096, "H200");
    if (run == nullptr) continue;
    EXPECT_LE(evidence.roofline.seconds(), 1.01 * run->seconds) << evidence.id;
    EXPECT_GE(evidence.roofline.seconds(), 0.2 * run->seconds) << evidence.id;
  }
}

// The kernels that round less follow the ladder.
TEST_P(LadderOf, EachRungOfTheDotProductHasACauseThatTheNextRemoves) {
  constexpr Removed pairs[] = {
      {"00", Cause::host_sums, "01"},         {"00", Cause::intermediate_stores, "01"},
      {"01", Cause::host_sums, "02"},         {"02", Cause::idle_lanes, "03"},
      {"03", Cause::scattered_loads, "04"},   {"04", Cause::bank_conflicts, "05"},
      {"05", Cause::launches, "06"},          {"06", Cause::barriers, "07"},
      {"07", Cause::barriers, "08"},          {"08", Cause::few_bytes_on_the_way, "09"},
      {"09", Cause::launches, "10"},          {"10", Cause::staging_registers, "13"},
      {"10", Cause::rounding, "compensated"}, {"compensated", Cause::rounding, "reproducible"}};
  std::vector<VectorSample> samples;
  for (const RungInfo* rung : select({"dot/cuda"})) {
    samples.push_back(
        sample_vectors(*rung, Dtype::f32, 1 << 20, {"h200", GetParam()}, built_in_results()));
  }
  std::vector<const Evidence*> evidence;
  for (const VectorSample& sample : samples) evidence.push_back(&sample.evidence);
  for (const Removed& removed : pairs) {
    // The number of threads with loads in flight depends on the register count, which is a guess
    // without ptxas.
    const bool is_guess =
        removed.cause == Cause::few_bytes_on_the_way && cuda::nvcc_version().empty();
    if (!is_guess) expect_removed(evidence, removed);
  }
}

INSTANTIATE_TEST_SUITE_P(Gemm, LadderOf, testing::ValuesIn(front_ends()),
                         [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace rung::analysis
