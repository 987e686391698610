// Standard output that cannot be written: one line on standard error, and an exit code that is not
// 0.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>

#include "folder.hpp"
#include "program.hpp"

namespace rung {
namespace {

constexpr const char* results = RUNG_RESULTS "/nvidia-h200/dot-f32-ladder.jsonl";

/// Every command, and every way to write: text, JSON, pages, help.
std::vector<std::string> commands() {
  return {"--help",
          "--version",
          "list --help",
          "list dot/cpu",
          "list dot/cpu --json -",
          "verify dot/cpu/00 --dtype f64",
          "verify dot/cpu/00 --dtype f64 --json -",
          "bench dot/cpu/00 --n 1000 --seconds 0.01 --vs none",
          "bench dot/cpu/00 --n 1000 --seconds 0.01 --vs none --html -",
          "tune gemm/cuda/11 --device virtual --sizes 16 --seconds 0.01",
          "trace gemm/cuda/00 --n 16",
          "trace gemm/cuda/00 --n 16 --map -",
          "explain gemm/cuda/00 --n 64 --no-hardware",
          "explain gemm/cpu/00 --n 64",
          "diff gemm/cpu/00 gemm/cpu/01",
          "dist plan --ranks 4 --n 64 --rate 1",
          "dist plan --ranks 4 --n 64 --rate 1 --json -",
          "doctor",
          std::string("report --no-trace -o - ") + results};
}

void expect_loss(const std::string& command, const std::string& to, const std::string& reason) {
  const Output output = run_rung(command + " " + to);
  EXPECT_EQ(output.exit_code, 1) << command << "\n" << output.err;
  EXPECT_EQ(output.out, "");
  const std::vector<std::string> said = lines(output.err);
  ASSERT_FALSE(said.empty()) << command;
  EXPECT_EQ(said.back().find("rung: "), 0u) << said.back();
  EXPECT_NE(said.back().find("cannot be written: " + reason), std::string::npos)
      << command << ": " << said.back();
}

TEST(Output, AFullDeviceIsAnError) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  for (const std::string& command : commands()) {
    expect_loss(command, ">/dev/full", "No space left on device");
  }
}

TEST(Output, AClosedOutputIsAnError) {
  for (const std::string& command : commands()) expect_loss(command, ">&-", "Bad file descriptor");
}

TEST(Output, OfWhatWritesNothingMayBeClosed) {
  const Folder folder;
  const std::string page = folder / "page.html";
  EXPECT_EQ(
      run_rung(std::string("report --no-trace ") + results + " -o " + page + " >&-").exit_code, 0);
  EXPECT_GT(std::filesystem::file_size(page), 0u);
}

// The file must not become standard output, and receive the table.
TEST(Output, AFileIsWholeWhereStandardOutputIsClosed) {
  const Folder folder;
  const std::string path = folder / "list.json";
  const Output output = run_rung("list dot/cpu --json " + path + " >&-");
  EXPECT_EQ(output.exit_code, 0) << output.err;
  std::ifstream file(path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_EQ(text, run_rung("list dot/cpu --json -").out);
}

TEST(Output, AnErrorThatCannotBeToldIsStillAnExitCode) {
  for (const char* to : {"2>/dev/full", "2>&-"}) {
    EXPECT_EQ(run_rung(std::string("list --fast ") + to).exit_code, 2) << to;
    EXPECT_EQ(run_rung(std::string("explain gemm/cuda/09 --gpu t4 ") + to).exit_code, 3) << to;
  }
}

// As any program does whose reader, such as head, has seen enough.
TEST(Output, AClosedPipeEndsTheProgramBySignal) {
  const Folder folder;
  const std::string turn = folder / "turn";  // the reader closes its end before anything is written
  const Output output =
      run_shell("mkfifo " + turn + "; { read go <" + turn +
                "; \"$RUNG\" list; echo $? >&2; } | { exec <&-; echo go >" + turn + "; }");
  EXPECT_EQ(output.err, "141\n");
}

}  // namespace
}  // namespace rung
