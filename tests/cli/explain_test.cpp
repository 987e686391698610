// The output of rung explain and rung diff, for scripts and for readers.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "core/rung.hpp"
#include "program.hpp"

namespace rung {
namespace {

using Json = nlohmann::json;

void expect_narrow(const std::string& text) {
  for (const std::string& line : lines(text)) EXPECT_LE(line.size(), 80u) << line;
}

TEST(Explain, JsonHasEveryPart) {
  const Output output = run_rung("explain gemm/cuda/02 --no-hardware --json -");
  ASSERT_EQ(output.exit_code, 0) << output.err;
  const Json json = Json::parse(output.out);
  EXPECT_EQ(json.at("rung"), "gemm/cuda/02_shared_tile");
  EXPECT_EQ(json.at("k"), 4096);
  EXPECT_EQ(json.at("device"), "virtual NVIDIA H200");
  const Json& loads = json.at("traffic").at("shared_loads");
  EXPECT_EQ(loads.at("formula"), "2K");
  EXPECT_EQ(loads.at("counted_per_k"), 2);
  EXPECT_EQ(json.at("traffic").at("global_loads").at("expected_per_k"), 1.0 / 16);
  const Json& roofline = json.at("roofline");
  EXPECT_EQ(roofline.at("bound"), "shared memory");
  EXPECT_EQ(roofline.at("flops"), 2.0 * 4096 * 4096 * 4096);
  EXPECT_GT(roofline.at("measured_seconds"), roofline.at("seconds"));
  EXPECT_GT(json.at("occupancy").at("blocks"), 0);
  EXPECT_TRUE(json.at("occupancy").at("limited_by").is_string());
  EXPECT_GT(json.at("instructions").at("ptx").at("multiply_add_share"), 0.1);
  const Json& next = json.at("advice").at(0);
  EXPECT_EQ(next.at("cause"), "shared loads");
  EXPECT_EQ(next.at("rung"), "gemm/cuda/03_thread_column");
  EXPECT_EQ(json.at("hardware"), nullptr);
}

TEST(Explain, RungsOfTensorCoresAreOfBf16) {
  const Output output = run_rung("explain gemm/cuda/21 --no-hardware --json -");
  ASSERT_EQ(output.exit_code, 0) << output.err;
  expect_narrow(output.err);
  const Json json = Json::parse(output.out);
  EXPECT_EQ(json.at("dtype"), "bf16");
  EXPECT_EQ(json.at("tiles"),
            "128x128 of C per block of 256 threads, 64x32 per warp, k-blocks of 32");
  EXPECT_EQ(json.at("traffic").at("shared_loads").at("formula"), "K/32 + K/64");
  EXPECT_EQ(json.at("roofline").at("ceilings").at("data_sheet_flops"), 989e12);
  EXPECT_GT(json.at("instructions").at("ptx").at("parts").at("matrix multiply-add"), 0);
}

// The shapes of tcgen05.mma are in descriptors, so its time follows from the counted multiply-adds: those of the whole
// product, once also for a pair of blocks, at wgmma's share of the data sheet's rate.
TEST(Explain, Tcgen05IsCountedAtTheRateOfTensorCores) {
  constexpr double flops = 2.0 * 4096 * 4096 * 4096, peak = 2250e12, share = 0.87;
  const struct {
    const char* rung;
    double reads;  // elements of shared memory for one of C and step of k: 1 / rows + 1 / columns
  } rungs[] = {{"43", 1.0 / 128 + 1.0 / 128}, {"46", 1.0 / 256 + 1.0 / 256}};
  for (const auto& [rung, reads] : rungs) {
    const Output output =
        run_rung(std::string("explain gemm/cuda/") + rung + " --no-hardware --json -");
    ASSERT_EQ(output.exit_code, 0) << output.err;
    const Json json = Json::parse(output.out);
    EXPECT_EQ(json.at("device"), "virtual NVIDIA B200");
    const Json& prediction = json.at("prediction");
    const double seconds = prediction.at("bound").at("seconds");
    EXPECT_EQ(prediction.at("bound").at("name"), "tensor core");
    EXPECT_NEAR(seconds * peak * share / flops, 1, 1e-9) << rung;
    const double busy = json.at("roofline").at("busy");
    EXPECT_NEAR(double(prediction.at("parts").at("tensor cores")) * busy / seconds, 1, 1e-9)
        << rung;
    EXPECT_NEAR(double(json.at("traffic").at("shared_loads").at("counted_per_k")), reads, 1e-9)
        << rung;
    EXPECT_NE(output.err.find("no such GPU was at hand"), std::string::npos) << rung;
  }
}

TEST(Explain, PagesAreForKernelsOfGpus) {
  const Output output = run_rung("explain gemm/cpu/02 --html -");
  EXPECT_EQ(output.exit_code, 2);
  EXPECT_NE(output.err.find("rung: --html: "), std::string::npos) << output.err;
}

TEST(Explain, TextFitsEightyColumns) {
  const Output output = run_rung("explain gemm/cuda/05 --gpu a100 --n 1024 --no-hardware");
  ASSERT_EQ(output.exit_code, 0) << output.err;
  EXPECT_EQ(output.err, "");
  expect_narrow(output.out);
  for (const char* part :
       {"05_vectors: ", "f32 1024x1024x1024 on NVIDIA A100", "global loads", "K/128 + K/128",
        "* the bound: ", "occupancy: ", "% multiply-adds", "next: "}) {
    EXPECT_NE(output.out.find(part), std::string::npos) << part;
  }
}

TEST(Explain, TimesMayComeFromAFile) {
  const std::string file = std::filesystem::temp_directory_path() / "rung_explain_results.json";
  std::ofstream(file) << R"json({"machine": {}, "results": [{"rung": "gemm/cuda/04_thread_tile",
      "dtype": "f32", "m": 256, "n": 256, "k": 256, "device": "gpu NVIDIA H200 (x)",
      "seconds": {"median": 0.25}}]})json";
  const Output output =
      run_rung("explain gemm/cuda/04 --n 256 --no-hardware --json - --results " + file);
  std::filesystem::remove(file);
  ASSERT_EQ(output.exit_code, 0) << output.err;
  EXPECT_EQ(Json::parse(output.out).at("roofline").at("measured_seconds"), 0.25);
}

TEST(Explain, RungsOfTheCpuHaveARoofline) {
  const Output output = run_rung("explain dot/cpu/02 --n 1e6 --no-hardware --json -");
  ASSERT_EQ(output.exit_code, 0) << output.err;
  const Json json = Json::parse(output.out);
  EXPECT_EQ(json.at("roofline").at("flops"), 2e6);
  EXPECT_EQ(json.at("roofline").at("levels").at(1).at("bytes"), 8e6);
  expect_narrow(output.err);
}

TEST(Explain, ValgrindCountsARungOfTheCpu) {
  const Output without = run_shell("PATH=/nowhere \"$RUNG\" explain gemm/cpu/05 --n 64");
  EXPECT_EQ(without.exit_code, 0) << without.err;
  EXPECT_NE(without.out.find("cache misses and instructions: install valgrind"), std::string::npos)
      << without.out;
  if (run_shell("valgrind --version && objdump --version").exit_code != 0) {
    GTEST_SKIP() << "no valgrind or objdump";
  }
  const Output output = run_rung("explain gemm/cpu/00 --n 32 --json -");
  ASSERT_EQ(output.exit_code, 0) << output.err;
  expect_narrow(output.err);
  const Json counted = Json::parse(output.out).at("counted");
  constexpr double products = 32 * 32 * 32;
  EXPECT_GE(counted.at("loads"), 2 * products);  // of A and of B
  EXPECT_LT(counted.at("loads"), 4 * products);
  EXPECT_GE(counted.at("stores"), 32 * 32);
  EXPECT_EQ(counted.at("l2_misses"), 0);  // the operands are warm
  double all = 0;
  for (const auto& [kind, count] : counted.at("mix").items()) all += count.get<double>();
  EXPECT_EQ(all, counted.at("instructions"));
  EXPECT_NE(counted.at("functions").at(0).at("name").get<std::string>().find("TripleLoop"),
            std::string::npos);
}

TEST(Explain, CallsForAProfilerAreOfTheCpu) {
  EXPECT_EQ(run_rung("explain dot/cpu/02 --n 1000 --calls 2").exit_code, 0);
  EXPECT_EQ(run_rung("explain dot/cpu/02 --n 1000 --calls 0").exit_code, 2);
  EXPECT_EQ(run_rung("explain gemm/cuda/02 --calls 2").err,
            "rung: --calls: only for rungs of the CPU\n");
}

TEST(Explain, VectorsAreReadOnce) {
  for (const auto& [rung, vectors] : {std::pair{"dot/cuda/10", 2}, std::pair{"sum/cuda/10", 1}}) {
    const Output output =
        run_rung(std::string("explain ") + rung + " --n 65536 --no-hardware --json -");
    ASSERT_EQ(output.exit_code, 0) << output.err;
    const Json json = Json::parse(output.out);
    const Json& loads = json.at("traffic").at("global_loads");
    EXPECT_EQ(loads.at("expected_constant"), vectors);
    EXPECT_NEAR(loads.at("counted_constant").get<double>(), vectors, 0.05) << rung;
    EXPECT_EQ(json.at("roofline").at("bound"), "DRAM");
    EXPECT_EQ(json.at("m"), nullptr);
    expect_narrow(output.err);
  }
}

// Another compiler links the program, without the sanitizer runtime that this build needs.
#ifdef RUNG_SANITIZED
constexpr bool runs_programs = false;
#else
constexpr bool runs_programs = true;
#endif

TEST(Explain, AKernelOfOnesOwn) {
  if (!runs_programs) GTEST_SKIP() << "a sanitized build";
  const Output output = run_rung("explain -I . -D UNUSED " RUNG_EXPLAINED_PROGRAM
                                 ":matmul --json - --gpu t4 -- 256 256 256");
  ASSERT_EQ(output.exit_code, 0) << output.err;
  const Json json = Json::parse(output.out.substr(output.out.find('{')));
  EXPECT_EQ(json.at("kernel"), "matmul");
  EXPECT_EQ(json.at("device"), "virtual Tesla T4");
  const Json& finding = json.at("diagnosis").at("findings").at(0);
  EXPECT_EQ(finding.at("cause"), "shared loads");
  EXPECT_EQ(finding.at("rung"), "gemm/cuda/04_thread_tile");
  EXPECT_GT(json.at("diagnosis").at("predicted_seconds"), 0);
  EXPECT_GT(json.at("diagnosis").at("error").at("median"), 0);
  EXPECT_EQ(json.at("advice").at(0).at("cause"), "shared loads");
  EXPECT_EQ(json.at("hazards"), Json::array());
  expect_narrow(output.err);
}

TEST(Explain, ALaunchTakesAsLongAsTheUserMeasured) {
  const std::string explain =
      "explain gemm/cuda/04 --n 512 --m 512 --k 512 --no-hardware --json - ";
  const auto prediction = [&](const std::string& option) {
    const Output output = run_rung(explain + option);
    EXPECT_EQ(output.exit_code, 0) << output.err;
    return Json::parse(output.out).at("prediction");
  };
  const Json usual = prediction("--launch 3"), slow = prediction("--launch 10.5");
  const auto seconds = [](const Json& of, const char* name) { return of.at(name).get<double>(); };
  for (const char* name : {"launch_seconds", "predicted_seconds"}) {
    EXPECT_NEAR(seconds(slow, name) - seconds(usual, name), 7.5e-6, 1e-12) << name;
  }
}

TEST(Explain, ALaunchTakesTime) {
  for (const char* time : {"0", "-1", "1001", "5us"}) {
    const Output output = run_rung(std::string("explain gemm/cuda/04 --launch ") + time);
    EXPECT_EQ(output.exit_code, 2) << time;
    EXPECT_EQ(output.err.find("rung: --launch: '" + std::string(time) + "' is not a "), 0u)
        << output.err;
  }
}

/// Counts a program's kernels and those whose first finding matches the disease in their name.
struct Diagnosed {
  int diseases = 0, named = 0, healthy = 0, left_alone = 0;
};

Diagnosed diagnose(const std::string& program) {
  const Output output = run_rung("explain " + program + " --json -");
  EXPECT_EQ(output.exit_code, 0) << output.err;
  const Json json = Json::parse(output.out.substr(output.out.find('{')));
  Diagnosed diagnosed;
  for (const Json& kernel : json.at("kernels")) {
    const std::string name = kernel.at("kernel");
    std::string expected = name.substr(name.find("__") + 2);
    std::replace(expected.begin(), expected.end(), '_', ' ');
    const Json& findings = kernel.at("diagnosis").at("findings");
    const std::string found = findings.empty() ? "healthy" : findings.at(0).at("cause");
    const bool is_healthy = expected == "healthy", is_right = found == expected;
    ++(is_healthy ? diagnosed.healthy : diagnosed.diseases);
    (is_healthy ? diagnosed.left_alone : diagnosed.named) += is_right ? 1 : 0;
    if (!is_right) std::printf("%s: %s\n", name.c_str(), found.c_str());
  }
  return diagnosed;
}

TEST(Explain, TheFirstAdviceNamesTheDisease) {
  if (!runs_programs) GTEST_SKIP() << "a sanitized build";
  const Diagnosed known = diagnose(RUNG_DISEASES "/diseases.cu");
  EXPECT_GE(known.diseases, 25);
  EXPECT_EQ(known.named, known.diseases);
  EXPECT_GE(known.healthy, 10);
  EXPECT_EQ(known.left_alone, known.healthy);
  // The author of these kernels did not know the model. One kernel gets another finding first.
  const Diagnosed others = diagnose(RUNG_DISEASES "/diseases_at_first_sight.cu");
  EXPECT_GE(others.named, others.diseases - 1);
  EXPECT_EQ(others.left_alone, others.healthy);
  // Kernels as found in programs: a search whose loads no order coalesces, a scan and a tree whose
  // barriers and few loads in flight cost more than expected, a copy that is not slow.
  const Diagnosed found = diagnose(RUNG_DISEASES "/diseases_in_the_wild.cu");
  EXPECT_GE(found.named, found.diseases - 4);
  EXPECT_EQ(found.left_alone, found.healthy);
  // From other fields: uneven work without memory accesses, whose imbalance is not detected.
  const Diagnosed strangers = diagnose(RUNG_DISEASES "/diseases_of_strangers.cu");
  EXPECT_GE(strangers.named, strangers.diseases - 1);
  EXPECT_EQ(strangers.left_alone, strangers.healthy);
  // Three that are not slow on an H200.
  const Diagnosed fields = diagnose(RUNG_DISEASES "/diseases_of_other_fields.cu");
  EXPECT_GE(fields.named, fields.diseases - 3);
  EXPECT_EQ(fields.left_alone, fields.healthy);
}

// Causes of one name differ in their detail and remedy.
TEST(Explain, TheRemedyDependsOnTheSign) {
  if (!runs_programs) GTEST_SKIP() << "a sanitized build";
  const bool has_ptxas =
      run_shell("command -v ptxas || test -x /usr/local/cuda/bin/ptxas").exit_code == 0;
  const Output output = run_rung("explain " RUNG_DISEASES "/causes.cu --json -");
  ASSERT_EQ(output.exit_code, 0) << output.err;
  const Json json = Json::parse(output.out.substr(output.out.find('{')));
  const std::map<std::string, std::string> told = {
      {"accumulators", "bytes per thread in local memory for want of registers"},
      {"insertion_sort", "the array stack at causes.cu:"},
      {"follow", "a chain of dependent loads"},
      {"look_up", "its addresses come from another load"},
      {"drift", "structure of arrays"},
      {"turn", "a tile in shared memory that is written along columns"},
      {"squares", "67 % of the loaded sectors were loaded before by the same warp: 3.0 passes"},
      {"product", "multiply-adds of 16-bit operands"},
      {"steps", "CUDA graph"},
      {"remap", "no integer division"},
      {"row_sums", "a warp per row"},
      {"strided_tree", "t < h"},
      {"sums_of_blocks", "only as many blocks as the GPU holds"}};
  for (const Json& kernel : json.at("kernels")) {
    const std::string name = kernel.at("kernel"), short_name = name.substr(0, name.find("__"));
    std::string expected = name.substr(name.find("__") + 2);
    std::replace(expected.begin(), expected.end(), '_', ' ');
    const Json& findings = kernel.at("diagnosis").at("findings");
    if (expected == "register spills" && !has_ptxas) continue;
    if (expected == "healthy") {
      EXPECT_TRUE(findings.empty()) << findings.dump();
      continue;
    }
    ASSERT_FALSE(findings.empty()) << name;
    EXPECT_EQ(findings.at(0).at("cause"), expected) << name;
    EXPECT_NE(findings.at(0).dump().find(told.at(short_name)), std::string::npos)
        << name << findings.at(0).dump();
    EXPECT_LT(findings.at(0).at("seconds_after"), kernel.at("diagnosis").at("predicted_seconds"));
    // Rungs of products do not show what a sum needs.
    const bool is_sum = short_name.find("sum") != short_name.npos;
    if (is_sum) {
      EXPECT_EQ(findings.at(0).at("rung").get<std::string>().find("dot/"), 0u) << name;
    }
  }
}

TEST(Explain, TheBoundHasNoArithmeticOfIndices) {
  if (!runs_programs) GTEST_SKIP() << "a sanitized build";
  const Output output = run_rung("explain " RUNG_DISEASES "/causes.cu:tiled_turn__healthy");
  ASSERT_EQ(output.exit_code, 0) << output.err;
  EXPECT_NE(output.out.find(": at the bound\nnext: nothing; the kernel is at its bound\n"),
            std::string::npos)
      << output.out;
  EXPECT_EQ(output.out.find("GFLOP/s at most"), std::string::npos);
  expect_narrow(output.out);
}

// A file is explained for the same product as its rung.
TEST(Explain, AFileFromARungHasTheRungsDocumentedBottleneck) {
  if (!runs_programs) GTEST_SKIP() << "a sanitized build";
  struct Documented {
    const char* rung;
    const char* cause;
  };
  constexpr Documented all[] = {{"00", "uncoalesced accesses"},
                                {"01", "repeated loads"},
                                {"02", "shared loads"},
                                {"03", "shared loads"},
                                {"05", "bank conflicts"}};
  // The estimate of registers that takes the place of ptxas finds 05 low in occupancy.
  const bool has_ptxas = run_shell("command -v ptxas /usr/local/cuda/bin/ptxas").exit_code == 0;
  const std::string file = std::filesystem::temp_directory_path() / "rung_of_rung.cu";
  for (const auto& [rung, cause] : all) {
    if (std::string_view(rung) == "05" && !has_ptxas) continue;
    std::filesystem::remove(file);
    ASSERT_EQ(run_rung("new " + file + " --from gemm/cuda/" + rung).exit_code, 0) << rung;
    const Output output = run_rung("explain " + file + " --gpu h200 --json -");
    ASSERT_EQ(output.exit_code, 0) << output.err;
    EXPECT_NE(output.err.find("gemm f32 4096x4096x4096\n"), std::string::npos) << output.err;
    const Json findings =
        Json::parse(output.out).at("kernels").at(0).at("diagnosis").at("findings");
    ASSERT_FALSE(findings.empty()) << rung;
    EXPECT_EQ(findings.at(0).at("cause"), cause) << rung;
  }
  std::filesystem::remove(file);
}

TEST(Explain, SaysWhyARungIsNotPredicted) {
  const Output output = run_rung("explain dot/cuda/01 --n 4096 --json -");
  EXPECT_NE(output.out.find("\"not_predicted\": \"the CPU adds up"), std::string::npos);
  EXPECT_NE(output.out.find("\"prediction\": null"), std::string::npos);
  const Output skinny = run_rung("explain gemm/cuda/skinny --n 256");
  EXPECT_NE(skinny.out.find("\npredicted: "), std::string::npos) << skinny.out;
}

TEST(Explain, HazardsComeFirst) {
  if (!runs_programs) GTEST_SKIP() << "a sanitized build";
  const Output output = run_rung("explain " RUNG_RACY_PROGRAM " --gpu t4");
  EXPECT_EQ(output.exit_code, 1);
  EXPECT_EQ(output.err.find("shared-memory race: "), 0u) << output.err;
  EXPECT_EQ(output.out.find("hazards: 2, on standard error\n"), 0u) << output.out;
  EXPECT_NE(output.out.find("predicted: "), std::string::npos) << output.out;
  const Output page = run_rung("explain " RUNG_RACY_PROGRAM " --gpu t4 --html -");
  EXPECT_NE(page.out.find("<h2>Hazards</h2>\n<ul>\n<li>shared-memory race: "), std::string::npos);
}

TEST(Explain, IsComparedWithAnEarlierVersion) {
  if (!runs_programs) GTEST_SKIP() << "a sanitized build";
  const std::string file = std::filesystem::temp_directory_path() / "rung_explain_before.json";
  run_rung("explain " RUNG_EXPLAINED_PROGRAM " --json " + file);
  const std::string now = "explain " RUNG_EXPLAINED_PROGRAM " --baseline " + file;
  const Output same = run_rung(now);
  EXPECT_EQ(same.exit_code, 0) << same.err;
  EXPECT_NE(same.out.find("\nsince " + file + ": hazards 0, before 0\n"), std::string::npos)
      << same.out;
  EXPECT_NE(same.out.find("1.00 times as fast\n"), std::string::npos) << same.out;
  EXPECT_NE(same.out.find("\nfirst cause: "), std::string::npos) << same.out;
  const Output other = run_rung(now + " --gpu t4");
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_NE(other.err.find(": is of a virtual "), std::string::npos) << other.err;
  std::ofstream(file) << "{}";
  const Output wrong = run_rung(now);
  EXPECT_EQ(wrong.err.find("rung: --baseline: " + file +
                           ": is not what rung explain FILE.cu --json writes"),
            wrong.err.find("rung: --baseline"))
      << wrong.err;
  std::filesystem::remove(file);
}

TEST(Explain, ASecondFileIsNoArgument) {
  const Output output = run_rung("explain one.cu two.cu");
  EXPECT_EQ(output.exit_code, 2);
  EXPECT_EQ(output.err.find("rung: ARGS: 'two.cu': explain takes one file; to compare two, "), 0u)
      << output.err;
}

TEST(Explain, APageShowsOneKernel) {
  if (!runs_programs) GTEST_SKIP() << "a sanitized build";
  const Output output = run_rung("explain " RUNG_SEVERAL_KERNELS " --html -");
  EXPECT_EQ(output.exit_code, 2);
  EXPECT_NE(output.err.find("--html: a page shows one kernel; name one of the "), std::string::npos)
      << output.err;
}

TEST(Explain, KernelsOfModulesLoadedAtRunTimeAreLeftOut) {
  if (!runs_programs) GTEST_SKIP() << "a sanitized build";
  const Output output = run_rung("explain " RUNG_PROGRAM_OF_MODULES);
  EXPECT_EQ(output.exit_code, 2);
  EXPECT_NE(output.err.find("rung: FILE: the program launched no kernel of this file"),
            std::string::npos)
      << output.err;
}

TEST(Explain, AKernelThatIsNotThereIsNamed) {
  if (!runs_programs) GTEST_SKIP() << "a sanitized build";
  const Output output = run_rung("explain " RUNG_EXPLAINED_PROGRAM ":nothing");
  EXPECT_EQ(output.exit_code, 2);
  EXPECT_NE(output.err.find("rung: KERNEL: 'nothing' was not launched; the program launched "),
            std::string::npos)
      << output.err;
}

TEST(Diff, IsUnified) {
  const Output output = run_rung("diff gemm/cuda/00 gemm/cuda/01");
  EXPECT_EQ(output.exit_code, 0);
  EXPECT_EQ(output.err, "");
  EXPECT_EQ(output.out.find("--- gemm/cuda/00_naive\n+++ gemm/cuda/01_coalesced\n@@ -1,"), 0u)
      << output.out;
  EXPECT_NE(output.out.find("\n-    const std::int64_t row = tile.row + threadIdx.x;\n"),
            std::string::npos);
  EXPECT_NE(output.out.find("\n+    const std::int64_t row = tile.row + threadIdx.y;\n"),
            std::string::npos);
  EXPECT_EQ(output.out.find('\x1b'), std::string::npos) << "no colour but on a terminal";
  EXPECT_EQ(run_rung("diff gemm/cuda/00 gemm/cuda/00").out, "");
}

// patch(1) checks the output: applied to one source, it must give the other.
TEST(Diff, PatchesOneRungToTheOther) {
  for (const char* pair : {"gemm/cuda/02 gemm/cuda/03", "gemm/cuda/08 gemm/cuda/10",
                           "gemm/cpu/00 dot/cpu/compensated", "dot/cpu/compensated gemm/cpu/00"}) {
    const std::string names = pair;
    const std::string from = names.substr(0, names.find(' '));
    const std::string to = names.substr(names.find(' ') + 1);
    const auto folder = std::filesystem::temp_directory_path() / "rung_diff_test";
    std::filesystem::create_directory(folder);
    std::ofstream(folder / "from") << select({from}).front()->source;
    std::ofstream(folder / "to") << select({to}).front()->source;
    const Output output =
        run_shell("command -v patch > /dev/null || exit 77; cd " + folder.string() +
                  " && \"$RUNG\" diff " + names + " | patch -s from && cmp from to");
    std::filesystem::remove_all(folder);
    if (output.exit_code == 77) GTEST_SKIP() << "no patch here";
    EXPECT_EQ(output.exit_code, 0) << names << ": " << output.out << output.err;
  }
}

// `script` gives the program a terminal.
TEST(Diff, IsColouredOnATerminalUnlessRefused) {
  const auto on_terminal = [](const std::string& variables) {
    return run_shell("command -v script > /dev/null || exit 77; " + variables +
                     " script -qec \"$RUNG diff gemm/cuda/00 gemm/cuda/01\" /dev/null");
  };
  const Output output = on_terminal("NO_COLOR=");
  if (output.exit_code == 77) GTEST_SKIP() << "no script here";
  EXPECT_NE(output.out.find("\x1b[31m-"), std::string::npos);
  EXPECT_NE(output.out.find("\x1b[32m+"), std::string::npos);
  EXPECT_EQ(on_terminal("NO_COLOR=1").out.find('\x1b'), std::string::npos);
}

TEST(Explain, OfMetalIsTheSeedsArithmetic) {
  const Output output = run_rung("explain gemm/metal/01 --json -");
  ASSERT_EQ(output.exit_code, 0) << output.err;
  std::string text = output.err;
  std::replace(text.begin(), text.end(), '\n', ' ');
  EXPECT_NE(text.find("16 cores x 256 FLOP a clock x 1.296 GHz = 5308 GFLOP/s"), std::string::npos);
  EXPECT_NE(text.find("4 FLOP/byte x 200 GB/s = 800 GFLOP/s"), std::string::npos) << text;
  EXPECT_NE(text.find("639.82 GFLOP/s, 12.1 % of the peak, 0.80 times"), std::string::npos) << text;
  const Json json = Json::parse(output.out);
  EXPECT_EQ(json.at("device"), "virtual Apple M1 Pro");
  EXPECT_EQ(json.at("reference").at("flops"), 639.82e9);
  EXPECT_TRUE(json.at("roofline").at("levels").at(1).at("seconds").is_null());
  EXPECT_EQ(json.at("traffic").at("global_loads").at("counted_per_k"), 0.125);
}

}  // namespace
}  // namespace rung
