// Explanations of the Metal rungs: the arithmetic of seed 002, and public figures only.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/dtype.hpp"
#include "tools/analysis/explanation.hpp"
#include "tools/analysis/metal_setting.hpp"
#include "tools/report/explanation.hpp"

namespace rung::analysis {
namespace {

using Q = Quantities;

ExplainOptions m1pro() {
  ExplainOptions options;
  options.gpu = std::string("m1pro");
  options.device = vgpu::parse_device(options.gpu);
  return options;
}

Explanation explain(const std::string& rung) {
  const RungInfo& info = *select({rung}).front();
  if (info.op == "gemm") return explain_gemm(info, Dtype::f32, {4096, 4096, 4096}, m1pro());
  return explain_vectors(info, Dtype::f32, 1 << 16, m1pro());
}

const Level& level(const Explanation& e, const std::string& name) {
  for (const Level& one : e.evidence.roofline.levels) {
    if (one.name == name) return one;
  }
  throw std::invalid_argument(name);
}

TEST(MetalTraffic, FormulasAreThoseOfTheTiles) {
  const Traffic naive = gemm_traffic(metal::Tiling{16, 16});
  EXPECT_EQ(naive.global_loads.text, "2K");
  EXPECT_EQ(naive.shared_loads.text, "0");
  const Traffic shared = gemm_traffic(metal::Tiling{16, 16, 16});
  EXPECT_EQ(shared.global_loads.text, "K/16 + K/16");
  EXPECT_EQ(shared.shared_loads.text, "2K");
  const Traffic matrices =
      gemm_traffic(metal::Tiling{.BM = 64, .BN = 64, .BK = 16, .WM = 32, .WN = 32});
  EXPECT_EQ(matrices.shared_loads.text, "K/32 + K/32 + 1");
  EXPECT_EQ(matrices.shared_stores.text, "K/64 + K/64 + 1");
}

TEST(MetalTraffic, EveryRungIsAsCounted) {
  for (const RungInfo* rung : select({"gemm/metal"})) {
    for (const Dtype dtype : {Dtype::f32, Dtype::i32, Dtype::bf16, Dtype::f16}) {
      if (dtype == Dtype::i32 && rung->id == "gemm/metal/05_simdgroup_matrix") continue;
      SCOPED_TRACE(rung->id + " " + std::string(name(dtype)));
      const MetalSetting setting = metal_setting(*rung, dtype, {512, 512, 512}, m1pro().device, "");
      const Samples samples = sample(setting);
      for (const TrafficRow& row : traffic_rows(gemm_traffic(setting.rung->tiling), samples)) {
        EXPECT_NEAR(row.per_k, row.expected.per_k, 1e-12) << row.name;
        EXPECT_NEAR(row.constant, row.expected.constant, 1e-9) << row.name;
      }
    }
  }
}

TEST(MetalExplained, NaiveIsTheSeedsArithmetic) {
  const Explanation e = explain("gemm/metal/00");
  EXPECT_DOUBLE_EQ(e.evidence.machine.flops, 256 * 1.296e9 * 16);
  EXPECT_EQ(e.evidence.machine.memory_bytes, 200e9);
  EXPECT_NEAR(level(e, uncached_level).flops_per_byte(e.evidence.roofline.flops), 0.25, 1e-4);
  EXPECT_DOUBLE_EQ(*uncached_flops(e), 0.25 * 200e9);
  ASSERT_TRUE(e.reference);
  EXPECT_EQ(e.reference->flops, 361.27e9);
  EXPECT_NEAR(e.evidence.machine.flops / e.reference->flops, 14.69, 0.01);
}

TEST(MetalExplained, SharedTileIsTheSeedsArithmeticPutRight) {
  const Explanation e = explain("gemm/metal/01");
  EXPECT_NEAR(level(e, uncached_level).flops_per_byte(e.evidence.roofline.flops), 4, 0.01);
  EXPECT_DOUBLE_EQ(*uncached_flops(e), 4 * 200e9);
  ASSERT_TRUE(e.reference);
  EXPECT_EQ(e.reference->flops, 639.82e9);
  EXPECT_FALSE(explain("gemm/metal/02").reference);  // the seed has no figure for this rung
}

TEST(MetalExplained, WhatIsNotPublicIsNotTold) {
  for (const RungInfo* rung : select({"gemm/metal", "dot/metal"})) {
    const Explanation e = explain(rung->id);
    EXPECT_FALSE(level(e, "shared memory").is_public) << rung->id;
    EXPECT_TRUE(e.evidence.roofline.bound().is_bound) << rung->id;
    EXPECT_FALSE(e.occupancy.is_public) << rung->id;
    EXPECT_EQ(e.occupancy.max_threads, 1024);
    EXPECT_EQ(e.occupancy.max_shared, 32768);
    EXPECT_FALSE(e.machine_code) << rung->id;
    const std::string text = explanation_text(e);
    EXPECT_NE(text.find("registers, occupancy: not public"), std::string::npos) << text;
    EXPECT_NE(text.find("counters are in NVIDIA's units"), std::string::npos) << text;
    const Json json = to_json(e);
    EXPECT_TRUE(json["occupancy"]["registers"].is_null());
    EXPECT_EQ(json["notes"].size(), 2u);
  }
}

// In Metal's words, with the rates of an NVIDIA multiprocessor.
TEST(MetalExplained, TheFirstCauseIsTheBottleneck) {
  const auto first = [](const std::string& rung) {
    return explain(rung).diagnosis.value().findings.at(0);
  };
  EXPECT_EQ(first("gemm/metal/00").name, "repeated loads");
}

TEST(MetalExplained, IsForApplesGpusAndByClang) {
  const RungInfo& naive = *select({"gemm/metal/00"}).front();
  const auto setting = [&](const std::string& gpu, const std::string& code, Dtype dtype) {
    return metal_setting(naive, dtype, {64, 64, 64}, vgpu::parse_device(gpu), code);
  };
  EXPECT_NO_THROW(setting("m1pro,multiprocessors=8", "clang", Dtype::f32));
  EXPECT_THROW(setting("h200", "", Dtype::f32), std::invalid_argument);
  EXPECT_THROW(setting("m1pro", "nvcc", Dtype::f32), std::invalid_argument);
  EXPECT_THROW(setting("m1pro", "", Dtype::f64), std::invalid_argument);
}

}  // namespace
}  // namespace rung::analysis
