// rung dist plan: the numbers of the dry run, as text and as JSON.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "program.hpp"

namespace rung {
namespace {

// tests/dist/plan_test.cpp derives these bytes by hand.
TEST(Dist, PlanHasTheBytesOfTheDryRun) {
  const Output output = run_rung("dist plan --ranks 4 --n 4 --into 2x2x1 --rate 1 --json -");
  ASSERT_EQ(output.exit_code, 0) << output.err;
  const auto plan = nlohmann::json::parse(output.out)["plans"][0];
  EXPECT_EQ(plan["divided_into"], nlohmann::json({2, 2, 1}));
  EXPECT_EQ(plan["in_place"], true);
  EXPECT_EQ(plan["bytes"]["all"]["sent_most"], 64);
  EXPECT_EQ(plan["bytes"]["all"]["received_sum"], 4 * 64);
  EXPECT_EQ(plan["bytes"]["least_for_division"], 64);
}

TEST(Dist, PlanOfSeveralNumbersOfRanksIsATable) {
  const Output output = run_rung("dist plan --ranks 1,64 --n 8192 --dtype bf16 --gpu h200");
  ASSERT_EQ(output.exit_code, 0) << output.err;
  EXPECT_EQ(output.out.find("ranks"), 0u);
  EXPECT_NE(output.out.find("\n1 "), std::string::npos);
  EXPECT_NE(output.out.find("\n64 "), std::string::npos);
}

}  // namespace
}  // namespace rung
