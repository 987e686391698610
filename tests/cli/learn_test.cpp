// rung learn, as a student runs it.

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "folder.hpp"
#include "program.hpp"

namespace rung {
namespace {

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool has_clang() { return run_shell("clang++-19 --version").exit_code == 0; }

TEST(Learn, ListsTheExercises) {
  const Output output = run_rung("learn");
  EXPECT_EQ(output.exit_code, 0) << output.err;
  EXPECT_NE(output.out.find("01  A thread for each element"), std::string::npos) << output.out;
  EXPECT_NE(output.out.find("gemm/cuda/25_warp_specialized"), std::string::npos);
  for (const std::string& line : lines(output.out)) EXPECT_LE(line.size(), 80u) << line;
}

TEST(Learn, WritesAStartAndOverwritesItOnlyIfForced) {
  const Folder folder;
  const std::string file = (folder / "04.cu").string();
  ASSERT_EQ(run_rung("learn 04 " + file).exit_code, 0);
  EXPECT_NE(contents(file).find("// TODO: "), std::string::npos);
  std::ofstream(file) << "mine";
  const Output refused = run_rung("learn 04 " + file);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_EQ(refused.err, "rung: FILE: '" + file + "' exists; to check it: rung learn 04 " + file +
                             " --check; --force begins again, and keeps it as '" + file +
                             ".old'\n");
  EXPECT_EQ(contents(file), "mine");
  EXPECT_EQ(run_rung("learn 04 --force " + file).exit_code, 0);
  EXPECT_NE(contents(file), "mine");
  EXPECT_EQ(contents(file + ".old"), "mine");
}

TEST(Learn, DrawsThePictureBesideTheFile) {
  if (!has_clang()) GTEST_SKIP() << "no clang";
  const Folder folder;
  const std::string file = (folder / "04.cu").string();
  const std::filesystem::path picture = folder / "04.svg";
  const Output output = run_rung("learn 04 " + file);
  EXPECT_NE(output.out.find("04.svg: a picture"), std::string::npos) << output.out;
  EXPECT_NE(contents(picture).find("warp 1: 1 x 32 elements from (1, 0)"), std::string::npos);
  std::ofstream(picture) << "mine";
  std::filesystem::remove(file);
  EXPECT_EQ(run_rung("learn 04 " + file).exit_code, 0);
  EXPECT_EQ(contents(picture), "mine");
  EXPECT_EQ(run_rung("learn 04 --force " + file).exit_code, 0);
  EXPECT_NE(contents(picture), "mine");
}

TEST(Learn, SaysForWhichSizeALaunchIsNone) {
  if (!has_clang()) GTEST_SKIP() << "no clang";
  const Folder folder;
  const std::string file = (folder / "01.cu").string();
  std::ofstream(file)
      << "#include \"learn.cuh\"\n"
         "constexpr Launch launch(int n) { return {.grid = {n / 256}, .block = {256}}; }\n"
         "__global__ void products(int n, const float* x, const float* y, float* z) {}\n";
  const Output output = run_rung("learn 01 --check " + file);
  EXPECT_EQ(output.exit_code, 1);
  EXPECT_NE(output.out.find("n = 1: products: grid 0x1x1 of blocks 256x1x1"), std::string::npos)
      << output.out;
}

TEST(Learn, GivesOneMoreHintEachTime) {
  if (!has_clang()) GTEST_SKIP() << "no clang";
  const Folder folder;
  const std::string file = (folder / "01.cu").string();
  std::ofstream(file)
      << "#include \"learn.cuh\"\n"
         "constexpr Launch launch(int n) {\n"
         "  return {.grid = {1}, .block = {256}};\n"
         "}\n"
         "__global__ void products(int n, const float* x, const float* y, float* z) {\n"
         "  if (threadIdx.x < n) z[threadIdx.x] = x[threadIdx.x] * y[threadIdx.x];\n"
         "}\n";
  const std::string cache = "XDG_CACHE_HOME=" + (folder / "cache").string() + " ";
  const auto check = [&](const std::string& options) {
    return run_shell(cache + "\"$RUNG\" learn 01 " + file + " " + options);
  };
  const Output one = check("--check");
  EXPECT_EQ(one.exit_code, 1) << one.err;
  EXPECT_NE(one.out.find("744 of 1000 results were never stored"), std::string::npos) << one.out;
  EXPECT_NE(one.out.find("1 block of 256 threads ran"), std::string::npos) << one.out;
  EXPECT_NE(one.out.find("hint 1 of "), std::string::npos);
  EXPECT_EQ(one.out.find("hint 2 of "), std::string::npos);
  EXPECT_NE(one.out.find("check again for one more"), std::string::npos);
  EXPECT_NE(check("--check").out.find("hint 2 of "), std::string::npos);
  EXPECT_EQ(check("--hint 1").out.find("hint 2 of "), std::string::npos);

  // Another finding begins with its first hint.
  std::ofstream(file, std::ios::app) << "int;;\nnot C++\n";
  const Output other = check("--check");
  EXPECT_NE(other.out.find("hint 1 of "), std::string::npos);
  EXPECT_EQ(other.out.find("hint 2 of "), std::string::npos);
}

TEST(Learn, NamesTheArrayOfAnAccessOutOfBounds) {
  if (!has_clang()) GTEST_SKIP() << "no clang";
  const Folder folder;
  const std::string file = (folder / "02.cu").string();
  std::ofstream(file)
      << "#include \"learn.cuh\"\n"
         "constexpr Launch launch(int, int, int) { return {.grid = {2}, .block = {32, 32}}; }\n"
         "__global__ void gemm(int m, int n, int k, const float* a, const float*, float* c) {\n"
         "  if (threadIdx.x == 0) c[0] = a[m * k];\n"
         "}\n";
  const Output output = run_rung("learn 02.cu --check " + file);
  EXPECT_NE(output.out.find("m x n x k = 1x1x1: out of bounds"), std::string::npos) << output.out;
  EXPECT_NE(output.out.find("a[1], where a has 1 x 1 = 1 elements"), std::string::npos)
      << output.out;
}

TEST(Learn, TakesTheFileForTheExercise) {
  if (!has_clang()) GTEST_SKIP() << "no clang";
  const Folder folder;
  const std::string file = (folder / "03.cu").string();
  std::ofstream(file) << "\n";
  const Output output = run_rung("learn " + file + " --check");
  EXPECT_EQ(output.exit_code, 1);
  EXPECT_NE(output.out.find("exercise 03"), std::string::npos) << output.out << output.err;
  EXPECT_NE(output.out.find("the file is empty"), std::string::npos) << output.out;
}

TEST(Learn, WritesAPage) {
  if (!has_clang()) GTEST_SKIP() << "no clang";
  const Folder folder;
  const std::string file = (folder / "04.cu").string(), page = (folder / "04.html").string();
  const Output written = run_rung("learn 04 --html " + page);
  EXPECT_EQ(written.exit_code, 0) << written.err;
  EXPECT_NE(contents(page).find("The solution</h3>"), std::string::npos);
  EXPECT_EQ(contents(page).find("Your file"), std::string::npos);
  ASSERT_EQ(run_rung("learn 04 " + file).exit_code, 0);
  EXPECT_EQ(run_rung("learn 04 --check --html " + page + " " + file).exit_code, 1);
  EXPECT_NE(contents(page).find("Your file</h3>"), std::string::npos);
  EXPECT_EQ(run_rung("learn --html " + page).exit_code, 2);
}

TEST(Learn, SaysThatAFileDoesNotCompile) {
  if (!has_clang()) GTEST_SKIP() << "no clang";
  const Folder folder;
  const std::string file = (folder / "01.cu").string();
  std::ofstream(file) << "#include \"learn.cuh\"\nint launch(int) { return }\n";
  const Output output = run_rung("learn 01 --check " + file);
  EXPECT_EQ(output.exit_code, 1);
  EXPECT_NE(output.out.find("the file does not compile"), std::string::npos) << output.out;
  EXPECT_NE(output.err.find("01.cu:2:"), std::string::npos) << output.err;
}

TEST(Learn, HasExercisesInMetal) {
  const Output listed = run_rung("learn --metal");
  EXPECT_NE(listed.out.find("10  Double buffering"), std::string::npos) << listed.out;
  for (const std::string& line : lines(listed.out)) EXPECT_LE(line.size(), 80u) << line;
  const Folder folder;
  const std::string file = (folder / "04.metal").string();
  ASSERT_EQ(run_rung("learn 04 " + file).exit_code, 0);
  EXPECT_NE(contents(file).find("kernel void gemm("), std::string::npos);
  EXPECT_EQ(
      run_rung("learn 24 --metal").err,
      "rung: EXERCISE: '24' is not one of 01 to 10 in Metal; 'rung learn --metal' lists them\n");
  if (!has_clang()) GTEST_SKIP() << "no clang";
  const Output checked = run_rung("learn 04 --check " + file);
  EXPECT_EQ(checked.exit_code, 1) << checked.err;
  EXPECT_NE(checked.out.find("hint 1 of 1: Complete what follows each TODO"), std::string::npos);
}

TEST(Learn, ExplainsWords) {
  const Output output = run_rung("learn --word Sectors");
  EXPECT_EQ(output.exit_code, 0);
  EXPECT_EQ(output.out.find("sector: 32 contiguous bytes"), 0u) << output.out;
  const Output unknown = run_rung("learn --word warpage");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_EQ(unknown.err.find("rung: --word: 'warpage' is not one of arithmetic intensity, "), 0u);
  EXPECT_EQ(run_rung("learn --word coalesced").out.find("coalesced access: "), 0u);
  EXPECT_NE(run_rung("learn --words").out.find("\nwavefront\n"), std::string::npos);
}

}  // namespace
}  // namespace rung
