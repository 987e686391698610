// The output of the commands on success, and if a rung or a peer is wrong.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
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

TEST(List, JsonDescribesEveryRung) {
  const Output output = run_rung("list --json -");
  ASSERT_EQ(output.exit_code, 0) << output.err;
  EXPECT_EQ(output.err, "");
  const Json rungs = Json::parse(output.out);
  ASSERT_EQ(rungs.size(), catalog().size());
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    const Json& rung = rungs[i];
    EXPECT_EQ(rung.at("id"), catalog()[i].id);
    EXPECT_EQ(rung.at("op"), catalog()[i].op);
    EXPECT_EQ(rung.at("backend"), catalog()[i].backend);
    EXPECT_EQ(rung.at("idea"), catalog()[i].idea);
    EXPECT_EQ(rung.at("from"), catalog()[i].from);
    EXPECT_EQ(rung.at("requires"), catalog()[i].needs);
    EXPECT_TRUE(rung.at("dtypes").is_array());
    const Json& devices = rung.at("devices");
    if (catalog()[i].backend == "cpu") {
      EXPECT_EQ(devices.at("cpu"), Json(true));
      EXPECT_EQ(devices.at("gpu"), "a cpu rung");
      EXPECT_EQ(devices.at("virtual"), "a cpu rung");
    } else {
      EXPECT_EQ(devices.at("cpu"), "a " + catalog()[i].backend + " rung");
      EXPECT_TRUE(devices.at("gpu") == Json(true) || devices.at("gpu").is_string());
      const bool is_for_h200 = usual_gpu(catalog()[i]) != "b200";
      EXPECT_EQ(devices.at("virtual"),
                is_for_h200 ? Json(true) : Json("needs sm_100; this device is sm_90"));
      EXPECT_FALSE(rung.at("dtypes").empty());
    }
  }
}

TEST(List, DtypesAreThoseOfTheOp) {
  const auto dtypes = [](const std::string& selector) {
    return Json::parse(run_rung("list --json - " + selector).out).at(0).at("dtypes");
  };
  EXPECT_EQ(dtypes("gemm/cpu/00"), Json({"f32", "f64", "i32", "bf16", "f16", "i8"}));
  EXPECT_EQ(dtypes("gemm/cuda/00"), Json({"f32", "f64", "i32", "bf16", "f16"}));
  EXPECT_EQ(dtypes("gemm/cuda/09"), Json({"f32", "f64", "i32"}));
  EXPECT_EQ(dtypes("dot/cpu/00"), Json({"f32", "f64", "bf16", "f16"}));
  EXPECT_EQ(dtypes("sum/cuda/10"), Json({"f32", "f64", "i32", "bf16", "f16"}));
}

TEST(List, TextHasTheLaddersThenTheLibrarysKernels) {
  const std::string text = run_rung("list gemm/cuda").out;
  const auto at = [&](const std::string& begin) { return text.find("\n" + begin); };
  ASSERT_NE(at("The library's kernels:\n"), std::string::npos) << text;
  EXPECT_LT(at("gemm/cuda/31_dependent_launch "), at("The library's kernels:\n"));
  EXPECT_LT(at("The library's kernels:\n"), at("gemm/cuda/skinny "));
  EXPECT_NE(at("gemm/cuda/skinny "), std::string::npos);
  EXPECT_EQ(run_rung("list gemm/metal").out.find("kernels:"), std::string::npos);
}

TEST(List, ALadderHasALineForEachRung) {
  const std::vector<std::string> all = lines(run_rung("list gemm/metal").out);
  const Json rungs = Json::parse(run_rung("list gemm/metal --json -").out);
  ASSERT_GT(all.size(), rungs.size());
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    const std::string id = rungs[i].at("id");
    EXPECT_EQ(all[i].find(id + "  "), 0u) << all[i];
    const std::string idea = all[i].substr(all[i].find_first_not_of(' ', id.size()));
    EXPECT_EQ(rungs[i].at("idea").get<std::string>().find(idea.substr(0, 20)), 0u) << all[i];
  }
  EXPECT_EQ(all.size(), rungs.size() + 2) << "a blank line, and how to see more";
}

TEST(List, RungsThatAreNamedHaveTheirDetails) {
  const std::string text = run_rung("list gemm/cpu/00 gemm/cuda/07").out;
  for (const char* part :
       {"gemm/cpu/00_triple_loop\n", "    runs on: cpu\n", "gemm/cuda/07_warp_tile\n",
        "    from: 06_bank_free\n", "    types: f32 f64 i32 bf16 f16\n", "    needs: nothing\n",
        "    runs on: virtual", "    try: rung "}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\nin\n" << text;
  }
  for (const char* ladder : {"cpu", "cuda"}) {
    EXPECT_EQ(text.find(std::string("a ") + ladder + " rung"), std::string::npos) << text;
  }
}

TEST(List, LinesAreAsLongAsTheTerminalAllows) {
  const auto longest = [](const char* columns) {
    setenv("COLUMNS", columns, 1);
    std::size_t most = 0;
    for (const std::string& line : lines(run_rung("list gemm/cuda").out)) {
      most = std::max(most, line.size());
    }
    unsetenv("COLUMNS");
    return most;
  };
  EXPECT_LE(longest("70"), 70u);
  EXPECT_GT(longest("150"), 120u);
  EXPECT_LE(longest("150"), 150u);
}

TEST(List, TakesFormerIdsWithANote) {
  const Output today = run_rung("list gemm/cuda/any_operands --json -");
  EXPECT_EQ(today.err, "");
  for (const char* former : {"gemm/cuda/51_any_operands", "gemm/cuda/51"}) {
    const Output output = run_rung(std::string("list --json - ") + former);
    EXPECT_EQ(output.exit_code, 0);
    EXPECT_EQ(output.out, today.out);
    EXPECT_EQ(output.err, "gemm/cuda/51_any_operands is now gemm/cuda/any_operands\n");
  }
  const Output both = run_rung("diff gemm/cuda/40_mma_f64 dot/cuda/12");
  EXPECT_EQ(both.exit_code, 0);
  EXPECT_EQ(both.err,
            "gemm/cuda/40_mma_f64 is now gemm/cuda/mma_f64\n"
            "dot/cuda/12_reproducible is now dot/cuda/reproducible\n");
  EXPECT_EQ(run_rung("list gemm/cuda/25 gemm/cuda/31").err, "");
}

TEST(List, TextFitsEightyColumns) {
  for (const char* arguments : {"list", "list dot/cpu/00", "doctor"}) {
    const Output output = run_rung(arguments);
    EXPECT_EQ(output.exit_code, 0);
    EXPECT_NE(output.out, "");
  }
  for (const std::string& line : lines(run_rung("list").out)) EXPECT_LE(line.size(), 80u) << line;
}

TEST(Verify, RightRungsExitZero) {
  const Output output = run_rung("verify dot/cpu/00 --dtype f32 --sizes 1000 --json -");
  ASSERT_EQ(output.exit_code, 0) << output.err;
  const Json result = Json::parse(output.out).at("results").at(0);
  EXPECT_EQ(result.at("rung").get<std::string>().find("dot/cpu/00_"), 0u);
  EXPECT_EQ(result.at("dtype"), "f32");
  EXPECT_EQ(result.at("device").get<std::string>().find("cpu"), 0u);
  EXPECT_EQ(result.at("verified"), true);
  EXPECT_GT(result.at("cases"), 10);
  EXPECT_LE(result.at("max_error_ratio"), 1.0);
}

TEST(Verify, EndsWithASummary) {
  const Output right = run_rung("verify gemm/cpu/00 gemm/cpu/01 --dtype i32");
  EXPECT_EQ(lines(right.out).back().find("all right: 2 pairs of rung and type, "), 0u) << right.out;
  const Output none = run_rung("verify dot/cpu --dtype i32");
  EXPECT_EQ(lines(none.out).back().find("nothing verified; "), 0u) << none.out;
}

TEST(Verify, MakesUpProblems) {
  const auto cases = [](const std::string& more) {
    const Output output = run_rung("verify gemm/cpu/01 --dtype i32 --json -" + more);
    EXPECT_EQ(output.exit_code, 0) << output.err;
    return Json::parse(output.out).at("results").at(0).at("cases").get<int>();
  };
  EXPECT_EQ(cases(" --random 7 --seed 3"), cases("") + 7);
}

TEST(Verify, TellsEachDtypeThatTheRungHasOrThatIsAskedFor) {
  const Output output = run_rung("verify dot/cpu/00");
  EXPECT_EQ(output.exit_code, 0);
  EXPECT_EQ(lines(output.out).size(), 5u) << output.out;  // and the summary
  const Output i32 = run_rung("verify dot/cpu/00 --dtype i32");
  EXPECT_NE(i32.out.find("i32        skipped: no i32"), std::string::npos) << i32.out;
}

TEST(Verify, NothingThatCanRunIsUnavailable) {
  EXPECT_EQ(run_rung("verify dot/cpu --dtype i32").exit_code, 3);
}

TEST(Verify, WrongRungExitsOne) {
  const Output output = run_shell("\"$RUNG_WRONG\" verify gemm/cpu/00 --dtype f32");
  EXPECT_EQ(output.exit_code, 1);
  EXPECT_NE(output.out.find("WRONG in "), std::string::npos) << output.out;
}

TEST(Verify, CudaRungsRunOnTheVirtualGpu) {
  const Output output = run_rung("verify gemm/cuda/02 --device virtual --dtype f32 --json -");
  ASSERT_EQ(output.exit_code, 0) << output.err;
  const Json result = Json::parse(output.out).at("results").at(0);
  EXPECT_EQ(result.at("device").get<std::string>().find("virtual NVIDIA H200"), 0u);
  EXPECT_EQ(result.at("verified"), true);
}

TEST(Verify, TheVirtualGpuCanBeAnother) {
  const Output output =
      run_rung("verify gemm/cuda/00 --device virtual --gpu t4 --dtype f32 --json -");
  ASSERT_EQ(output.exit_code, 0) << output.err;
  const Json result = Json::parse(output.out).at("results").at(0);
  EXPECT_NE(result.at("device").get<std::string>().find("T4"), std::string::npos);
}

TEST(Verify, WrongCudaRungExitsOne) {
  // Half of its threads are not launched: half of each tile is never written.
  const Output output =
      run_shell("\"$RUNG_WRONG\" verify gemm/cuda/02 --device virtual --dtype f32");
  EXPECT_EQ(output.exit_code, 1);
  EXPECT_NE(output.out.find("WRONG in "), std::string::npos) << output.out;
  EXPECT_NE(output.out.find("uninitialised"), std::string::npos) << output.out;
}

TEST(Trace, JsonHasTheShapeOfTheContract) {
  const Output output = run_rung("trace gemm/cuda/02 --m 33 --n 65 --k 40 --beta 1 --json -");
  ASSERT_EQ(output.exit_code, 0) << output.err;
  const Json json = Json::parse(output.out);
  EXPECT_EQ(json.at("rung"), "gemm/cuda/02_shared_tile");
  EXPECT_EQ(json.at("dtype"), "f32");
  EXPECT_EQ(json.at("m"), 33);
  EXPECT_EQ(json.at("n"), 65);
  EXPECT_EQ(json.at("k"), 40);
  EXPECT_EQ(json.at("device").get<std::string>().find("virtual"), 0u);
  const Json& kernel = json.at("kernels").at(0);
  EXPECT_EQ(kernel.at("name"), "gemm_cuda_02_shared_tile_f32");
  EXPECT_EQ(kernel.at("grid"), Json({6, 1, 1}));
  EXPECT_EQ(kernel.at("block"), Json({32, 32, 1}));
  EXPECT_EQ(kernel.at("hazards"), Json::array());
  for (const char* key : {"global_load_requests", "global_load_sectors", "global_store_requests",
                          "global_store_sectors", "shared_load_requests", "shared_load_wavefronts",
                          "shared_store_requests", "shared_store_wavefronts", "ffma",
                          "instructions", "barriers", "divergent_branches"}) {
    EXPECT_TRUE(kernel.at("counters").at(key).is_number_unsigned()) << key;
  }
  EXPECT_GT(kernel.at("lines").at(0).at("instructions"), 0);
}

TEST(Trace, ShowsBulkCopiesAndTensorCores) {
  const Output output = run_rung("trace gemm/cuda/24 --dtype bf16 --n 128 --json -");
  ASSERT_EQ(output.exit_code, 0) << output.err;
  const Json counters = Json::parse(output.out).at("kernels").at(0).at("counters");
  EXPECT_EQ(counters.at("bulk_load_bytes"), 2 * 128 * 128 * 2);
  EXPECT_EQ(counters.at("global_load_requests"), 0);
  EXPECT_EQ(counters.at("tensor_multiply_adds"), 128 * 128 * 128);
  // On stderr, because stdout has the JSON: copies, bytes, sectors, lines, bytes of shared memory.
  for (const char* row : {"bulk loads        6  65,536    2,048    512        65,536\n",
                          "2,097,152 multiply-adds of tensor cores\n"}) {
    EXPECT_NE(output.err.find(row), std::string::npos) << output.err;
  }
}

TEST(Trace, OfASumHasALaunchForEachPass) {
  const Output output = run_rung("trace sum/cuda/05 --n 1000 --dtype bf16 --json -");
  ASSERT_EQ(output.exit_code, 0) << output.err;
  const Json json = Json::parse(output.out);
  EXPECT_EQ(json.at("rung"), "sum/cuda/05_contiguous");
  EXPECT_EQ(json.at("m"), nullptr);
  EXPECT_EQ(json.at("n"), 1000);
  ASSERT_EQ(json.at("kernels").size(), 2u);
  EXPECT_EQ(json.at("kernels").at(0).at("name"), "sum_cuda_05_contiguous_bf16");
  EXPECT_EQ(json.at("kernels").at(0).at("grid"), Json({2, 1, 1}));
  EXPECT_EQ(json.at("kernels").at(1).at("name"), "sum_cuda_05_contiguous_f32");
}

TEST(Trace, ShowsTheHotLineWithItsText) {
  for (const char* const rung : {"gemm/cuda/02", "gemm/metal/02"}) {
    const Output output = run_rung(std::string("trace ") + rung + " --n 64");
    ASSERT_EQ(output.exit_code, 0) << output.err;
    EXPECT_NE(output.out.find(": sum += "), std::string::npos) << output.out;
    for (const std::string& line : lines(output.out)) EXPECT_LE(line.size(), 80u) << line;
  }
}

TEST(List, MetalHasNoDoubles) {
  const Json rungs = Json::parse(run_rung("list --json - gemm/metal/05 dot/metal/00").out);
  EXPECT_EQ(rungs.at(0).at("dtypes"), Json({"f32", "bf16", "f16"}));
  EXPECT_EQ(rungs.at(1).at("dtypes"), Json({"f32", "i32", "bf16", "f16"}));
}

TEST(Trace, OfMetalIsOnAnM1ProAndSaysWhoseUnitsTheseAre) {
  const Output output = run_rung("trace dot/metal/05 --n 1000 --json -");
  ASSERT_EQ(output.exit_code, 0) << output.err;
  const Json json = Json::parse(output.out);
  EXPECT_EQ(json.at("device"), "virtual Apple M1 Pro (16 cores, simulated by this CPU)");
  EXPECT_NE(json.at("units").get<std::string>().find("NVIDIA"), std::string::npos);
  EXPECT_EQ(json.at("kernels").at(0).at("name"), "dot_metal_05_contiguous_f32");
  EXPECT_EQ(json.at("kernels").at(1).at("name"), "dot_metal_05_contiguous_again_f32");
  EXPECT_EQ(run_rung("trace gemm/metal/01 --n 100").exit_code, 3);
}

TEST(Trace, IsOfEveryMetalRung) {
  for (const Json& rung : Json::parse(run_rung("list --json - gemm/metal dot/metal").out)) {
    const std::string id = rung.at("id");
    const Output output = run_rung("trace " + id + " --n 64 --json -");
    ASSERT_EQ(output.exit_code, 0) << id << output.err;
    const Json json = Json::parse(output.out);
    EXPECT_GT(json.at("kernels").at(0).at("counters").at("instructions"), 0) << id;
    EXPECT_TRUE(json.at("kernels").at(0).at("hazards").empty()) << id;
  }
}

TEST(Trace, DrawsWhichLanesTouchWhat) {
  const Output output = run_rung("trace gemm/cuda/00 --n 64 --map -");
  ASSERT_EQ(output.exit_code, 0) << output.err;
  EXPECT_EQ(output.out.find("<svg "), 0u);
  EXPECT_NE(output.out.find("32 sectors of 32 bytes.</desc>"), std::string::npos) << output.out;
  EXPECT_NE(output.err.find("global loads"), std::string::npos);
}

TEST(Trace, MapsALineThatIsNamed) {
  const std::string command = "trace gemm/cuda/02 --n 64 --warp 3 --map - --line ";
  const Output nothing = run_rung(command + "1");
  EXPECT_EQ(nothing.exit_code, 2);
  const std::string message =
      "--line: '1' has no access by warp 3; lines with one: 02_shared_tile.cu:";
  const std::size_t found = nothing.err.find(message);
  ASSERT_NE(found, std::string::npos) << nothing.err;
  const int line = std::atoi(nothing.err.c_str() + found + message.size());
  const Output output = run_rung(command + std::to_string(line));
  EXPECT_EQ(output.exit_code, 0) << output.err;
  EXPECT_NE(output.out.find(" at 02_shared_tile.cu:" + std::to_string(line)), std::string::npos);
}

TEST(Tune, KeepsTheBestPlanAmongThoseOfOtherProblems) {
  const Folder folder;
  const fs::path file = folder / "plans.txt";
  const std::string others =
      "# kept\ngemm/cuda/11_split_k f32 64 64 64 0 1\ngemm/cuda/10_tuned_tiles f32 96 96 96 1 1\n";
  std::ofstream(file) << others;
  const Output output =
      run_rung("tune gemm/cuda/11 --device virtual --unobserved --sizes 96 --seconds 0.001 -o " +
               file.string() + " --json -");
  ASSERT_EQ(output.exit_code, 0) << output.err;
  EXPECT_NE(output.err.find("kept in " + file.string()), std::string::npos) << output.err;
  for (const std::string& line : lines(output.err)) {
    const bool names_file = line.find(file.string()) != std::string::npos;
    EXPECT_TRUE(names_file || line.size() <= 80u) << line;
  }
  const Json result = Json::parse(output.out).at(0);
  const Json& candidates = result.at("candidates");
  EXPECT_GT(candidates.size(), 3u);
  for (const Json& candidate : candidates) EXPECT_EQ(candidate.at("verified"), true);
  const Json& best = candidates.at(result.at("best").get<std::size_t>());
  std::ifstream stream(file);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(stream), {}),
            others + "gemm/cuda/11_split_k f32 96 96 96 " + best.at("tile").dump() + " " +
                best.at("splits").dump() + "\n");
}

TEST(Tune, EveryTypeOfTensorCores) {
  const Folder folder;
  const fs::path file = folder / "plans.txt";
  for (const std::string dtype : {"tf32", "i8", "e4m3", "e5m2", "bf16-bf16", "f16-f16"}) {
    const Output output =
        run_rung("tune gemm/cuda/31 --device virtual --unobserved --dtype " + dtype +
                 " --sizes 64x72x144 --seconds 0.001 -o " + file.string());
    EXPECT_EQ(output.exit_code, 0) << output.err;
    std::ifstream stream(file);
    const std::string kept(std::istreambuf_iterator<char>(stream), {});
    EXPECT_NE(kept.find("gemm/cuda/31_dependent_launch " + dtype + " 64 72 144 "),
              std::string::npos)
        << kept;
  }
}

TEST(Tune, TheFactorsOfTheCpusCostsAreKeptBesideThoseOfTheOtherType) {
  const Folder folder;
  const fs::path file = folder / "factors.txt";
  std::ofstream(file) << "gemm/cpu/just_in_time f64 1.25\n";
  const Output output = run_rung("tune gemm/cpu --dtype f32 --sizes 40x96x72 --seconds 0.0001 -o " +
                                 file.string() + " --json -");
  ASSERT_EQ(output.exit_code, 0) << output.err;
  EXPECT_NE(output.err.find("kept in " + file.string()), std::string::npos) << output.err;
  const Json result = Json::parse(output.out).at(0);
  EXPECT_EQ(result.at("problems"), 4);  // one for each layout
  EXPECT_EQ(result.at("factors").size(), 6u);
  EXPECT_LE(result.at("regret_after").get<double>(), result.at("regret_before").get<double>());
  std::ifstream stream(file);
  const std::string kept(std::istreambuf_iterator<char>(stream), {});
  EXPECT_NE(kept.find("gemm/cpu/just_in_time f64 1.25\n"), std::string::npos) << kept;
  EXPECT_NE(kept.find("gemm/cpu/masked_edges f32 "), std::string::npos) << kept;
}

TEST(Tune, AFileOfTilesIsNoFileOfFactors) {
  const Folder folder;
  const fs::path file = folder / "plans.txt";
  std::ofstream(file) << "gemm/cuda/11_split_k f32 64 64 64 0 1\n";
  const Output output = run_rung("tune gemm/cpu -o " + file.string());
  EXPECT_EQ(output.exit_code, 2);
  EXPECT_EQ(output.err,
            "rung: -o: 'gemm/cuda/11_split_k f32 64 64 64 0 1' is not 'RUNG DTYPE FACTOR', as rung "
            "tune gemm/cpu writes it\n");
}

TEST(Tune, TimesOfASimulationAreNotKeptUnasked) {
  const Folder folder;
  const Output output =
      run_shell("XDG_CACHE_HOME=" + (folder / "").string() +
                " \"$RUNG\" tune gemm/cuda/10 --device virtual --unobserved --sizes 96x64x32 "
                "--seconds 0.001");
  EXPECT_EQ(output.exit_code, 0) << output.err;
  EXPECT_NE(output.out.find("not kept"), std::string::npos) << output.out;
  EXPECT_TRUE(folder.empty());
}

TEST(Tune, AFileThatIsNoneOfItsOwnIsLeftAlone) {
  const Folder folder;
  const fs::path file = folder / "notes.txt";
  std::ofstream(file) << "buy milk\n";
  const Output output = run_rung("tune gemm/cuda/11 --device virtual -o " + file.string());
  EXPECT_EQ(output.exit_code, 2);
  EXPECT_EQ(output.err,
            "rung: -o: 'buy milk' is not 'RUNG DTYPE M N K TILE SPLITS [WHOLE]', as rung tune "
            "writes it\n");
  std::ifstream stream(file);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(stream), {}), "buy milk\n");
}

TEST(Doctor, NamesWhatDistortsAMeasurement) {
  const Output output = run_shell("OPENBLAS_CORETYPE=Haswell \"$RUNG\" doctor");
  EXPECT_EQ(output.exit_code, 0);
  EXPECT_NE(output.out.find("OPENBLAS_CORETYPE=Haswell: "), std::string::npos) << output.out;
}

TEST(Doctor, SaysWhyAPeerIsMissing) {
  const Output output = run_shell("RUNG_BLIS=/nowhere/libblis.so \"$RUNG\" doctor");
  EXPECT_EQ(output.exit_code, 0);
  EXPECT_NE(output.out.find("RUNG_BLIS: "), std::string::npos) << output.out;
  EXPECT_NE(output.out.find("libblis4-pthread"), std::string::npos) << output.out;
}

}  // namespace
}  // namespace rung
