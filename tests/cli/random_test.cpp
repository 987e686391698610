// `rung bench --random` from start to end, on the virtual GPU and on the CPU.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "folder.hpp"
#include "program.hpp"

namespace rung {
namespace {

using Json = nlohmann::json;

constexpr const char* brief = " --device virtual --unobserved --seconds 0.002 ";
const std::string quick = std::string(brief) + "--max-size 12 ";

Json random_of(const std::string& arguments) {
  const Output output = run_rung("bench " + arguments + quick + "--json -");
  EXPECT_EQ(output.exit_code, 0) << output.err;
  return Json::parse(output.out).at("random");
}

/// Its shapes alone, without times.
Json shapes_of(const Json& random) {
  Json shapes = Json::array();
  for (const Json& draw : random.at("draws")) {
    shapes.push_back({draw.at("m"), draw.at("n"), draw.at("k")});
  }
  return shapes;
}

TEST(BenchRandom, ComparesEveryTypeAndLayout) {
  const Folder folder;
  const auto file = folder / "random.json";
  const Output output = run_rung("bench gemm/cuda --random 2 --seed 7 --dtype f32,i8 --layout all" +
                                 quick + "--json " + file.string());
  ASSERT_EQ(output.exit_code, 0) << output.err;
  EXPECT_EQ(lines(output.out).at(0), "2 random shapes up to 12, seed 7");
  for (const char* kind : {"f32 nn", "f32 nt", "f32 tn", "f32 tt", "i8 nn", "i8 tt"}) {
    EXPECT_NE(output.out.find("\n" + std::string(kind) + " "), std::string::npos) << output.out;
  }
  std::ifstream stream(file);
  const Json json = Json::parse(stream);
  EXPECT_TRUE(json.at("machine").contains("commit"));
  EXPECT_TRUE(json.at("machine").at("peers").empty());
  const Json& random = json.at("random");
  EXPECT_EQ(random.at("complete"), true);
  EXPECT_EQ(random.at("seed"), 7);
  EXPECT_EQ(random.at("draws").size(), 16u);
  EXPECT_TRUE(random.at("plans").empty());
  for (const Json& draw : random.at("draws")) {
    EXPECT_EQ(draw.at("verified"), true);
    EXPECT_GT(draw.at("seconds"), 0);
    EXPECT_EQ(draw.at("ratio"), nullptr);  // no peer runs there
    EXPECT_EQ(draw.at("rung").get<std::string>().find("gemm/cuda/"), 0u);
    EXPECT_FALSE(draw.contains("regret"));
  }
}

TEST(BenchRandom, ASeedGivesTheSameShapes) {
  const Json shapes = shapes_of(random_of("gemm/cuda --random 4 --seed 3"));
  EXPECT_EQ(shapes_of(random_of("gemm/cuda --random 4 --seed 3")), shapes);
  EXPECT_NE(shapes_of(random_of("gemm/cuda --random 4 --seed 4")), shapes);
}

TEST(BenchRandom, RegretTimesThePlansOfTheLibrarysRungs) {
  const Json random = random_of("gemm/cuda --random 1 --regret");
  const Json& rungs = random.at("rungs");
  const auto has = [&](const char* rung) {
    return std::find(rungs.begin(), rungs.end(), rung) != rungs.end();
  };
  EXPECT_TRUE(has("gemm/cuda/fma_tiles") && has("gemm/cuda/wgmma_tiles")) << rungs;
  EXPECT_FALSE(has("gemm/cuda/04_thread_tile")) << rungs;  // which the library never uses
  int of_11 = 0, chosen = 0;
  for (const Json& plan : random.at("plans")) {
    EXPECT_GT(plan.at("seconds"), 0);
    of_11 += plan.at("rung") == "gemm/cuda/fma_tiles" ? 1 : 0;
    chosen += plan.at("chosen") == true ? 1 : 0;
  }
  EXPECT_GT(of_11, 1);
  EXPECT_EQ(chosen, 1);
  const Json& draw = random.at("draws").at(0);
  EXPECT_GE(draw.at("regret"), 1);
  EXPECT_GT(draw.at("best").at("seconds"), 0);
}

TEST(BenchRandom, ARungSelectedByNumberIsTimedWhateverTheLibraryUses) {
  const Json random = random_of("gemm/cuda/04 --random 1 --regret");
  EXPECT_EQ(random.at("rungs"), Json({"gemm/cuda/04_thread_tile"}));
  EXPECT_EQ(random.at("plans").at(0).at("rung"), "gemm/cuda/04_thread_tile");
}

TEST(BenchRandom, AWrongPlanIsAnErrorAndIsNotTimed) {
  const Folder folder;
  const auto file = folder / "random.json";
  // Some have more than the 16 rows of a tile that its half block computes.
  const Output output = run_shell("\"$RUNG_WRONG\" bench gemm/cuda/02 --random 4 --regret" +
                                  std::string(brief) + "--json " + file.string());
  EXPECT_EQ(output.exit_code, 1);
  EXPECT_NE(output.err.find(": gemm/cuda/02_shared_tile 1 split: WRONG: "), std::string::npos)
      << output.err;
  std::ifstream stream(file);
  int wrong = 0;
  const Json json = Json::parse(stream);
  for (const Json& plan : json.at("random").at("plans")) {
    if (!plan.contains("wrong")) continue;
    EXPECT_EQ(plan.at("seconds"), nullptr);
    ++wrong;
  }
  EXPECT_GT(wrong, 0);
}

TEST(BenchRandom, ComparesTheLibraryWithAPeerOnTheCpu) {
  const Folder folder;
  const auto file = folder / "random.json";
  const Output output = run_rung(
      "bench gemm/cpu --random 3 --seed 7 --dtype f32,f64 --layout all --max-size 40 "
      "--threads 2 --seconds 0.002 --regret --json " +
      file.string());
  ASSERT_EQ(output.exit_code, 0) << output.err;
  EXPECT_EQ(lines(output.out).at(0), "3 random shapes up to 40, seed 7, 2 threads");
  EXPECT_NE(output.out.find("\nf64 tt "), std::string::npos) << output.out;
  std::ifstream stream(file);
  const Json random = Json::parse(stream).at("random");
  EXPECT_EQ(random.at("threads"), 2);
  ASSERT_EQ(random.at("draws").size(), 24u);
  for (const Json& draw : random.at("draws")) {
    EXPECT_EQ(draw.at("verified"), true);
    EXPECT_GT(draw.at("seconds"), 0);
    EXPECT_EQ(draw.at("rung").get<std::string>().find("gemm/cpu/"), 0u);
    EXPECT_GE(draw.at("threads"), 1);
    EXPECT_GE(draw.at("regret"), 1);
    EXPECT_FALSE(draw.contains("tile"));
  }
  const Json& rungs = random.at("rungs");
  const auto has = [&](const char* rung) {
    return std::find(rungs.begin(), rungs.end(), rung) != rungs.end();
  };
  EXPECT_TRUE(has("gemm/cpu/unpacked")) << rungs;
  EXPECT_FALSE(has("gemm/cpu/02_blocked")) << rungs;  // which the library never uses
}

TEST(BenchRandom, AWrongRungOfTheCpuIsAnErrorAndIsNotTimed) {
  const Output output = run_shell(
      "\"$RUNG_WRONG\" bench gemm/cpu/00 --random 1 --regret --max-size 20 --seconds 0.002 --vs "
      "none "
      "--json -");
  EXPECT_EQ(output.exit_code, 1);
  EXPECT_NE(output.err.find(": gemm/cpu/00_triple_loop: WRONG: "), std::string::npos) << output.err;
  const Json plan = Json::parse(output.out).at("random").at("plans").at(0);
  EXPECT_EQ(plan.at("rung"), "gemm/cpu/00_triple_loop");
  EXPECT_EQ(plan.at("seconds"), nullptr);
}

TEST(BenchRandom, AReportReadsWhatItWrote) {
  const Folder folder;
  for (const char* name : {"random.json", "random.jsonl"}) {
    const auto file = folder / name, page = folder / "page.html";
    ASSERT_EQ(run_rung("bench gemm/cuda --random 1" + quick + "--json " + file.string()).exit_code,
              0);
    const Output output = run_rung("report " + file.string() + " -o " + page.string());
    EXPECT_EQ(output.exit_code, 0) << output.err;
    EXPECT_TRUE(std::filesystem::exists(page));
  }
}

}  // namespace
}  // namespace rung
