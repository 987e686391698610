// The output of `rung bench` on success, and if a rung, a peer or a file is wrong.

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "core/rung.hpp"
#include "folder.hpp"
#include "program.hpp"

namespace rung {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* tiny = " --seconds 0.01 --vs none --threads 2 ";

TEST(Bench, CudaRungsAreTimedOnTheVirtualGpu) {
  const Output output =
      run_rung("bench gemm/cuda/01 --device virtual --n 32 --json -" + std::string(tiny));
  ASSERT_EQ(output.exit_code, 0) << output.err;
  const Json results = Json::parse(output.out).at("results");
  EXPECT_EQ(results.at(0).at("device").get<std::string>().find("virtual"), 0u);
  EXPECT_EQ(results.at(0).at("verified"), true);
  EXPECT_GT(results.at(0).at("seconds").at("median"), 0);
  EXPECT_FALSE(results.at(0).contains("ceiling"));
  EXPECT_EQ(results.at(1).at("rung"), "library");
  EXPECT_EQ(results.at(1).at("verified"), true);
  EXPECT_EQ(results.at(1).at("chose").get<std::string>().find("gemm/cuda/"), 0u);
  EXPECT_GT(results.at(1).at("seconds").at("median"), 0);
}

TEST(Bench, MoreThreadsThanProcessorsAreAskedForTwice) {
  const std::string bench = "bench gemm/cpu/03 --n 16 --seconds 0.01 --vs none --json - --threads ";
  const Output limited = run_rung(bench + "1000");
  ASSERT_EQ(limited.exit_code, 0) << limited.err;
  EXPECT_EQ(limited.err.find("--threads: 1000 exceeds the "), 0u) << limited.err;
  const int processors = Json::parse(limited.out).at("machine").at("cores");
  EXPECT_EQ(Json::parse(limited.out).at("results").at(0).at("threads"), processors);

  const Output all = run_rung(bench + "1000 --oversubscribe");
  ASSERT_EQ(all.exit_code, 0) << all.err;
  EXPECT_EQ(all.err.find("--threads"), std::string::npos) << all.err;
  EXPECT_EQ(Json::parse(all.out).at("results").at(0).at("threads"), 1000);
}

TEST(Bench, EachSizeHasItsBatch) {
  const Output output =
      run_rung("bench gemm/cpu/just_in_time --sizes 8,9 --batch 5,3 --json -" + std::string(tiny));
  ASSERT_NE(output.exit_code, 1) << output.err;
  const Json results = Json::parse(output.out).at("results");
  ASSERT_EQ(results.size(), 4u);
  EXPECT_EQ(results.at(1).at("rung"), "library");
  EXPECT_EQ(results.at(1).at("batch"), 5);
  EXPECT_EQ(results.at(3).at("n"), 9);
  EXPECT_EQ(results.at(3).at("batch"), 3);
  EXPECT_EQ(results.at(3).at("verified"), true);
}

TEST(Bench, StandardModeIsThePeerOfBatchInvariance) {
  const Output output =
      run_rung("bench gemm/cpu/06 --sizes 40 --math batch_invariant --json -" + std::string(tiny));
  ASSERT_EQ(output.exit_code, 0) << output.err;
  const Json results = Json::parse(output.out).at("results");
  EXPECT_EQ(results.at(1).at("math"), "batch_invariant");
  EXPECT_GT(results.at(1).at("peers").at("standard mode").at("ratio"), 0);
}

TEST(Bench, ErrorsStandBesideTimes) {
  const Folder folder;
  const fs::path file = folder / "bench.json", csv = folder / "bench.csv";
  const Output output =
      run_rung("bench gemm/cpu/00 --sizes 40x48x64 --math reproducible --family uniform --json " +
               file.string() + " --csv " + csv.string() + std::string(tiny));
  ASSERT_EQ(output.exit_code, 0) << output.err;
  EXPECT_NE(output.out.find("family=uniform"), std::string::npos) << output.out;
  EXPECT_NE(output.out.find("normwise"), std::string::npos) << output.out;
  std::ifstream stream(file);
  const Json results = Json::parse(stream).at("results");
  EXPECT_EQ(results.at(0).at("math"), "standard");  // of the rung
  EXPECT_EQ(results.at(1).at("math"), "reproducible");
  const double chain = results.at(0).at("errors").at("largest").get<double>();
  const double digits = results.at(1).at("errors").at("largest").get<double>();
  EXPECT_GT(chain, 1);  // sums of one sign, in float
  EXPECT_LT(digits, chain);
  EXPECT_GT(results.at(1).at("errors").at("normwise"), 0);
  EXPECT_EQ(results.at(1).at("family"), "uniform");
  std::ifstream lines(csv);
  std::string heading, rung, library, more;
  std::getline(lines, heading);
  std::getline(lines, rung);
  std::getline(lines, library);
  EXPECT_EQ(heading.substr(0, 20), "device,op,dtype,m,n,");
  EXPECT_NE(rung.find(",gemm,f32,40,48,64,nn,uniform,gemm/cpu/00_triple_loop,standard,"),
            std::string::npos)
      << rung;
  EXPECT_NE(library.find(",uniform,library,reproducible,"), std::string::npos) << library;
  EXPECT_FALSE(std::getline(lines, more));
}

TEST(Bench, PredictsProductsByPackedWeightsFromWholeGroups) {
  const Output output = run_rung(
      "bench gemm/cpu/just_in_time --weights int4 --dtype bf16 --layout nt --sizes 64x1024x1024" +
      std::string(tiny));
  EXPECT_EQ(output.err, "");
  EXPECT_NE(output.out.find("library"), std::string::npos) << output.out;
}

TEST(Bench, ComparesWithABaseline) {
  const Folder folder;
  const fs::path before = folder / "before.json", now = folder / "now.json";
  const std::string bench = "bench gemm/cpu/00 --sizes 40x48x64" + std::string(tiny) + "--json ";
  ASSERT_EQ(run_rung(bench + before.string()).exit_code, 0);
  Json json = Json::parse(std::ifstream(before));
  for (Json& entry : json.at("results")) {
    const double seconds = 1000;  // a thousand seconds then, measured well
    entry["seconds"] = {{"median", seconds}, {"min", seconds}, {"max", seconds},
                        {"q1", seconds},     {"q3", seconds},  {"samples", 1000}};
  }
  json.at("results").erase(1);  // the library
  std::ofstream(before) << json;
  const Output output = run_rung(bench + now.string() + " --baseline " + before.string());
  ASSERT_EQ(output.exit_code, 0) << output.err;
  EXPECT_NE(output.out.find("against " + before.string()), std::string::npos) << output.out;
  EXPECT_NE(output.out.find(", 1 new"), std::string::npos) << output.out;
  const Json results = Json::parse(std::ifstream(now)).at("results");
  const Json& change = results.at(0).at("baseline");
  EXPECT_EQ(change.at("seconds"), 1000);
  EXPECT_GT(change.at("ratio"), 1000);
  EXPECT_TRUE(change.at("change") == "faster" || change.at("change") == "unknown") << change;
  EXPECT_FALSE(results.at(1).contains("baseline"));
  const Output missing = run_rung(bench + now.string() + " --baseline " + (folder / "no").string());
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_EQ(missing.err.find("rung: --baseline: "), 0u) << missing.err;
}

TEST(Bench, WritesAPageOfTheSameRun) {
  const Folder folder;
  const fs::path page = folder / "page.html", json = folder / "bench.json";
  const Output output =
      run_rung("bench gemm/cuda/00 gemm/cuda/02 --device virtual --unobserved --n 64" +
               std::string(tiny) + "--html " + page.string() + " --json " + json.string());
  ASSERT_EQ(output.exit_code, 0) << output.err;
  std::ifstream file(page);
  const std::string html(std::istreambuf_iterator<char>(file), {});
  EXPECT_EQ(html.find("<!doctype html>"), 0u);
  EXPECT_NE(html.find("32 sectors of 32 bytes"), std::string::npos);  // traced, though unobserved
  std::ifstream results(json);
  const double gflops = Json::parse(results).at("results").at(0).at("gflops").get<double>();
  EXPECT_NE(html.find(Json(gflops).dump().substr(0, 10)), std::string::npos);
}

TEST(Bench, TheLibraryRunsSingleRowsAndColumnsInEveryLayout) {
  for (const char* layout : {"nn", "nt", "tn", "tt"}) {
    const Output output = run_rung(std::string("bench gemm/cpu/00 --layout ") + layout +
                                   " --sizes 1x5x7,5x1x7,5x7x1,1x1x7 --json -" + tiny);
    ASSERT_EQ(output.exit_code, 0) << output.err;
    const Json json = Json::parse(output.out);
    int of_library = 0;
    for (const Json& result : json.at("results")) {
      if (result.at("rung") == "library") {
        ++of_library;
        EXPECT_EQ(result.at("verified"), true)
            << layout << " " << result.at("m") << "x" << result.at("n") << "x" << result.at("k");
      }
    }
    EXPECT_EQ(of_library, 4);
  }
}

TEST(Bench, AFileOfLinesHasAHeaderAndOneMeasurementPerLine) {
  const Folder folder;
  const fs::path file = folder / "bench.jsonl", page = folder / "page.html";
  const std::string bench =
      "bench gemm/cpu/00 --sizes 8,9" + std::string(tiny) + "--json " + file.string();
  ASSERT_EQ(run_rung(bench).exit_code, 0);
  std::ifstream stream(file);
  std::vector<Json> read;
  for (std::string line; std::getline(stream, line);) read.push_back(Json::parse(line));
  ASSERT_EQ(read.size(), 1u + 4u);
  EXPECT_TRUE(read[0].at("machine").contains("commit"));
  EXPECT_EQ(read[0].at("command").get<std::string>().find("rung bench gemm/cpu/00 --sizes 8,9 "),
            0u);
  EXPECT_EQ(read[0].at("common").at("dtype"), "f32");
  EXPECT_EQ(read[1].at("rung"), "gemm/cpu/00_triple_loop");
  EXPECT_EQ(read[4].at("rung"), "library");
  EXPECT_EQ(read[4].at("n"), 9);
  EXPECT_GT(read[4].at("seconds").at("median"), 0);

  const Output again = run_rung(bench + " --baseline " + file.string());
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_NE(again.out.find("against " + file.string()), std::string::npos) << again.out;
  EXPECT_EQ(run_rung("report " + file.string() + " -o " + page.string()).exit_code, 0);
  const Output table = run_rung("report " + file.string() + " --markdown library");
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_EQ(table.out.find("| size | rung | GFLOP/s | of the ceiling |\n"), 0u) << table.out;
}

TEST(Bench, JsonHasTheShapeOfTheContract) {
  const Folder folder;
  const fs::path file = folder / "bench.json";
  const Output output = run_rung(
      "bench gemm/cpu/00 gemm/cpu/01 dot/cpu/00 --sizes 8,5x7x3 --json " + file.string() + tiny);
  ASSERT_EQ(output.exit_code, 0) << output.err;
  std::ifstream stream(file);
  const Json json = Json::parse(stream);
  const Json& machine = json.at("machine");
  for (const char* key : {"model", "isa", "cores", "caches", "os", "compiler", "version", "commit",
                          "date", "peers"}) {
    EXPECT_TRUE(machine.contains(key)) << key;
  }
  EXPECT_GT(machine.at("ceilings").at("multiply_add").at("f32").at("one_thread"), 0);
  EXPECT_GT(machine.at("ceilings").at("read").at("DRAM").at("all_threads"), 0);

  const Json& results = json.at("results");
  ASSERT_EQ(results.size(), 3u + 3u + 2u);  // two gemm sizes and one dot, each with the library
  for (const Json& result : results) {
    EXPECT_EQ(result.at("dtype"), "f32");
    EXPECT_EQ(result.at("verified"), true);
    EXPECT_LE(result.at("max_error_ratio"), 1.0);
    EXPECT_EQ(result.at("threads"), 2);
    EXPECT_EQ(result.at("operands"), "warm");
    EXPECT_EQ(result.at("device").get<std::string>().find("cpu"), 0u);
    const Json& seconds = result.at("seconds");
    EXPECT_GT(seconds.at("min"), 0);
    EXPECT_LE(seconds.at("min"), seconds.at("median"));
    EXPECT_LE(seconds.at("median"), seconds.at("max"));
    EXPECT_GE(seconds.at("samples"), 1);
    EXPECT_GT(result.at("gflops"), 0);
    EXPECT_GT(result.at("gbps"), 0);
    EXPECT_GT(result.at("ceiling").at("ratio"), 0);
    EXPECT_EQ(result.at("peers"), Json::object());
  }
  EXPECT_EQ(results[1].at("previous").at("rung"), catalog()[0].slug);
  EXPECT_EQ(results[3].at("m"), 5);
  EXPECT_EQ(results[3].at("n"), 7);
  EXPECT_EQ(results[3].at("k"), 3);
  EXPECT_EQ(results[5].at("rung"), "library");
  EXPECT_EQ(results[5].at("chose").get<std::string>().find("gemm/cpu/"), 0u);
  EXPECT_EQ(results[7].at("chose").get<std::string>().find("dot/cpu/"), 0u);
  EXPECT_EQ(results[7].at("n"), 8);
  EXPECT_EQ(results[7].at("k"), nullptr);
}

TEST(Bench, JsonOnStandardOutputIsAlone) {
  const Output output = run_rung("bench dot/cpu/00 --n 1e3 --json -" + std::string(tiny));
  ASSERT_EQ(output.exit_code, 0) << output.err;
  EXPECT_EQ(Json::parse(output.out).at("results").at(0).at("n"), 1000);
  EXPECT_NE(output.err.find("dot f32 1000, 2 threads, warm operands"), std::string::npos);
}

TEST(Bench, TableFitsEightyColumnsAndGivesAVerdict) {
  const Output output = run_rung("bench gemm/cpu/00 --n 8" + std::string(tiny));
  ASSERT_EQ(output.exit_code, 0) << output.err;
  const auto starts_character = [](char byte) { return (byte & 0xC0) != 0x80; };  // in UTF-8: "±"
  for (const std::string& line : lines(output.out)) {
    EXPECT_LE(std::ranges::count_if(line, starts_character), 80) << line;
  }
  EXPECT_NE(output.out.find(catalog()[0].slug + "  right; bottleneck: "), std::string::npos)
      << output.out;
  EXPECT_EQ(output.err, "");  // no progress line without a terminal
}

TEST(Bench, TakesEveryLayoutAndScalar) {
  for (const char* layout : {"nn", "nt", "tn", "tt"}) {
    const Output output = run_rung("bench gemm/cpu/01 --sizes 4x5x6 --alpha 2 --beta 0.5 --cold" +
                                   std::string(tiny) + "--layout " + layout);
    EXPECT_EQ(output.exit_code, 0) << output.err;
    EXPECT_EQ(output.out.find("gemm f32 4x5x6 " + std::string(layout) +
                              " alpha=2 beta=0.5, 2 threads, cold operands"),
              0u)
        << output.out;
  }
}

TEST(Bench, TimesAnEpilogueBesideThePlainProduct) {
  for (const char* type : {"f32", "bf16"}) {
    const Output output = run_rung(
        "bench gemm/cpu/01 --sizes 9x10x11 --layout nt --json - --epilogue "
        "bias,gelu,aux,residual --dtype " +
        std::string(type) + tiny);
    EXPECT_EQ(output.exit_code, 0) << output.err;
    const Json results = Json::parse(output.out).at("results");
    ASSERT_EQ(results.size(), 2u);  // the rung, and the library
    for (const Json& result : results) {
      EXPECT_EQ(result.at("epilogue"), "bias,gelu,aux,residual");
      EXPECT_EQ(result.at("verified"), true) << output.err;
    }
  }
}

TEST(Bench, MultipliesBlockScales) {
  const Output output = run_rung(
      "bench gemm/cuda/block_scaled --device virtual --sizes 9x130x300 --layout nt --json - "
      "--scales block "
      "--dtype e4m3" +
      std::string(tiny));
  EXPECT_EQ(output.exit_code, 0) << output.err;
  const Json results = Json::parse(output.out).at("results");
  ASSERT_EQ(results.size(), 2u);  // the rung, without scales, and the library
  for (const Json& result : results) {
    EXPECT_EQ(result.at("scales"), "block");
    EXPECT_EQ(result.at("verified"), true) << output.err;
  }
}

TEST(Bench, SkipsWhatWouldTakeTooLong) {
  const Output output =
      run_rung("bench gemm/cpu/00 --sizes 400 --seconds 0.0001 --vs none --json - --threads 1");
  EXPECT_EQ(output.exit_code, 3);  // no rung ran
  const Json result = Json::parse(output.out).at("results").at(0);
  EXPECT_NE(result.at("skipped").get<std::string>().find("would take about"), std::string::npos);
  EXPECT_EQ(result.at("verified"), false);
  EXPECT_EQ(result.at("seconds"), nullptr);
}

// After the first table, of many: `read` returns when it is printed.
TEST(Bench, KeepsWhatItHasWhenItIsInterrupted) {
  const Folder folder;
  const Output output = run_shell("cd " + (folder / "").string() + R"sh( && mkfifo pipe
      "$RUNG" bench gemm/cpu/00 --sizes "$(seq -s, 2 300)" --seconds 0.2 --threads 1 --vs none \
          --json results.json > pipe & pid=$!
      exec 3< pipe
      read -r first <&3
      kill -TERM $pid
      cat <&3 > rest
      wait $pid
      ended=$?
      tail -n 1 rest
      exit $ended)sh");
  EXPECT_EQ(output.exit_code, 128 + SIGTERM) << output.err;
  EXPECT_EQ(output.out, "interrupted: these are the results so far\n") << output.err;
  std::ifstream file(folder / "results.json");
  const Json json = Json::parse(file);
  EXPECT_EQ(json.at("interrupted"), true);
  EXPECT_GE(json.at("results").size(), 2u);  // the rung, and the library
  EXPECT_LT(json.at("results").size(), 2u * 299);
  EXPECT_EQ(json.at("results").at(0).at("verified"), true);
}

TEST(Bench, WrongRungIsNotTimed) {
  const Output output =
      run_shell("\"$RUNG_WRONG\" bench gemm/cpu/00 --n 8 --json -" + std::string(tiny));
  EXPECT_EQ(output.exit_code, 1);
  EXPECT_NE(output.err.find("WRONG: "), std::string::npos) << output.err;
  const Json result = Json::parse(output.out).at("results").at(0);
  EXPECT_EQ(result.at("verified"), false);
  EXPECT_EQ(result.at("seconds"), nullptr);
  EXPECT_NE(result.at("wrong"), "");
}

TEST(Bench, WrongPeerGivesNoRatio) {
  const Output output =
      run_shell("RUNG_OPENBLAS=" RUNG_WRONG_BLAS
                " \"$RUNG\" bench gemm/cpu/00 --n 8 --seconds 0.01 --vs openblas --json -");
  ASSERT_EQ(output.exit_code, 0) << output.err;  // the rung itself is right
  const Json peer = Json::parse(output.out).at("results").at(0).at("peers").at("openblas");
  EXPECT_EQ(peer.at("ratio"), nullptr);
  EXPECT_EQ(peer.at("seconds"), nullptr);
  EXPECT_EQ(peer.at("why_not").get<std::string>().find("wrong: "), 0u);
}

/// Why that peer has no ratio for a rung in bf16.
std::string why_no_bf16(const std::string& variable, const std::string& peer) {
  const Output output = run_shell(variable +
                                  "=" RUNG_WRONG_BLAS
                                  " \"$RUNG\" bench gemm/cpu/00 --n 8 --seconds 0.01 "
                                  "--dtype bf16 --json - --vs " +
                                  peer);
  EXPECT_EQ(output.exit_code, 0) << output.err;
  return Json::parse(output.out).at("results").at(0).at("peers").at(peer).at("why_not");
}

TEST(Bench, PeerWithoutAKernelForThisCpuIsNotTimed) {
  EXPECT_EQ(why_no_bf16("RUNG_ONEDNN", "onednn"), "has no such type");
}

TEST(Bench, MklMultipliesBfloat16) {
  EXPECT_EQ(why_no_bf16("RUNG_MKL", "mkl").find("wrong: "), 0u);
}

TEST(Bench, RightPeerGivesARatio) {
  const Output output =
      run_shell("RUNG_OPENBLAS=" RUNG_WRONG_BLAS
                " \"$RUNG\" bench dot/cpu/00 --n 8 --seconds 0.01 --vs openblas --json -");
  ASSERT_EQ(output.exit_code, 0) << output.err;
  const Json peer = Json::parse(output.out).at("results").at(0).at("peers").at("openblas");
  EXPECT_GT(peer.at("ratio"), 0);
  EXPECT_GT(peer.at("seconds"), 0);
}

TEST(Bench, FindsPeersInTheFolderOfMakePeers) {
  const Folder folder;
  std::filesystem::create_directory(folder / "peers");
  std::filesystem::create_symlink(RUNG_WRONG_BLAS, folder / "peers/libopenblas.so");
  const Output output = run_shell("RUNG_PEERS=" + (folder / "").string() +
                                  " \"$RUNG\" bench gemm/cpu/00 --n 8 --seconds 0.01 --vs openblas "
                                  "--json -");
  ASSERT_EQ(output.exit_code, 0) << output.err;
  const Json peer = Json::parse(output.out).at("machine").at("peers").at("openblas");
  EXPECT_EQ(peer.at("path"), RUNG_WRONG_BLAS);
}

TEST(Bench, UnwritableFileIsFoundFirstAndLeavesNothing) {
  const Folder folder;
  const Output output =
      run_rung("bench gemm/cpu --json " + (folder / "missing/bench.json").string() + tiny);
  EXPECT_EQ(output.exit_code, 2);
  EXPECT_EQ(output.out, "");
  EXPECT_TRUE(folder.empty());
}

TEST(Bench, FullDiskIsTold) {
  const Output output = run_rung("bench dot/cpu/00 --n 8 --json /dev/full" + std::string(tiny));
  EXPECT_EQ(output.exit_code, 1);
  EXPECT_NE(output.err.find("rung: '/dev/full' cannot be written: No space left on device"),
            std::string::npos)
      << output.err;
}

}  // namespace
}  // namespace rung
