// The program of `make ladder`, and how it continues in the complete one.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "folder.hpp"
#include "program.hpp"

namespace rung {
namespace {

namespace fs = std::filesystem;

/// A build folder with the small program alone.
class Ladder : public testing::Test {
 protected:
  Ladder() {
    fs::create_directory(folder_ / "ladder");
    fs::copy_file(RUNG_LADDER_PROGRAM, program());
  }

  fs::path program() const { return folder_ / "ladder/rung"; }
  Output run(const std::string& arguments) const {
    return run_shell(program().string() + " " + arguments);
  }
  /// Adds a complete program that prints its arguments.
  void build_complete() const {
    fs::create_directory(folder_ / "bin");
    const fs::path complete = folder_ / "bin/rung";
    std::ofstream(complete) << "#!/bin/sh\necho complete \"$@\"\nexit 7\n";
    fs::permissions(complete, fs::perms::owner_all);
  }

 private:
  Folder folder_;
};

TEST_F(Ladder, TimesAndVerifiesCpuRungs) {
  const Output bench = run("bench gemm/cpu/00 dot/cpu/00 --n 8 --seconds 0.01 --vs none");
  EXPECT_EQ(bench.exit_code, 0) << bench.err;
  EXPECT_NE(bench.out.find("library"), std::string::npos) << bench.out;
  EXPECT_EQ(run("verify dot/cpu/00 --dtype f64").exit_code, 0);
  EXPECT_NE(run("list dot/cpu/00").out.find("runs on: cpu"), std::string::npos);
}

TEST_F(Ladder, SaysWhatBuildsTheRest) {
  for (const char* arguments :
       {"trace gemm/cuda/02", "emu --help", "learn", "bench gemm/cuda/02", "bench my.cu",
        "bench gemm/cpu --random 3", "bench gemm/cpu/00 --n 8 --html -"}) {
    const Output output = run(arguments);
    EXPECT_EQ(output.exit_code, 3) << arguments;
    EXPECT_EQ(output.out, "") << arguments;
    ASSERT_EQ(lines(output.err).size(), 1u) << arguments << output.err;
    EXPECT_NE(output.err.find(": not built yet; `make` builds it, in about "), std::string::npos)
        << arguments << output.err;
  }
  EXPECT_NE(run("list gemm/cuda/02").out.find("virtual: not built yet"), std::string::npos);
}

TEST_F(Ladder, NamesAnAbsentDeviceOnce) {
  const Output doctor = run("doctor");
  for (const char* device : {"gpu", "virtual"}) {
    const auto line = doctor.out.find("\n  " + std::string(device) + " ");
    ASSERT_NE(line, std::string::npos) << doctor.out;
    const std::string next = doctor.out.substr(doctor.out.find('\n', line + 1) + 1);
    EXPECT_NE(next.find_first_not_of(' '), 15u) << doctor.out;  // a value without a key
  }
}

TEST_F(Ladder, ContinuesInTheCompleteProgram) {
  build_complete();
  for (const char* arguments :
       {"trace gemm/cuda/02", "emu --help", "bench gemm/cuda/02 --n 8", "list gemm/cuda/02",
        "verify gemm", "bench gemm/cpu/00 --n 8 --html -", "check my.cu"}) {
    const Output output = run(arguments);
    EXPECT_EQ(output.exit_code, 7) << arguments;
    EXPECT_EQ(output.out, "complete " + std::string(arguments) + "\n") << output.err;
  }
  EXPECT_EQ(run("bench dot/cpu/00 --n 8 --seconds 0.01 --vs none").exit_code, 0);
  EXPECT_EQ(run_shell("RUNG_ISA=sse2 " + program().string() + " list").out, "complete list\n");
}

}  // namespace
}  // namespace rung
