// rung new, check, explain, trace, bench and diff on users' files, called as from scripts.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "program.hpp"

namespace rung {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// Gives each test a folder of its own, which shell commands refer to as $HERE.
class KernelFile : public ::testing::Test {
 protected:
  KernelFile() {
    fs::create_directories(folder_);
    setenv("HERE", folder_.c_str(), 1);
    setenv("KERNELS", RUNG_KERNELS, 1);
    setenv("RUNGS", RUNG_RUNGS, 1);
  }
  ~KernelFile() override { fs::remove_all(folder_); }

  std::string contents(const std::string& name) const {
    std::ifstream file(folder_ / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  fs::path folder_ = fs::temp_directory_path() / ("rung_kernel_file_" + std::to_string(getpid()));
};

Json check(const std::string& arguments, int exit_code) {
  const Output output = run_rung("check " + arguments + " --json -");
  EXPECT_EQ(output.exit_code, exit_code) << output.err;
  return output.out.empty() ? Json() : Json::parse(output.out);
}

void expect_error(const std::string& arguments, int exit_code, const std::string& message) {
  const Output output = run_rung(arguments);
  EXPECT_EQ(output.exit_code, exit_code) << arguments;
  EXPECT_EQ(output.out, "") << arguments;
  EXPECT_EQ(output.err, "rung: " + message + "\n") << arguments;
}

TEST_F(KernelFile, IsCheckedInRandomOrders) {
  std::ofstream(std::string(getenv("HERE")) + "/sum.cu")
      << "__global__ void add(int n, const float* x, float* result) {\n"
         "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
         "  if (i < n) atomicAdd(result, x[i]);\n"
         "}\n"
         "void sum(int n, const float* x, float* result) {\n"
         "  cudaMemset(result, 0, sizeof(float));\n"
         "  add<<<(n + 31) / 32, 32>>>(n, x, result);\n"
         "}\n";
  const Json sum = check("$HERE/sum.cu --schedule 3", 0);
  EXPECT_EQ(sum.at("schedule").at("same"), false) << "floating-point sums in any order";
  EXPECT_EQ(sum.at("schedule").at("orders"), 4);
  const Json race = check("$KERNELS/race.cu --schedule 1", 1);
  EXPECT_EQ(race.at("schedule").at("orders"), 2);
}

TEST_F(KernelFile, StartsFromARungAndIsExplainedTracedTimedAndCompared) {
  ASSERT_EQ(run_rung("new $HERE/my.cu --from gemm/cuda/04").exit_code, 0);
  EXPECT_NE(contents("my.cu").find("void gemm(int m, int n, int k, float alpha"),
            std::string::npos);
  const Output checked = run_rung("check $HERE/my.cu");
  EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
  EXPECT_NE(checked.out.find("right in 27 cases"), std::string::npos) << checked.out;

  const Output explained =
      run_rung("explain $HERE/my.cu --m 256 --n 256 --k 32 --json $HERE/explained.json");
  EXPECT_EQ(explained.exit_code, 0) << explained.err;
  EXPECT_NE(explained.out.find("\nmy_kernel of "), std::string::npos) << explained.out;
  const Json kernels = Json::parse(contents("explained.json")).at("kernels");
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].at("kernel"), "my_kernel");

  const Output traced = run_rung("trace $HERE/my.cu --n 64 --json $HERE/traced.json");
  EXPECT_EQ(traced.exit_code, 0) << traced.err;
  EXPECT_NE(traced.out.find(": for (std::int64_t k0"), std::string::npos) << "counters by line";
  const Json launch = Json::parse(contents("traced.json")).at("kernels").at(0);
  EXPECT_EQ(launch.at("counters").at("ffma"), 128u * 128 * 64);

  const Output timed = run_rung(
      "bench $HERE/my.cu --against gemm/cuda/05 --device virtual --n 64 --seconds 0.01 "
      "--json $HERE/timed.json");
  EXPECT_EQ(timed.exit_code, 0) << timed.err;
  EXPECT_TRUE(timed.out.starts_with("times are those of the simulation")) << timed.out;
  const Json results = Json::parse(contents("timed.json")).at("results");
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].at("rung"), "my.cu");
  EXPECT_EQ(results[0].at("verified"), true);
  EXPECT_EQ(results[0].at("previous").at("rung"), "05_vectors");
  EXPECT_EQ(results[1].at("rung"), "gemm/cuda/05_vectors");

  const Output without_gpu = run_rung(
      "bench $HERE/my.cu --vs gemm/cuda/05,library,cublas --device virtual --n 64 "
      "--seconds 0.01");
  EXPECT_EQ(without_gpu.exit_code, 0) << without_gpu.err;
  EXPECT_NE(without_gpu.err.find("left out: 'cublas' "), std::string::npos) << without_gpu.err;
  EXPECT_NE(without_gpu.out.find("library: "), std::string::npos) << without_gpu.out;

  const Output compared = run_rung("diff gemm/cuda/04 $HERE/my.cu");
  EXPECT_EQ(compared.exit_code, 0);
  EXPECT_NE(compared.out.find("-RUNG_CUDA_GEMM(04"), std::string::npos) << compared.out;
}

TEST_F(KernelFile, MetalStartsFromARungAndIsExplainedTracedTimedAndCompared) {
  ASSERT_EQ(run_rung("new $HERE/my.metal --from gemm/metal/04").exit_code, 0);
  const Output checked = run_rung("check $HERE/my.metal");
  EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
  EXPECT_NE(checked.out.find("on virtual Apple M1 Pro"), std::string::npos) << checked.out;
  EXPECT_NE(checked.out.find("right in 27 cases"), std::string::npos) << checked.out;

  const Output explained =
      run_rung("explain $HERE/my.metal --m 128 --n 128 --k 32 --json $HERE/explained.json");
  EXPECT_EQ(explained.exit_code, 0) << explained.err;
  const Json kernels = Json::parse(contents("explained.json")).at("kernels");
  ASSERT_EQ(kernels.size(), 1u);
  const std::string told = explained.out;
  EXPECT_NE(told.find("no prediction was compared with"), std::string::npos) << told;
  EXPECT_EQ(told.find("__syncthreads"), std::string::npos) << told;
  EXPECT_EQ(told.find("shared memory once"), std::string::npos) << told;

  const Output traced =
      run_rung("trace $HERE/my.metal --n 64 --json $HERE/traced.json --map $HERE/map.svg");
  EXPECT_EQ(traced.exit_code, 0) << traced.err;
  EXPECT_NE(contents("map.svg").find("<svg"), std::string::npos);
  const Json launch = Json::parse(contents("traced.json")).at("kernels").at(0);
  EXPECT_EQ(launch.at("counters").at("ffma"), 64u * 64 * 64);

  const Output timed = run_rung(
      "bench $HERE/my.metal --against gemm/metal/03 --device virtual --n 64 --seconds 0.01 "
      "--json $HERE/timed.json");
  EXPECT_EQ(timed.exit_code, 0) << timed.err;
  const Json results = Json::parse(contents("timed.json")).at("results");
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].at("rung"), "my.metal");
  EXPECT_EQ(results[0].at("verified"), true);
  EXPECT_EQ(results[1].at("rung"), "gemm/metal/03_thread_tile");

  const Output compared = run_rung("diff gemm/metal/04 $HERE/my.metal");
  EXPECT_NE(compared.out.find("-RUNG_METAL_GEMM(04"), std::string::npos) << compared.out;
}

TEST_F(KernelFile, WrongCasesSayWhatTheyShare) {
  ASSERT_EQ(run_rung("new $HERE/my.cu").exit_code, 0);
  std::string text = contents("my.cu");
  const std::size_t at = text.find("alpha * ");
  ASSERT_NE(at, text.npos) << text;
  text.erase(at, std::string("alpha * ").size());
  std::ofstream(std::string(std::getenv("HERE")) + "/my.cu") << text;
  const Json report = check("$HERE/my.cu", 1);
  EXPECT_EQ(report.at("wrong_cases_have"), Json({"alpha other than 1"}));
  const std::string told = run_rung("check $HERE/my.cu").out;
  EXPECT_NE(told.find("\neach wrong case has alpha other than 1\n"), std::string::npos) << told;
}

TEST_F(KernelFile, MetalStartsOfEveryKindAreRight) {
  const std::vector<std::string> starts = {"", "--as dot", "--as sum",
                                           "--from gemm/metal/05 --dtype f16",
                                           "--from dot/metal/09 --dtype bf16"};
  for (const std::string& start : starts) {
    ASSERT_EQ(run_rung("new $HERE/start.metal --force " + start).exit_code, 0) << start;
    const Json report = check("$HERE/start.metal", 0);
    EXPECT_EQ(report.at("verified"), true) << start << report;
    for (const std::string& line : lines(contents("start.metal")))
      EXPECT_LE(line.size(), 103u) << line;
  }
}

TEST_F(KernelFile, MetalIsCheckedAsCudaIs) {
  EXPECT_EQ(check("$KERNELS/right.metal", 0).at("verified"), true);
  const Json race = check("$KERNELS/race.metal", 1);
  EXPECT_EQ(race.at("verified"), false);
  EXPECT_NE(race.at("hazards")[0].at("message").get<std::string>().find("race.metal:"),
            std::string::npos)
      << race;
}

TEST_F(KernelFile, ARungsOwnFileIsCheckedAsItIs) {
  EXPECT_EQ(check("$RUNGS/gemm/cuda/04_thread_tile.cu", 0).at("verified"), true);
  EXPECT_EQ(check("$RUNGS/dot/cuda/09_vectors.cu --as sum --dtype f16", 0).at("op"), "sum");
  EXPECT_EQ(check("$RUNGS/gemm/metal/04_vectors.metal --dtype bf16", 0).at("dtype"), "bf16");
  const Output traced = run_rung("trace $RUNGS/gemm/metal/02_guarded_tile.metal --n 32");
  EXPECT_NE(traced.out.find("46: sum += float(As"), std::string::npos) << traced.out;
  expect_error("check $RUNGS/gemm/cuda/24_tma.cu", 2,
               "24_tma.cu: a rung whose kernel takes more than its operands; write a function gemm "
               "that launches it");
  expect_error("check $RUNGS/gemm/metal/01_shared_tile.metal", 2,
               "01_shared_tile.metal: a rung that needs sizes that are multiples of its tile, and "
               "so more than a plain function takes");
}

TEST_F(KernelFile, StartsOfEveryKindAreRight) {
  const std::vector<std::string> starts = {"", "--as dot", "--as sum",
                                           "--from gemm/cuda/20 --dtype f16",
                                           "--from sum/cuda/09 --dtype bf16"};
  for (const std::string& start : starts) {
    ASSERT_EQ(run_rung("new $HERE/start.cu --force " + start).exit_code, 0) << start;
    const Json report = check("$HERE/start.cu", 0);
    EXPECT_EQ(report.at("verified"), true) << start << report;
    for (const std::string& line : lines(contents("start.cu")))
      EXPECT_LE(line.size(), 100u) << line;
  }
}

TEST_F(KernelFile, CheckRejectsMutants) {
  struct Mutant {
    std::string file, hazard, wrong;  // parts of the first hazard, and of the first wrong case
  };
  const std::vector<Mutant> mutants = {
      {"edge", "out of bounds", "stopped by out of bounds at tiled.cuh:27"},
      {"beta_zero", "", "is nan"},
      {"beta_ignored", "", "beta=2"},
      {"leading_dimension", "", "lda+"},
      {"no_zero", "uninitialised", ""},
  };
  EXPECT_EQ(check("$KERNELS/right.cu", 0).at("cases"), 27);
  for (const Mutant& mutant : mutants) {
    const Json report = check("$KERNELS/" + mutant.file + ".cu", 1);
    EXPECT_EQ(report.at("verified"), false) << mutant.file;
    const std::string hazard =
        report.at("hazards").empty() ? "" : report.at("hazards")[0].at("message");
    EXPECT_EQ(hazard.empty(), mutant.hazard.empty()) << mutant.file << ": " << hazard;
    EXPECT_NE(hazard.find(mutant.hazard), std::string::npos) << mutant.file << ": " << hazard;
    const std::string wrong = report.value("wrong", "");
    EXPECT_NE(wrong.find(mutant.wrong), std::string::npos) << mutant.file << ": " << wrong;
  }
}

// "rung: ends.cu: the process ended with exit code 0 before …"
std::string end_of_process(const std::string& end) {
  return "rung: ends.cu: the process " + end +
         " before the command was done; code of the file must not call exit() or crash\n";
}

TEST_F(KernelFile, CodeOfTheFileCannotEndACommand) {
  struct End {
    std::string what, end;
  };
  const std::vector<End> ends = {
      {"IN_CALL=std::exit(0)", "ended with exit code 0"},
      {"AT_START=(std::puts(\"right\"),std::exit(0))", "ended with exit code 0"},
      {"IN_CALL=kill(getpid(),SIGKILL)", "was ended by signal 9 (Killed)"},
      {"IN_CALL=write_everywhere()", "ended with exit code 0"},
      {"IN_CALL=if(fork()!=0)_exit(0)", "ended with exit code 0"},
      {"IN_CALL=pthread_exit(nullptr)", "ended with exit code 1"},
      {"IN_CALL=syscall(SYS_exit,0)", "ended with exit code 1"},
  };
  setenv("TMPDIR", (fs::path(getenv("HERE")) / "temporary").c_str(), 1);
  fs::create_directories(getenv("TMPDIR"));
  for (const auto& [what, end] : ends) {
    const Output output = run_rung("check $KERNELS/ends.cu '-D" + what + "'");
    EXPECT_EQ(output.exit_code, 1) << what;
    EXPECT_NE(output.err.find(end_of_process(end)), std::string::npos) << what << output.err;
    EXPECT_TRUE(fs::is_empty(getenv("TMPDIR"))) << what << " leaves its folder";
  }
  const Output right = run_rung("check $KERNELS/ends.cu '-DIN_CALL=if(fork()==0)return'");
  EXPECT_EQ(right.exit_code, 0) << right.err;
  EXPECT_NE(right.out.find("right in 27 cases"), std::string::npos) << right.out;
  for (const char* command :
       {"trace", "bench --device virtual --against none --n 32 --seconds 0.01"}) {
    const Output output =
        run_rung(std::string(command) + " $KERNELS/ends.cu '-DAT_START=std::exit(0)'");
    EXPECT_EQ(output.exit_code, 1) << command;
    EXPECT_EQ(output.err, end_of_process("ended with exit code 0")) << command;
  }
  unsetenv("TMPDIR");
}

TEST_F(KernelFile, LaunchesOfOtherThreadsAreChecked) {
  const Output output = run_rung(
      "check $KERNELS/ends.cu "
      "'-DIN_CALL=std::thread([=]{naive<<<9,dim3(16,16)>>>(m+1,n,k,A,B,C);}).join()'");
  EXPECT_EQ(output.exit_code, 1) << output.err;
  EXPECT_NE(output.out.find("hazard: out of bounds"), std::string::npos) << output.out;
}

TEST_F(KernelFile, AProductOfTheHostIsWrong) {
  const Output direct = run_rung("check $KERNELS/on_host.cu");
  EXPECT_EQ(direct.exit_code, 1) << direct.out;
  EXPECT_TRUE(direct.err.starts_with("rung: host access: ")) << direct.err;
  const Output copied = run_rung("check $KERNELS/on_host.cu -DWITH_COPIES");
  EXPECT_EQ(copied.exit_code, 1) << copied.out;
  EXPECT_NE(copied.out.find("WRONG: gemm launched no kernel in 27 cases"), std::string::npos)
      << copied.out;
}

TEST_F(KernelFile, AFunctionOfAnotherNameIsExplained) {
  const Output explained =
      run_rung("explain $KERNELS/named.cu:run_product --as gemm --m 64 --n 64 --k 16");
  EXPECT_EQ(explained.exit_code, 0) << explained.err;
  EXPECT_NE(explained.out.find("predicted: "), std::string::npos) << explained.out;
}

TEST_F(KernelFile, MacrosOfTheFileAreItsOwn) {
  EXPECT_EQ(check("$KERNELS/macros.cu", 0).at("verified"), true);
  const Output explained = run_rung("explain $KERNELS/macros.cu --m 64 --n 32 --k 16");
  EXPECT_EQ(explained.exit_code, 0) << explained.err;
  EXPECT_EQ(explained.out.find("gemm: gemm f32 64x32x16\nhazards: none\n"), 0u) << explained.out;
}

TEST_F(KernelFile, EmuSaysWhoTakesAFileWithoutMain) {
  const Output output = run_rung("emu $KERNELS/right.cu");
  EXPECT_EQ(output.exit_code, 1);
  EXPECT_NE(output.err.find("/right.cu has no main(); rung check and rung explain call a function "
                            "gemm, dot or sum\n"),
            std::string::npos)
      << output.err;
}

TEST_F(KernelFile, CheckSaysWhatTheSignatureLeavesOut) {
  const Json report = check("$KERNELS/named.cu:run_product --as gemm", 0);
  EXPECT_EQ(report.at("dtype"), "f64");
  EXPECT_EQ(report.at("left_out"),
            Json({"alpha other than 1", "beta other than 0", "rows of A with gaps",
                  "rows of B with gaps", "rows of C with gaps"}));
}

TEST_F(KernelFile, ColumnMajorAndTransposedMatricesAreChecked) {
  EXPECT_EQ(check("$KERNELS/column_major.cu --order column --layout tn", 0).at("cases"), 27);
  EXPECT_EQ(check("$KERNELS/column_major.cu --order column", 1).at("verified"), false);
  EXPECT_EQ(check("$KERNELS/right.cu --layout nt", 1).at("verified"), false);
  EXPECT_EQ(run_rung("trace $KERNELS/column_major.cu --order column --layout tn --n 32").exit_code,
            0);
  const Output timed = run_rung(
      "bench $KERNELS/column_major.cu --order column --layout tn --against gemm/cuda/00 --device "
      "virtual --sizes 24x40x32 --seconds 0.001");
  EXPECT_EQ(timed.exit_code, 0) << timed.out << timed.err;
  expect_error("check $KERNELS/right.cu --order col", 2,
               "--order: 'col' is not one of row, column");
}

TEST_F(KernelFile, HazardsComeFirst) {
  const Output output = run_rung("check $KERNELS/race.cu");
  EXPECT_EQ(output.exit_code, 1);
  ASSERT_GT(lines(output.out).size(), 3u);
  EXPECT_TRUE(lines(output.out)[3].starts_with("hazard: shared-memory race")) << output.out;
  const Output explained = run_rung("explain $KERNELS/race.cu --m 32 --n 32 --k 64");
  EXPECT_EQ(explained.exit_code, 1);
  EXPECT_NE(explained.err.find("shared-memory race"), std::string::npos) << explained.err;
}

TEST_F(KernelFile, AFailedLaunchIsWrong) {
  const Json report = check("$KERNELS/launch_error.cu", 1);
  EXPECT_NE(report.at("wrong").get<std::string>().find("blocks of 2048x1x1 = 2048 threads"),
            std::string::npos)
      << report;
}

TEST_F(KernelFile, AFileThatDoesNotCompileIsWrong) {
  const Output output = run_rung("check $KERNELS/no_cpp.cu --as sum -D N=4");
  EXPECT_EQ(output.exit_code, 1);
  EXPECT_NE(output.err.find("no_cpp.cu:1:"), std::string::npos) << output.err;
  EXPECT_EQ(lines(output.err).back(), "rung: the file does not compile");
}

TEST_F(KernelFile, ErrorsAreOneLine) {
  const std::string right = std::string(RUNG_KERNELS) + "/right.cu";
  const std::string named = std::string(RUNG_KERNELS) + "/named.cu";
  expect_error("check", 2, "FILE: expected one, such as my_gemm.cu; see --help");
  expect_error("check absent.cu", 2, "FILE: 'absent.cu' is not a readable file");
  expect_error("check my.cpp", 2, "FILE: 'my.cpp' does not end in .cu or .metal");
  expect_error("check $KERNELS/named.cu", 2,
               named +
                   ": no host function gemm, dot, sum outside of namespaces; it has "
                   "run_product: name one as " +
                   named + ":run_product with --as gemm, dot or sum");
  expect_error("check $KERNELS/named.cu:run_produkt --as gemm", 2,
               named +
                   ": no host function run_produkt outside of namespaces; did you mean "
                   "'run_product'?");
  expect_error("check $KERNELS/right.cu --as gmem", 2,
               "--as: 'gmem' is not one of gemm, dot, sum; did you mean 'gemm'?");
  expect_error("check $KERNELS/right.cu --code cubin", 2,
               "--code: 'cubin' is not one of clang, nvcc");
  expect_error("check $KERNELS/right.cu --dtype f64", 2,
               "--dtype: 'f64': right.cu is of f32, or tf32 on tensor cores");
  expect_error("check $KERNELS/right.cu --device cpu", 2,
               "--device: 'cpu' is not one of gpu, virtual; did you mean 'gpu'?");
  expect_error("check $KERNELS/right.cu --sizes 0", 2,
               "--sizes: '0' is not an integer from 1 to 1099511627776");
  expect_error("check $KERNELS/no_zero.cu --sizes 2x3x4", 2, "sum takes only n: --sizes N");
  expect_error("check $KERNELS/right.cu --random -1", 2,
               "--random: '-1' is not an integer from 0 to 1000000");
}

TEST_F(KernelFile, ErrorsOfNew) {
  ASSERT_EQ(run_rung("new $HERE/my.cu").exit_code, 0);
  const std::string path = fs::path(std::getenv("HERE")) / "my.cu";
  expect_error("new $HERE/my.cu", 2, "FILE: '" + path + "' exists; --force replaces it");
  EXPECT_EQ(run_rung("new $HERE/my.cu --as dot --force").exit_code, 0);
  EXPECT_NE(contents("my.cu").find("void dot("), std::string::npos);
  expect_error("new", 2, "FILE: expected one, such as my_gemm.cu; see --help");
  expect_error("new my.txt", 2, "FILE: 'my.txt' does not end in .cu or .metal");
  expect_error("new no/such/folder/my.cu", 2,
               "FILE: 'no/such/folder/my.cu' cannot be written: No such file or directory");
  expect_error("new a.cu --as summ", 2,
               "--as: 'summ' is not one of gemm, dot, sum; did you mean 'sum'?");
  expect_error("new a.cu --dtype f16", 2, "--dtype: chooses a kernel of --from, and needs it");
  expect_error("new a.cu --as dot --from gemm/cuda/04", 2, "--as: cannot be combined with --from");
  expect_error("new a.cu --from gemm/cuda", 2,
               "--from: 'gemm/cuda' selects 60 rungs; one is allowed");
  expect_error("new a.cu --from gemm/cuda/24", 2,
               "--from: gemm/cuda/24_tma takes tensor maps; a file can start from gemm/cuda/00, "
               "01, 02, 03, 04, 05, 06, 07, 08, 09, 20, 21, 22, 23, rank_k");
  expect_error("new a.cu --from gemm/cpu/04", 2,
               "--from: 'gemm/cpu/04' is a rung of cpu; a.cu starts from one of cuda");
  expect_error("new a.cu --from dot/cuda/05", 2,
               "--from: dot/cuda/05_contiguous needs several launches; a file can start from "
               "dot/cuda/02, 06, 07, 08, 09");
  expect_error("new a.cu --from gemm/cuda/20 --dtype f64", 2,
               "--dtype: 'f64' is not one of those of gemm/cuda/20_wmma: bf16, f16");
}

TEST_F(KernelFile, ErrorsOfTheOtherCommands) {
  expect_error("bench $KERNELS/right.cu --against libary", 2,
               "--against: 'libary' is no rung, such as gemm/cuda/05, nor library, none or a peer; "
               "did you mean 'library'?");
  expect_error("bench $KERNELS/right.cu --against dot/cuda/06", 2,
               "--against: 'dot/cuda/06' has no rung of gemm/cuda, which the file computes");
  expect_error("bench $KERNELS/right.cu --vs libary", 2,
               "--vs: 'libary' is no rung, such as gemm/cuda/05, nor library, none or a peer; did "
               "you mean 'library'?");
  expect_error(
      "bench $KERNELS/right.cu gemm/cuda/05", 2,
      "SELECTOR: a file of yours takes no other selector; --vs names what to compare it with");
  expect_error("bench $KERNELS/right.cu --random 3", 2, "--random: a file of yours has --sizes");
  expect_error("bench $KERNELS/right.cu --batch 3", 2,
               "--batch: a file of yours computes one product");
  expect_error("bench $KERNELS/right.cu --device cpu", 2,
               "--device: 'cpu': a kernel of yours runs on gpu or virtual");
  expect_error("bench gemm/cuda/05 --against library", 2,
               "--against and --as: for a file of yours, such as my_gemm.cu");
  expect_error("trace gemm/cuda/02 --as gemm", 2, "--as: for a file of yours, such as my_gemm.cu");
  expect_error("trace $KERNELS/no_zero.cu --m 3 --n 4", 2, "sum takes only n: --n N");
  expect_error("diff gemm/cuda/02 absent.cu", 2, "RUNG: 'absent.cu' is not a readable file");
}

}  // namespace
}  // namespace rung
