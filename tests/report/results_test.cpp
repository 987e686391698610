// What a bench wrote, read back: what it groups into, and what is said of what it did not write.

#include "report/results.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/page/page.hpp"
#include "report/study.hpp"

namespace rung {
namespace {

Json entry(const std::string& rung, int size, double gflops, const std::string& dtype = "f32") {
  return {{"rung", rung},
          {"op", "gemm"},
          {"dtype", dtype},
          {"m", size},
          {"n", size},
          {"k", size},
          {"layout", "nn"},
          {"device", "gpu Some (sm_90)"},
          {"threads", 4},
          {"operands", "warm"},
          {"verified", true},
          {"seconds", {{"median", 1 / gflops}}},
          {"gflops", gflops},
          {"gbps", 1.0},
          {"ceiling", {{"name", "f32 multiply-add"}, {"gflops", 100.0}, {"ratio", gflops / 100}}},
          {"peers", {{"cublas", {{"seconds", 2 / gflops}, {"ratio", 2.0}}}}}};
}

Json bench(const Json& entries) {
  return {{"machine", {{"model", "<cpu> & co"}}}, {"results", entries}};
}

Results results() {
  Json skipped = entry("gemm/cuda/02_shared_tile", 512, 1);
  skipped.update(
      {{"seconds", nullptr}, {"gflops", nullptr}, {"gbps", nullptr}, {"verified", false}});
  skipped["skipped"] = "too slow";
  Json library = entry("library", 512, 40);
  library["chose"] = "gemm/cuda/01_coalesced";
  Json oblong = library;
  oblong["k"] = 16;
  oblong["peers"]["cublas"]["ratio"] = 0.5;
  Results results;
  results.add("a.json",
              bench({entry("gemm/cuda/00_naive", 512, 10), entry("gemm/cuda/01_coalesced", 512, 30),
                     skipped, oblong, library}));
  results.add("b.json", bench({entry("gemm/cuda/01_coalesced", 4096, 50),
                               entry("gemm/cuda/01_coalesced", 512, 7, "f64")}));
  return results;
}

TEST(Studies, AreOfOneTypeEach) {
  const Results all = results();
  const std::vector<Study> studies = studies_of(all);
  ASSERT_EQ(studies.size(), 2u);
  EXPECT_EQ(studies[0].name(), "gemm f32");
  EXPECT_EQ(studies[1].name(), "gemm f64");
  const auto ladder = studies[0].ladder();
  ASSERT_EQ(ladder.size(), 2u);  // the size at which most were timed, not the largest
  EXPECT_EQ(ladder[1]->rung, "gemm/cuda/01_coalesced");
  EXPECT_EQ(ladder[1]->gflops, 30);
  const auto library = studies[0].library();
  ASSERT_EQ(library.size(), 2u);  // square before oblong
  EXPECT_EQ(size_name(*library[0]), "512³");
  EXPECT_EQ(size_name(*library[1]), "512×512×16");
  EXPECT_DOUBLE_EQ(*mean_ratio(library, "cublas"), 1);
  EXPECT_EQ(studies[0].peers(), std::vector<std::string>{"cublas"});
}

TEST(Studies, ThreadsOfTheHostDoNotDivideThoseOfAGpu) {
  Json other = entry("gemm/cuda/00_naive", 256, 5);
  other["threads"] = 8;
  Results all = results();
  all.add("c.json", bench(Json::array({other})));
  EXPECT_EQ(studies_of(all).size(), 2u);
}

std::string problem_of(const Json& json) {
  try {
    Results().add("x.json", json);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(Results, WhatIsMissingIsNamed) {
  EXPECT_EQ(problem_of(Json::array()), "x.json: no object; not what rung bench writes");
  EXPECT_EQ(problem_of({{"comparison", 1}}),
            "x.json: no 'machine' and 'results'; not what rung bench writes");
  Json broken = entry("gemm/cuda/00_naive", 256, 5);
  broken.erase("gflops");
  EXPECT_EQ(problem_of(bench(Json::array({broken}))),
            "x.json: results[0]: no 'gflops'; not what rung bench writes");
  broken["gflops"] = "fast";
  EXPECT_EQ(problem_of(bench(Json::array({broken}))),
            "x.json: results[0]: 'gflops' is no number; not what rung bench writes");
}

TEST(Page, TellsWhatWasNotTimedAndEscapesWhatItShows) {
  const std::string page = report_page(results(), {});
  EXPECT_NE(page.find("gemm/cuda/02_shared_tile at 512³: skipped: too slow"), std::string::npos);
  EXPECT_NE(page.find("&lt;cpu&gt; &amp; co"), std::string::npos);
  EXPECT_EQ(page.find("<cpu>"), std::string::npos);
}

TEST(Page, OfNothingIsAPage) {
  EXPECT_NE(report_page({}, {}).find("no results"), std::string::npos);
}

TEST(Pictures, AreNamedAfterTheirStudy) {
  std::vector<std::string> names;
  for (const PictureFile& file : report_pictures(results(), {})) names.push_back(file.name);
  EXPECT_EQ(names, (std::vector<std::string>{"gemm-f32-ladder.svg", "gemm-shapes.svg"}));
}

}  // namespace
}  // namespace rung
