// Programs that are wrong: each ends with a report that says where, and never takes the tool along.

#include <gtest/gtest.h>

#include "emu_program.hpp"

namespace rung {
namespace {

using testing::AssertionFailure;
using testing::AssertionResult;
using testing::AssertionSuccess;

EmuOutput run(const std::string& program, const std::string& options = "",
              const std::string& arguments = "") {
  return run_emu("faulty/" + program, options, arguments);
}

AssertionResult contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return AssertionSuccess();
  return AssertionFailure() << "no '" << part << "' in: " << text;
}

// One of its hazards is of this kind, and the running thread was here; exit code 1.
void expect_hazard(const EmuOutput& output, const std::string& kind, const std::string& source) {
  EXPECT_EQ(output.exit_code, 1);
  ASSERT_FALSE(output.json.is_null()) << output.err;
  auto hazards = output.json.at("hazards");
  for (const auto& kernel : output.json.at("kernels")) {
    for (const auto& hazard : kernel.at("hazards")) hazards.push_back(hazard);
  }
  bool is_found = false;
  for (const auto& hazard : hazards) {
    is_found = is_found || (hazard.at("kind") == kind && hazard.at("first").at("source") == source);
  }
  EXPECT_TRUE(is_found) << output.err;
  EXPECT_TRUE(contains(output.err, "\n" + kind + ": "));
  EXPECT_TRUE(contains(output.err, " found\n"));
}

TEST(Faulty, OutOfBounds) {
  const EmuOutput output = run("out_of_bounds.cu");
  expect_hazard(output, "out of bounds", "out_of_bounds.cu:4");
  EXPECT_EQ(output.out,
            "launch: cudaSuccess\nthen: cudaErrorIllegalAddress\ncopy: cudaErrorIllegalAddress\n");
}

TEST(Faulty, SharedMemoryRace) { expect_hazard(run("race.cu"), "shared-memory race", "race.cu:5"); }

TEST(Faulty, RaceOfARemovedBarrier) {
  const EmuOutput output = run_emu("programs/tiled_matmul.cu", "-DWITHOUT_SECOND_BARRIER");
  EXPECT_TRUE(contains(output.err, "shared-memory race: "));
  EXPECT_EQ(output.exit_code, 1);
}

TEST(Faulty, InfiniteLoopEndsAtTheLimit) {
  const EmuOutput output = run("infinite_loop.cu", "--limit 100000");
  EXPECT_EQ(output.exit_code, 1);
  EXPECT_EQ(output.out, "cudaErrorLaunchTimeout\n");
  EXPECT_EQ(output.json.at("kernels").at(0).at("fault"), "instruction limit");
}

TEST(Faulty, DivergentBarrier) {
  expect_hazard(run("divergent_barrier.cu"), "barrier in divergent code", "divergent_barrier.cu:5");
}

TEST(Faulty, Leak) {
  const EmuOutput output = run("leak.cu", "--leak-check");
  expect_hazard(output, "leak", "leak.cu:5");
  EXPECT_TRUE(contains(output.err, "leak: 4096 bytes from cudaMalloc at leak.cu:5"));
  const EmuOutput tolerant = run("leak.cu");
  EXPECT_EQ(tolerant.exit_code, 0);
  EXPECT_TRUE(contains(tolerant.err, "leak: 4096 bytes from cudaMalloc at leak.cu:5"));
  EXPECT_TRUE(contains(tolerant.err, "1 leak (--leak-check) does not fail the program\n"));
}

TEST(Faulty, UninitialisedRead) {
  expect_hazard(run("uninitialised.cu"), "uninitialised read", "uninitialised.cu:2");
}

TEST(Faulty, UninitialisedVariable) {
  const EmuOutput output = run("uninitialised_variable.cu");
  expect_hazard(output, "uninitialised read", "uninitialised_variable.cu:7");
  EXPECT_TRUE(contains(output.err, "which is read at uninitialised_variable.cu:5 "));
}

TEST(Faulty, FailedAssertion) {
  const EmuOutput output = run("failed_assertion.cu");
  EXPECT_EQ(output.exit_code, 1);
  EXPECT_EQ(output.out, "cudaErrorAssert\n");
}

TEST(Faulty, CompilerSaysWhatIsWrong) {
  const EmuOutput output = run("does_not_compile.cu");
  EXPECT_EQ(output.exit_code, 1);
  EXPECT_EQ(output.out, "");
  EXPECT_TRUE(contains(output.err, "does_not_compile.cu:1:47: error: "));
  EXPECT_TRUE(output.json.is_null());
}

TEST(Faulty, ACompilerThatThereIsNot) {
  const EmuOutput output = run("leak.cu", "--compiler gcc");
  EXPECT_EQ(output.exit_code, 2);
  EXPECT_TRUE(contains(output.err, "--compiler: 'gcc' is neither clang nor nvcc"));
}

TEST(Faulty, WhatIsNotHereIsMissingByName) {
  const EmuOutput call = run("missing_call.cu");
  EXPECT_EQ(call.exit_code, 1);
  EXPECT_TRUE(contains(call.err, "'cusparseHandle_t'"));
  const EmuOutput function = run("missing_function.cu");
  EXPECT_EQ(function.exit_code, 1);
  EXPECT_TRUE(contains(function.err, "device code calls j0f, which rung emu does not have"));
}

TEST(Faulty, ExitCodesAndSignalsAreTheProgramsOwn) {
  EXPECT_EQ(run("ends_badly.cu", "", "7").exit_code, 7);
  const EmuOutput aborted = run("ends_badly.cu", "", "-1");
  EXPECT_EQ(aborted.exit_code, 1);
  EXPECT_TRUE(contains(aborted.err, "the program was ended by signal 6"));
}

}  // namespace
}  // namespace rung
