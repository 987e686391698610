// Tables and JSON of random shapes, from made-up times.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tools/measure/random/random_bench.hpp"
#include "tools/report/bench_results.hpp"
#include "tools/report/random_json.hpp"
#include "tools/report/random_table.hpp"
#include "virtual_backend.hpp"

namespace rung {
namespace {

/// Made-up results.
std::vector<RandomResult> made_up() {
  RandomResult slow;
  slow.dtype = Dtype::bf16_bf16;
  slow.size = {256, 512, 64};
  slow.b_transposed = true;
  slow.plan = {"gemm/cuda/wgmma_tiles", {1, 2}};
  slow.seconds = 2e-5;
  slow.peers = {{.peer = "cublas", .seconds = 1e-5, .ratio = 0.5},
                {.peer = "cublaslt", .why_not = "has no algorithm for it"}};
  slow.plans = {
      {.rung = "gemm/cuda/wgmma_tiles",
       .config = {1, 2},
       .seconds = 2e-5,
       .is_finalist = true,
       .is_chosen = true},
      {.rung = "gemm/cuda/wgmma_tiles", .config = {0, 1}, .seconds = 1.6e-5, .is_finalist = true},
      {.rung = "gemm/cuda/22_stages", .config = {0, 1}, .refused = "no"},
      {.rung = "gemm/cuda/22_stages", .config = {0, 1}, .wrong = "C(0, 0) is \xff"}};
  slow.best_plan = 1;
  slow.regret = 1.25;
  RandomResult fast = slow;
  fast.size = {64, 64, 64};
  fast.peers = {{.peer = "cublas", .seconds = 4e-5, .ratio = 2}};
  fast.plans = {slow.plans[0]};
  fast.best_plan = 0;
  fast.regret = 1;
  RandomResult skipped;
  skipped.skipped = "has no f64";
  skipped.dtype = Dtype::bf16_bf16;
  skipped.b_transposed = true;
  return {fast, slow, skipped};
}

RandomRequest made_up_request() {
  RandomRequest request;
  request.count = 3;
  request.limits.max_size = 24;
  request.dtypes = {Dtype::bf16_bf16};
  request.layouts = {{false, true}};
  request.gpu = &virtual_gpu();
  request.rungs = rungs_for_plans(virtual_gpu());
  return request;
}

TEST(RandomReport, TableHasTheStatisticsAndTheWorstShapes) {
  const std::string table = random_table(made_up_request(), made_up());
  EXPECT_NE(table.find("3 random shapes up to 24, seed 1\n"), std::string::npos) << table;
  EXPECT_NE(table.find("bf16-bf16 nt       2     1.00    1.25     0.57   0.50      1   1.118     "
                       "1.238\n"),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("bf16-bf16 nt 256x512x64  20.0 us   0.50"), std::string::npos) << table;
  EXPECT_NE(table.find("  best of all plans      16.0 us"), std::string::npos) << table;
  EXPECT_LT(table.find("256x512x64"), table.find("64x64x64 ")) << table;  // worst first
  for (std::size_t at = 0; at < table.size();) {
    const std::size_t end = table.find('\n', at);
    EXPECT_LE(end - at, 80u) << table.substr(at, end - at);
    at = end + 1;
  }
}

TEST(RandomReport, JsonHasOneRecordForEachShapeAndPlan) {
  RandomJson file({{"model", "some"}}, made_up_request(), "gpu Some");
  for (const RandomResult& result : made_up()) file.add(result);
  const Json json = Json::parse(file.text(true));
  EXPECT_EQ(json.at("machine").at("model"), "some");
  EXPECT_TRUE(json.at("results").empty());
  const Json& random = json.at("random");
  EXPECT_EQ(random.at("seed"), 1);
  EXPECT_EQ(random.at("count"), 3);
  EXPECT_EQ(random.at("max_size"), 24);
  EXPECT_EQ(random.at("device"), "gpu Some");
  EXPECT_EQ(random.at("dtypes"), Json({"bf16-bf16"}));
  EXPECT_EQ(random.at("layouts"), Json({"nt"}));
  EXPECT_EQ(random.at("complete"), true);
  EXPECT_FALSE(random.at("rungs").empty());

  const Json& draw = random.at("draws").at(1);
  EXPECT_EQ(draw.at("dtype"), "bf16-bf16");
  EXPECT_EQ(draw.at("layout"), "nt");
  EXPECT_EQ(draw.at("m"), 256);
  EXPECT_EQ(draw.at("flops"), 2.0 * 256 * 512 * 64);
  EXPECT_EQ(draw.at("bytes"), 2.0 * (256 * 64 + 512 * 64 + 256 * 512));
  EXPECT_EQ(draw.at("rung"), "gemm/cuda/wgmma_tiles");
  EXPECT_EQ(draw.at("tile"), 1);
  EXPECT_EQ(draw.at("splits"), 2);
  EXPECT_EQ(draw.at("seconds"), 2e-5);
  EXPECT_EQ(draw.at("ratio"), 0.5);
  EXPECT_EQ(draw.at("peers").at("cublas").at("ratio"), 0.5);
  EXPECT_EQ(draw.at("peers").at("cublaslt").at("why_not"), "has no algorithm for it");
  EXPECT_EQ(draw.at("regret"), 1.25);
  EXPECT_EQ(draw.at("best").at("seconds"), 1.6e-5);
  EXPECT_EQ(random.at("draws").at(2).at("skipped"), "has no f64");
  EXPECT_EQ(random.at("draws").at(2).at("verified"), false);
  EXPECT_EQ(random.at("draws").at(2).at("seconds"), nullptr);

  const Json& plans = random.at("plans");
  ASSERT_EQ(plans.size(), 5u);
  const Json& plan = plans.at(1);  // the first of the second shape
  const Json expected = {{"dtype", "bf16-bf16"},
                         {"layout", "nt"},
                         {"m", 256},
                         {"n", 512},
                         {"k", 64},
                         {"rung", "gemm/cuda/wgmma_tiles"},
                         {"tile", 1},
                         {"splits", 2},
                         {"seconds", 2e-5},
                         {"finalist", true},
                         {"chosen", true}};
  for (const auto& [key, value] : expected.items()) {
    EXPECT_EQ(plan.at(key), value) << key;
  }
  EXPECT_EQ(plans.at(3).at("refused"), "no");
  EXPECT_EQ(plans.at(3).at("seconds"), nullptr);
  EXPECT_TRUE(plans.at(4).at("wrong").get<std::string>().starts_with("C(0, 0) is "));
}

TEST(RandomReport, AnInterruptedRunIsSaidToBe) {
  const RandomJson empty({}, made_up_request(), "gpu Some");
  const Json json = Json::parse(empty.text(false));
  EXPECT_EQ(json.at("random").at("complete"), false);
  EXPECT_TRUE(json.at("random").at("draws").empty());
  EXPECT_TRUE(json.at("random").at("plans").empty());
}

TEST(RandomReport, WhatIsWrittenCanBeReadBack) {
  RandomJson file({{"model", "some"}}, made_up_request(), "gpu Some");
  for (const RandomResult& result : made_up()) {
    if (result.seconds > 0) file.add(result);
  }
  Results results;
  results.add("random.json", Json::parse(file.text(true)));
  ASSERT_EQ(results.random.size(), 2u);
  const RandomDraw& draw = results.random[1];
  EXPECT_EQ(draw.dtype, "bf16-bf16");
  EXPECT_EQ(draw.layout, "nt");
  EXPECT_EQ(draw.device, "gpu Some");
  EXPECT_EQ(draw.ratio, 0.5);
  EXPECT_EQ(draw.regret, 1.25);
  EXPECT_DOUBLE_EQ(draw.flops_per_byte,
                   gemm_flops({256, 512, 64}) / gemm_bytes({256, 512, 64}, Dtype::bf16_bf16));
}

}  // namespace
}  // namespace rung
