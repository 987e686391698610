// The diagnosis of each rung of the ladder: its first cause is the bottleneck that its header
// documents, and no rung is faster than its bound.

#include "ladder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "tools/analysis/call_diagnosis.hpp"
#include "tools/analysis/resources.hpp"
#include "tools/analysis/toolkit.hpp"

namespace rung::analysis {
namespace {

ExplainOptions options_for(const std::string& code) {
  ExplainOptions options;
  options.gpu = std::string("h200");
  options.device = vgpu::parse_device(options.gpu);
  options.code = code;
  return options;
}

class LadderOf : public testing::TestWithParam<std::string> {
 protected:
  diagnosis::Diagnosis diagnosed(const Step& step) const {
    return diagnosed_gemm(
        step.setting, step.samples,
        registers_of(step.setting.ptx(), step.samples.trace2.kernel, step.setting.device),
        step.evidence.machine, options_for(GetParam()));
  }
};

/// A rung, and the bottleneck that its header documents, as a cause.
struct Documented {
  const char* rung;
  const char* cause;
};

TEST_P(LadderOf, TheFirstCauseIsTheDocumentedBottleneck) {
  constexpr Documented all[] = {{"gemm/cuda/00_naive", "uncoalesced accesses"},
                                {"gemm/cuda/01_coalesced", "repeated loads"},
                                {"gemm/cuda/02_shared_tile", "shared loads"},
                                {"gemm/cuda/03_thread_column", "shared loads"},
                                {"gemm/cuda/05_vectors", "bank conflicts"}};
  for (const auto& [rung, cause] : all) {
    // The estimate of registers that takes the place of ptxas finds 05 low in occupancy.
    if (rung == std::string_view("gemm/cuda/05_vectors") && find_tool("ptxas").empty()) continue;
    const std::vector<Step>& steps = ladder(GetParam());
    const auto step = std::ranges::find(steps, std::string_view(rung), [](const Step& of) {
      return std::string_view(of.evidence.id);
    });
    ASSERT_NE(step, steps.end()) << rung;
    const diagnosis::Diagnosis found = diagnosed(*step);
    ASSERT_FALSE(found.findings.empty()) << rung;
    EXPECT_EQ(found.findings.front().name, cause) << rung;
  }
}

// With registers for a third block, ptxas spills, so occupancy cannot grow.
TEST(Resources, LaunchBoundsDoNotHideSpills) {
  if (find_tool("ptxas").empty()) GTEST_SKIP() << "no ptxas";
  const GemmSetting setting = setting_of(*select({"gemm/cuda/04"}).front());
  EXPECT_TRUE(spills_if_limited(setting.ptx(), setting.entry(), 90, 80));
  EXPECT_FALSE(spills_if_limited(setting.ptx(), setting.entry(), 90, 168));
}

// No rung measured on an H200 ran faster than the model's bound, and the bound is within a factor
// of 5.
TEST_P(LadderOf, NoRungIsFasterThanItsBound) {
  for (const Step& step : ladder(GetParam())) {
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
  for (const Step& step : ladder(GetParam())) {
    const bool by_threads = !step.evidence.uses_matrix_units();
    EXPECT_DOUBLE_EQ(operands(step), by_threads ? 2.0 / 16 : 0) << step.evidence.id;
  }
  for (const Step& step : ladder(GetParam(), true)) EXPECT_EQ(operands(step), 0);
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

INSTANTIATE_TEST_SUITE_P(Gemm, LadderOf, testing::ValuesIn(front_ends()),
                         [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace rung::analysis
